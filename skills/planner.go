package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills/rewrite"
)

// A planner collects the steps for one harness. It changes nothing on disk.
type planner struct {
	env   Environment
	opts  Options
	rec   *record
	steps []Step
	after map[string][]byte // what the files that steps change will contain; nil for one that is removed

	recorded *installed // of the harness; changed as steps are done
}

func (e Environment) planner(opts Options, rec *record, id harness.ID) *planner {
	return &planner{env: e, opts: opts, rec: rec, after: map[string][]byte{}, recorded: rec.of(id)}
}

// read returns what the file at path will contain after the steps so far.
func (p *planner) read(path string) ([]byte, error) {
	if data, changed := p.after[path]; changed {
		return data, nil
	}
	return read(path)
}

var errDangling = errors.New("it is a symbolic link that leads nowhere")

// read returns the content of the file at path, nil if there is none. A symbolic
// link that leads nowhere is an error: it does not say what belongs there.
func read(path string) ([]byte, error) {
	data, err := rewrite.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Readlink(path); err == nil {
			return nil, fmt.Errorf("%s: %w", path, errDangling)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, data...), nil // an empty file is not a missing one
}

// A fileChange gives a file another content. An after of nil removes it.
type fileChange struct {
	action        Action
	path          string
	before, after []byte
	backup        bool // keep the old content: some of it is not ours
	private       bool // a new file is for its owner alone
	record        func()
}

// change plans a change of a file.
func (p *planner) change(c fileChange) {
	w := &rewrite.Writer{Now: p.env.Now}
	if _, again := p.after[c.path]; c.backup && !again { // the first step has kept it
		w = p.env.Writer()
	}
	w.Private = c.private
	p.after[c.path] = c.after
	step := Step{Action: c.action, Path: c.path, record: c.record}
	switch {
	case !p.opts.DryRun || c.after == nil:
	case c.action == Write:
		step.Text = string(c.after)
	default:
		_, step.Text, _ = strings.Cut(string(diff.Diff(c.path, c.before, c.path, c.after)), "\n")
	}
	step.do = func() (string, error) {
		if err := lockfile.MakeDirs(filepath.Dir(c.path), 0o755); err != nil {
			return "", err
		}
		return w.Replace(c.path, c.before, c.after)
	}
	if c.after == nil {
		step.Action = Delete
		step.do = func() (string, error) { return w.Remove(c.path, c.before) }
	} else {
		p.recordDirs(filepath.Dir(c.path))
	}
	p.steps = append(p.steps, step)
}

// recordDirs records which directories have to be made for dir, so that they are
// removed again when they are empty.
func (p *planner) recordDirs(dir string) {
	var missing []string
	for at := dir; !isDir(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		if !slices.Contains(p.recorded.MadeDirs, at) {
			missing = append([]string{at}, missing...)
		}
	}
	p.recorded.MadeDirs = append(p.recorded.MadeDirs, missing...)
}

// removeDirs removes the recorded directories that are empty.
func (p *planner) removeDirs() {
	var left []string
	for _, dir := range slices.Backward(p.recorded.MadeDirs) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() { // a link may have taken its place
			continue
		}
		if os.Remove(dir) != nil {
			left = append([]string{dir}, left...)
		}
	}
	p.recorded.MadeDirs = left
}

// An Action is what a step does to the disk.
type Action string

// The actions. Merge and Unmerge change a file that is not ours; the text of such a
// step is a diff.
const (
	Write   Action = "write"
	Merge   Action = "merge"
	Unmerge Action = "unmerge"
	Delete  Action = "remove"
)

// A Step is one change of a plan.
type Step struct {
	Action Action `json:"action"`
	Path   string `json:"path,omitempty"`
	Target string `json:"target,omitempty"`  // of a link
	Text   string `json:"text,omitempty"`    // of a dry run: the content of a written file, or what changes in a merged one
	SameAs string `json:"same_as,omitempty"` // instead of a text: the file that gets the same one
	Backup string `json:"backup,omitempty"`  // where the old content is kept, once the step is done

	do     func() (backup string, err error)
	record func() // changes the record to what is so once the step is done
}

// String describes the step, including the text it writes, for display.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Action, s.Path)
	if s.SameAs != "" {
		fmt.Fprintf(&b, "\n    the same text as %s", s.SameAs)
	}
	for line := range strings.Lines(s.Text) {
		b.WriteString("\n    " + strings.TrimRight(line, "\r\n"))
	}
	return b.String()
}

// apply carries out steps in order, records each, and stops at the first that fails.
func apply(steps []Step) error {
	for i := range steps {
		s := &steps[i]
		backup, err := s.do()
		if err != nil {
			return fmt.Errorf("%s cannot be changed: %w", s.Path, err)
		}
		s.Backup = backup
		if s.record != nil {
			s.record()
		}
	}
	return nil
}
