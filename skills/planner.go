package skills

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/skills/rewrite"
)

// A planner collects what is to be done for one harness. Its parts change drafts
// of files, several of them maybe the same one, and nothing on disk.
type planner struct {
	env    Environment
	opts   Options
	was    *installed // the record of the harness; changed as steps are done
	writer *rewrite.Writer
	drafts map[string]*draft
	steps  []Step
}

// A draft is a file as it is and as it shall be.
type draft struct {
	path    string
	before  []byte // nil if it does not exist
	now     []byte
	gone    bool   // it shall not exist
	added   string // what was merged in, for people
	mixed   bool   // it belongs to somebody else
	ours    bool   // its old content is ours, so nobody needs a backup of it
	records []func()
}

func (e Environment) planner(opts Options, was *installed) *planner {
	return &planner{env: e, opts: opts, was: was, writer: e.writer(), drafts: map[string]*draft{}}
}

// draft returns the draft of the file at path.
func (p *planner) draft(path string) (*draft, error) {
	if d := p.drafts[path]; d != nil {
		return d, nil
	}
	d := &draft{path: path}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		d.before = append([]byte{}, data...) // an empty file is not a missing one
	}
	d.now = d.before
	p.drafts[path] = d
	return d, nil
}

func (d *draft) exists() bool { return d.before != nil }

// finish appends the step that makes path what its draft says, once all parts
// that may change it have had their turn.
func (p *planner) finish(path string) {
	d := p.drafts[path]
	if d == nil {
		return
	}
	delete(p.drafts, path)
	note := func() {
		for _, record := range d.records {
			record()
		}
	}
	step := Step{Path: path, record: note}
	switch {
	case d.gone && !d.exists():
		note()
		return
	case d.gone:
		step.Action = Delete
		step.do = func() (string, error) { return p.writerFor(d).Remove(path, d.before) }
	case d.exists() == (d.now != nil) && bytes.Equal(d.before, d.now):
		note()
		return
	default:
		step.Action, step.Text = Write, string(d.now)
		if d.mixed {
			step.Action, step.Text = Merge, d.added
			if d.added == "" {
				step.Action = Unmix
			}
		}
		step.do = func() (string, error) {
			if err := p.makeDirs(filepath.Dir(path)); err != nil {
				return "", err
			}
			return p.writerFor(d).Replace(path, d.before, d.now)
		}
	}
	p.steps = append(p.steps, step)
}

// writerFor returns a writer that keeps a backup of what is not ours.
func (p *planner) writerFor(d *draft) *rewrite.Writer {
	if d.ours {
		return &rewrite.Writer{Now: p.env.Now}
	}
	return p.writer
}

// makeDirs makes the directories up to dir and records them, so that they go
// again with the last thing in them.
func (p *planner) makeDirs(dir string) error {
	var made []string
	for at := dir; !isDir(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := len(made) - 1; i >= 0; i-- {
		if !contains(p.was.MadeDirs, made[i]) {
			p.was.MadeDirs = append(p.was.MadeDirs, made[i])
		}
	}
	return nil
}

// removeDirs removes the directories that were made for the harness and are empty.
func (p *planner) removeDirs() {
	var left []string
	for i := len(p.was.MadeDirs) - 1; i >= 0; i-- {
		dir := p.was.MadeDirs[i]
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() { // a link may have taken its place
			continue
		}
		if os.Remove(dir) != nil {
			left = append([]string{dir}, left...)
		}
	}
	p.was.MadeDirs = left
}
