package ledger

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTreesAreThoseOfGit compares what is in a snapshot with what git tracks or would show as
// untracked, in random repositories with random rules.
func TestTreesAreThoseOfGit(t *testing.T) {
	t.Parallel()
	n := 25
	if testing.Short() {
		n = 10
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newFixture(t)
			r := rand.New(rand.NewSource(int64(seed)))
			randomRepository(f, r)
			want := strings.Split(strings.Trim(f.git("ls-files", "-co", "--exclude-standard", "-z"), "\x00"), "\x00")
			slices.Sort(want)
			want = slices.DeleteFunc(slices.Compact(want), func(p string) bool { return p == "" })
			got := f.paths(f.take("x", 0).Tree)
			if !slices.Equal(want, got) {
				t.Errorf("git has %q\nthe snapshot %q", want, got)
				_ = filepath.WalkDir(f.root, func(path string, d os.DirEntry, err error) error {
					if d.Name() == ".gitignore" {
						b, _ := os.ReadFile(path)
						t.Logf("%s: %q", path, b)
					}
					return nil
				})
			}
			if out, err := f.storeGit("fsck", "--strict", "--no-dangling"); err != nil {
				t.Errorf("git fsck of the store: %v\n%s", err, out)
			}
		})
	}
}

func (f *fixture) storeGit(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"--git-dir=" + f.Dir()}, args...)...)
	cmd.Env = f.env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func randomRepository(f *fixture, r *rand.Rand) {
	f.git("init", "-q")
	names := []string{"a", "b", "ab", "a.o", "b.o", "A", "build", "x y", "foo.bar", ".hid", "a[1]", "t#", "!n", "b-c", "doc"}
	pick := func(from []string) string { return from[r.Intn(len(from))] }
	dirs := []string{""}
	for range 2 + r.Intn(8) {
		d := filepath.Join(pick(dirs), pick(names))
		if os.MkdirAll(filepath.Join(f.root, d), 0o755) == nil {
			dirs = append(dirs, d)
		}
	}
	for i := range 5 + r.Intn(25) {
		p := filepath.Join(f.root, pick(dirs), pick(names))
		if _, err := os.Lstat(p); err == nil {
			continue
		}
		if r.Intn(10) == 0 {
			_ = os.Symlink("a", p)
		} else {
			_ = os.WriteFile(p, []byte(fmt.Sprint(i)), 0o644)
		}
	}
	tokens := []string{"a", "b", "*", "**", "?", "[ab]", "[!a]", "[a-c]", ".o", "build", "x y", `x\ y`, "foo", `\#`, `\!n`, "ab", "A", "[[:alpha:]]", "a[[]1]", "doc", ".hid", "[", `\a`}
	pattern := func() string {
		s := ""
		for range 1 + r.Intn(3) {
			s += pick(tokens)
		}
		add := func(chance float64, to string) {
			if r.Float64() < chance {
				s = strings.ReplaceAll(to, "$", s)
			}
		}
		add(.35, "$/"+pick(append(tokens, "**")))
		add(.2, "/$")
		add(.2, "**/$")
		add(.15, "$/**")
		add(.25, "$/")
		add(.25, "!$")
		add(.1, "$"+pick([]string{" ", `\ `, "  "}))
		add(.05, "#$")
		return s
	}
	for range 1 + r.Intn(3) {
		dir := filepath.Join(f.root, pick(dirs))
		var lines []string
		for range 1 + r.Intn(5) {
			lines = append(lines, pattern())
		}
		_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(strings.Join(lines, pick([]string{"\n", "\n", "\n", "\r\n"}))+"\n"), 0o644)
	}
	if r.Intn(2) == 0 { // some are tracked although they are ignored
		for _, p := range strings.Split(f.git("ls-files", "-oi", "--exclude-standard", "-z"), "\x00") {
			if p != "" && r.Intn(3) == 0 {
				f.git("add", "-f", "--", p)
			}
		}
		_, _ = f.tryGit("update-index", "--index-version", pick([]string{"2", "3", "4"}))
	}
}

// TestTreeID compares the ids of trees with those of git write-tree.
func TestTreeID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write("a", "one\n", "d/b", "two\n", "d/e/c", "three\n", "d.x", "four", "empty", "")
	_ = os.Symlink("../a", filepath.Join(f.root, "d", "link"))
	_ = os.Chmod(filepath.Join(f.root, "a"), 0o755)
	f.git("add", "-A")
	want := strings.TrimSpace(f.git("write-tree"))
	if s := f.take("x", 0); s.Tree.String() != want {
		t.Errorf("tree %s, git says %s", s.Tree, want)
	}
}

// TestReadsPacks reads each object of a repository that git has packed with deltas.
func TestReadsPacks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for i := range 12 {
		f.write("f", strings.Replace(text.String(), fmt.Sprintf("line %d\n", 20*i), "changed\n", 1), fmt.Sprintf("g%d", i), strings.Repeat(fmt.Sprint(i), 100))
		f.git("add", "-A")
		f.git("commit", "-qm", fmt.Sprint(i))
	}
	f.git("gc", "-q", "--aggressive")
	o := openObjects(f.objectsDir(), findRepository(f.root, ""), f.opts.Fault)
	defer o.close()
	if len(o.user) != 1 {
		t.Fatalf("%d packs", len(o.user))
	}
	for i := range o.user[0].n {
		id := o.user[0].id(i)
		k, data, err := o.read(id)
		if err != nil || hashObject(k, data) != id {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestMergeIsThatOfGit compares merges of texts whose lines all differ with those of git
// merge-file.
func TestMergeIsThatOfGit(t *testing.T) {
	t.Parallel()
	n := 25
	if testing.Short() {
		n = 15
	}
	dir := t.TempDir()
	r := rand.New(rand.NewSource(1))
	for i := range n {
		var base []string
		for j := range 5 + r.Intn(40) {
			base = append(base, fmt.Sprintf("line %d\n", j))
		}
		ours, theirs := randomEdit(r, base, "o"), randomEdit(r, base, "t")
		if r.Intn(3) == 0 {
			theirs = randomEdit(r, ours, "t")
		}
		join := func(lines []string) []byte { return []byte(strings.Join(lines, "")) }
		for name, lines := range map[string][]string{"base": base, "ours": ours, "theirs": theirs} {
			_ = os.WriteFile(filepath.Join(dir, name), join(lines), 0o644)
		}
		cmd := exec.Command("git", "merge-file", "-p", "-q", "--diff3", "ours", "base", "theirs")
		cmd.Dir = dir
		want, err := cmd.Output()
		got, conflict := merge3(join(base), join(ours), join(theirs))
		if (err != nil) != (conflict != nil) {
			t.Errorf("%d: git says %v, we say %v\n%q\n%q\n%q", i, err, conflict, base, ours, theirs)
		} else if err == nil && string(got) != string(want) {
			t.Errorf("%d: git merges to %q, we to %q", i, want, got)
		}
	}
}

func randomEdit(r *rand.Rand, base []string, who string) []string {
	lines := slices.Clone(base)
	for i := range 1 + r.Intn(3) {
		at := r.Intn(len(lines))
		switch r.Intn(3) {
		case 0:
			lines[at] = fmt.Sprintf("%s changed %d\n", who, i)
		case 1:
			lines = slices.Insert(lines, at, fmt.Sprintf("%s new %d\n", who, i))
		default:
			lines = slices.Delete(lines, at, min(len(lines), at+1+r.Intn(2)))
		}
		if len(lines) == 0 {
			lines = []string{"x\n"}
		}
	}
	return lines
}
