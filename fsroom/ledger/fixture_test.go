package ledger

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fixture is a tree with a store.
type fixture struct {
	testing.TB
	root string
	*Ledger
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{TB: t, root: filepath.Join(dir, "tree")}
	if err := os.Mkdir(f.root, 0o755); err != nil {
		t.Fatal(err)
	}
	f.open(Options{})
	return f
}

// open opens the store with other options.
func (f *fixture) open(o Options) *fixture {
	o.Root, o.Home = f.root, filepath.Dir(f.root)
	o.Limits.Free = 1
	f.Ledger = New(filepath.Join(filepath.Dir(f.root), "store"), o)
	return f
}

// git runs git in the tree.
func (f *fixture) git(args ...string) string {
	f.Helper()
	out, err := f.tryGit(args...)
	if err != nil {
		f.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (f *fixture) tryGit(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = f.root
	cmd.Env = f.env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (f *fixture) env() []string {
	return append(os.Environ(), "HOME="+filepath.Dir(f.root), "XDG_CONFIG_HOME="+filepath.Dir(f.root), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_EDITOR=true", "LC_ALL=C")
}

// write writes files, given as path and content.
func (f *fixture) write(pairs ...string) {
	f.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(f.root, filepath.FromSlash(pairs[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(pairs[i+1]), 0o644); err != nil {
			f.Fatal(err)
		}
	}
}

func (f *fixture) remove(path string) {
	f.Helper()
	if err := os.RemoveAll(filepath.Join(f.root, path)); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) rename(from, to string) {
	f.Helper()
	if err := os.Rename(filepath.Join(f.root, from), filepath.Join(f.root, to)); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) content(path string) string {
	b, err := os.ReadFile(filepath.Join(f.root, path))
	if err != nil {
		return "<" + filepath.Base(path) + " is missing>"
	}
	return string(b)
}

// take takes a snapshot that has a line of its own.
func (f *fixture) take(why string, turn int64) *Snapshot {
	f.Helper()
	s, err := f.Take(f.Context(), Request{Why: why, Turn: turn, Agent: "a", Line: true})
	if err != nil {
		f.Fatalf("take %s: %v", why, err)
	}
	return s
}

// state describes each file of the tree: name, permissions, content.
func (f *fixture) state() string {
	f.Helper()
	var b strings.Builder
	err := filepath.WalkDir(f.root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(f.root, path)
		if d.IsDir() {
			if d.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, _ := os.ReadFile(path)
		if info.Mode()&os.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			content = []byte(target)
		}
		b.WriteString(rel + " " + info.Mode().String() + " " + hashObject(kindBlob, content).String() + "\n")
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return b.String()
}

// paths returns the paths in a tree.
func (f *fixture) paths(tree ID) (paths []string) {
	f.Helper()
	v := f.Recorded()
	defer v.Close()
	found, err := v.objects.diffTrees(ID{}, tree)
	if err != nil {
		f.Fatal(err)
	}
	for _, d := range found {
		paths = append(paths, d.Path)
	}
	return paths
}

// undo takes a turn back.
func (f *fixture) undo(turn int64, files ...string) (*Outcome, error) {
	return f.Do(f.Context(), Change{Request: Request{Why: WhyUndo}, Plan: func(v *View) (*Plan, error) {
		from, to := TurnOf(v.All, turn)
		return v.PlanUndo(from, to, files)
	}})
}

// restore makes the tree as in a snapshot.
func (f *fixture) restore(s *Snapshot, exact bool, files ...string) *Outcome {
	f.Helper()
	out, err := f.Do(f.Context(), Change{Request: Request{Why: WhyRestore}, Plan: func(v *View) (*Plan, error) {
		return v.PlanRestore(s, files, exact)
	}})
	if err != nil {
		f.Fatal(err)
	}
	return out
}

func (f *fixture) lost() *Outcome {
	f.Helper()
	out, err := f.Do(f.Context(), Change{Request: Request{Why: WhyRestore}, Plan: func(v *View) (*Plan, error) {
		return v.PlanLost(nil)
	}})
	if err != nil {
		f.Fatal(err)
	}
	return out
}
