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

// A planner collects what is to be done for one harness. Nothing on disk changes
// while it does.
type planner struct {
	env   Environment
	opts  Options
	rec   *record
	was   *installed // the record of the harness; changed as steps are done
	steps []Step
}

func (e Environment) planner(opts Options, rec *record, id harness.ID) *planner {
	return &planner{env: e, opts: opts, rec: rec, was: rec.of(id)}
}

var errDangling = errors.New("it is a symbolic link that leads nowhere")

// read returns the content of the file at path, nil if it is not there. A symbolic
// link to a file that is not there is an error: nobody can tell what belongs there.
func read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
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
	backup        bool // the old content is not all ours, so it is kept
	record        func()
}

// change plans a change of a file.
func (p *planner) change(c fileChange) {
	w := &rewrite.Writer{Now: p.env.Now}
	if c.backup {
		w = p.env.Writer()
	}
	step := Step{Action: c.action, Path: c.path, Text: string(c.after), record: c.record}
	if c.action == Merge || c.action == Unmix {
		_, step.Text, _ = strings.Cut(string(diff.Diff(c.path, c.before, c.path, c.after)), "\n")
	}
	step.do = func() (string, error) {
		if err := lockfile.MakeDirs(filepath.Dir(c.path), 0o755); err != nil {
			return "", err
		}
		return w.Replace(c.path, c.before, c.after)
	}
	if c.after == nil {
		step.Action, step.Text = Delete, ""
		step.do = func() (string, error) { return w.Remove(c.path, c.before) }
	} else {
		p.noteDirs(filepath.Dir(c.path))
	}
	p.steps = append(p.steps, step)
}

// noteDirs records which directories up to dir are to be made, so that they go again
// with the last thing in them.
func (p *planner) noteDirs(dir string) {
	var missing []string
	for at := dir; !isDir(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		if !slices.Contains(p.was.MadeDirs, at) {
			missing = append([]string{at}, missing...)
		}
	}
	p.was.MadeDirs = append(p.was.MadeDirs, missing...)
}

// removeDirs removes the directories that were made for the harness and are empty.
func (p *planner) removeDirs() {
	var left []string
	for _, dir := range slices.Backward(p.was.MadeDirs) {
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
