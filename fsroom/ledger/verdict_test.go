package ledger

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// look returns the tree as it is now.
func (f *fixture) look() *Snapshot {
	f.Helper()
	v, err := f.Look(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer v.Close()
	return v.Now
}

// counted is what a run on a copy of the tree can tell: each file that git does not ignore, its content
// and its permissions. It is found without the ledger.
func (f *fixture) counted() string {
	f.Helper()
	var b strings.Builder
	var list func(dir string)
	list = func(dir string) {
		was := f.root
		f.root = filepath.Join(was, dir)
		names := strings.Split(strings.Trim(f.git("ls-files", "-cos", "--exclude-standard", "-z"), "\x00"), "\x00")
		f.root = was
		var paths []string
		for _, name := range names {
			if staged, path, ok := strings.Cut(name, "\t"); ok { // tracked
				if strings.HasPrefix(staged, "160000") {
					list(filepath.Join(dir, path))
					continue
				}
				name = path
			}
			paths = append(paths, name)
		}
		slices.Sort(paths)
		for _, name := range slices.Compact(paths) {
			path := filepath.Join(f.root, dir, name)
			info, err := os.Lstat(path)
			if err != nil || info.IsDir() {
				continue
			}
			content, _ := os.ReadFile(path)
			if info.Mode()&os.ModeSymlink != 0 {
				target, _ := os.Readlink(path)
				content = []byte(target)
			}
			fmt.Fprintf(&b, "%s %s %x\n", filepath.Join(dir, name), info.Mode(), content)
		}
	}
	list("")
	return b.String()
}

// TestVerdictIsOfExactlyThisTree edits trees at random. A tree has the verdict exactly if a run on a copy of it
// would see what the run that was verified saw.
func TestVerdictIsOfExactlyThisTree(t *testing.T) {
	t.Parallel()
	seeds, edits := 12, 40
	if testing.Short() {
		seeds = 2
	}
	hits, misses := 0, 0
	for seed := range seeds {
		f := newFixture(t)
		r := rand.New(rand.NewSource(int64(seed)))
		other := filepath.Join(filepath.Dir(f.root), "other")
		tree := f.root
		if err := os.Mkdir(other, 0o755); err != nil {
			t.Fatal(err)
		}
		f.root = other
		f.git("init", "-q")
		for i := range 2 {
			f.write("m", fmt.Sprint(i))
			f.git("add", "-A")
			f.git("commit", "-qm", fmt.Sprint(i))
		}
		f.root = tree
		f.git("init", "-q")
		f.write(".gitignore", "*.log\nout/\n", "a", "1", "b", "1", "d/c", "1", "x.log", "1")
		f.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub")
		f.git("add", "-A")
		f.git("commit", "-qm", "x")
		names := []string{"a", "b", "d/c", "d/e", "new", "x.log", "out/o", "sub/m", "sub/n", "p.log"}
		pick := func() string { return names[r.Intn(len(names))] }
		seen := make(map[StateID]string)
		states := make(map[string]StateID)
		for range edits {
			name := pick()
			path := filepath.Join(f.root, name)
			switch r.Intn(10) {
			case 0, 1, 2:
				f.write(name, fmt.Sprint(r.Intn(3))) // the same length, soon after
			case 3:
				_ = os.Chmod(path, []os.FileMode{0o644, 0o755, 0o600, 0o640}[r.Intn(4)])
			case 4:
				if os.Remove(path) == nil && r.Intn(2) == 0 {
					_ = os.Symlink([]string{"one", "two"}[r.Intn(2)], path) // no name of the list: no link leads to itself
				}
			case 5:
				if to := filepath.Join(f.root, pick()); to != path {
					_ = os.MkdirAll(filepath.Dir(to), 0o755)
					_ = os.Rename(path, to)
				}
			case 6:
				_, _ = f.tryGit("add", "-A")
			case 7:
				_, _ = f.tryGit("reset", "-q")
			case 8:
				_, _ = f.tryGit("-C", "sub", "checkout", "-qf", []string{"HEAD~1", "master", "main", "@{-1}"}[r.Intn(4)])
			case 9:
				f.write("out/o", fmt.Sprint(r.Intn(9)), "x.log", fmt.Sprint(r.Intn(9)))
			}
			now := f.look()
			if len(now.Partial()) > 0 {
				t.Fatalf("left out: %v", now.Partial())
			}
			state, want := now.State(), f.counted()
			if was, known := seen[state]; known && was != want {
				t.Fatalf("seed %d: verified, and a run would see\n%snot\n%s", seed, want, was)
			} else if known {
				hits++
			}
			if was, known := states[want]; known && was != state {
				t.Fatalf("seed %d: a miss, and a run would see the same:\n%s", seed, want)
			} else if !known {
				misses++
			}
			seen[state], states[want] = want, state
		}
	}
	if hits < 10 || misses < 10 {
		t.Errorf("%d hits, %d misses: that tries nothing", hits, misses)
	}
}

func (f *fixture) ask(name string, command ...string) Ask {
	f.Helper()
	return Ask{State: f.look().State(), Name: name, Command: command, Dir: "."}
}

func (f *fixture) add(a Ask) {
	f.Helper()
	if err := f.AddVerdict(a, Verdict{Tree: "t", Agent: "a", At: "2026-11-20T20:40:37.329Z", JobID: 1}); err != nil {
		f.Fatal(err)
	}
}

// TestVerdictAnswersItsQuestionAlone asks what differs in one thing.
func TestVerdictAnswersItsQuestionAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.take("x", 0)
	asked := f.ask("test", "make", "a b")
	f.add(asked)
	if v := f.FindVerdict(asked); v == nil || v.JobID != 1 || v.State != asked.State {
		t.Fatalf("%+v", v)
	}
	for what, change := range map[string]func(*Ask){
		"state":   func(a *Ask) { a.State += "0" },
		"name":    func(a *Ask) { a.Name = "tes" },
		"cwd":     func(a *Ask) { a.Dir = "d" },
		"words":   func(a *Ask) { a.Command = []string{"make", "a", "b"} },
		"command": func(a *Ask) { a.Command = []string{"make"} },
		"moved":   func(a *Ask) { a.Name, a.Dir, a.Command = "testmake", ".", []string{"a b"} },
	} {
		other := asked
		if change(&other); f.FindVerdict(other) != nil {
			t.Errorf("another %s: verified", what)
		}
	}
	f.Withdraw(asked)
	if f.FindVerdict(asked) != nil || len(f.AllVerdicts()) != 0 {
		t.Error("it is there after it was withdrawn")
	}
	f.add(asked)
	lock := f.verdictsFile() + ".lock"
	if os.Remove(lock) != nil || os.Mkdir(lock, 0o700) != nil { // nothing can be written
		t.Fatal(lock)
	}
	if f.Withdraw(asked); f.FindVerdict(asked) != nil {
		t.Error("it is there after it was withdrawn where nothing can be written")
	}
}

// TestDamagedVerdictIsAMiss damages the line of a verdict in each of its bytes, and cuts it. One behind it stays.
func TestDamagedVerdictIsAMiss(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.take("x", 0)
	asked := f.ask("test", "make")
	f.add(asked)
	path := f.verdictsFile()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	whole, _ := os.ReadFile(path)
	later := asked
	later.Name = "later"
	f.add(later)
	both, _ := os.ReadFile(path)
	check := func(b []byte, left int) {
		t.Helper()
		_ = os.WriteFile(path, b, 0o600)
		if _, damaged := f.verdictLines(); f.FindVerdict(asked) != nil || len(f.AllVerdicts()) != left || damaged != 1 {
			t.Fatalf("%q counts", b)
		}
	}
	for i := range whole[1:] {
		b := slices.Clone(both)
		b[i] ^= 1
		check(b, 1)
		check(whole[:i+1], 0)
	}
	both[len(whole)-1] ^= 1 // the end of the line
	check(both, 0)
	if found := f.Check(t.Context(), true); len(found) != 1 || !found[0].Repaired || !found[0].Harmless {
		t.Errorf("%+v", found)
	}
	if _, damaged := f.verdictLines(); damaged != 0 {
		t.Error("not repaired")
	}
}

// TestVerdictsAreTrimmed: 200 are kept, those that were recorded last, each once.
func TestVerdictsAreTrimmed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.take("x", 0)
	asked := f.ask("first")
	f.add(asked)
	for i := range maxVerdicts {
		other := asked
		other.Name = fmt.Sprint(i)
		f.add(other)
		f.add(other)
	}
	if n := len(f.AllVerdicts()); n != maxVerdicts {
		t.Errorf("%d are kept", n)
	}
	if f.FindVerdict(asked) != nil {
		t.Error("the oldest one is kept")
	}
}

// TestVerdictsOfSeveral: several processes record and withdraw verdicts at once.
func TestVerdictsOfSeveral(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.take("x", 0)
	asked := f.ask("")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			a := asked
			a.Name = fmt.Sprint(i)
			if err := f.AddVerdict(a, Verdict{}); err != nil {
				t.Error(err)
			}
			if i%2 == 0 {
				f.Withdraw(a)
			}
		})
	}
	all.Wait()
	if n := len(f.AllVerdicts()); n != 4 {
		t.Errorf("%d are left", n)
	}
}

// TestWordsOfVerdicts: what is the same of several is said once.
func TestWordsOfVerdicts(t *testing.T) {
	t.Parallel()
	verdict := func(name, agent string, current bool) LastVerdict {
		return LastVerdict{Verdict: Verdict{Name: name, Agent: agent, At: "2026-11-20T20:40:37.329Z"}, Current: current}
	}
	list := []LastVerdict{verdict("test", "a:1", true), verdict("lint", "a:1", true), verdict("ci", "b:1", true), verdict("old", "b:1", false)}
	got := LastWords(list, func(time.Time) string { return "just now" })
	if want := []string{"lint, test passed on this tree, by a:1, just now", "ci passed on this tree, by b:1, just now",
		"old passed not on this tree: it has changed, by b:1, just now"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for i := range list {
		list[i].Name = "test"
	}
	raw, _ := json.Marshal(list)
	at := list[0].Time().Local().Format("15:04")
	if got, want := VerifiedWords(raw), "test on this tree, a:1, "+at+"; test on this tree, b:1, "+at+"; and 1 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestVerdictsGoWithTheirTree: a prune removes those of trees that it removes.
func TestVerdictsGoWithTheirTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.take(WhyJob, 0)
	old := f.ask("test")
	f.add(old)
	f.write("a", "2")
	last := f.take(WhyJob, 0)
	kept := f.ask("test")
	f.add(kept)
	if err := f.replaceLines([]*Snapshot{last}, last); err != nil {
		t.Fatal(err)
	}
	if f.FindVerdict(old) != nil || f.FindVerdict(kept) == nil {
		t.Error("not those of the trees that are kept")
	}
}

// TestUnstaged compares what would be committed with the tree.
func TestUnstaged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write("a", "1", "d/b", "1", ".gitignore", "*.log\n", "x.log", "1")
	f.git("add", "-A")
	unstaged := func() string {
		t.Helper()
		v, err := f.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		d, err := v.Unstaged(Git{
			Index: func(string) (string, error) { return f.git("ls-files", "-t", "--stage", "-z"), nil },
			Staged: func(paths []string) []string {
				return strings.Fields(f.git(append([]string{"hash-object", "--"}, paths...)...))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			return ""
		}
		return fmt.Sprint(d.Differences, len(d.Paths))
	}
	f.take("x", 0)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, ""},
		{func() { f.write("a", "2") }, "{0 1 0} 1"},
		{func() { f.write("new", "2") }, "{1 1 0} 2"},
		{func() { f.remove("d/b") }, "{1 1 1} 3"},
		{func() { f.git("add", "-A") }, ""},
		{func() { _ = os.Chmod(filepath.Join(f.root, "a"), 0o755) }, "{0 1 0} 1"},
		{func() { f.git("update-index", "--assume-unchanged", "a") }, "{0 1 0} 1"},
		{func() { f.write("a", "3"); f.git("update-index", "--no-assume-unchanged", "a"); f.git("add", "-A") }, ""},
		{func() {
			f.write(".gitattributes", "*.txt eol=crlf\n", "w.txt", "1\r\n", "\"q.txt", "1\r\n")
			f.git("add", "-A")
		}, "{0 1 0} 1"}, // of the one in quotes git is not asked
		{func() { f.remove("\"q.txt"); f.git("add", "-A") }, ""},
		{func() { f.write("w.txt", "2\r\n") }, "{0 1 0} 1"},
		{func() {
			f.git("commit", "-qm", "1")
			f.shell("git switch -qc o; git commit -qam o; git switch -q -; echo 4 > w.txt; git commit -qam n; git merge -q o || true")
		}, "{0 1 0} 1"}, // a conflict
		{func() { _ = os.Chmod(filepath.Join(f.root, "w.txt"), 0o755) }, "{0 1 0} 1"},
		{func() {
			f.write("d/c", "1", "e/f/c", "1")
			f.git("add", "-A")
			f.git("commit", "-qm", "2")
			f.git("sparse-checkout", "set", "none")
		}, ""},
		{func() { f.git("update-index", "--split-index"); f.git("rm", "-q", "--cached", "a"); f.git("add", "a") }, ""},
		{func() {
			f.git("update-index", "--no-split-index")
			f.git("sparse-checkout", "reapply", "--sparse-index")
		}, ""},
		{func() { f.git("rm", "-rq", "--cached", "--sparse", "d") }, ""}, // the commit leaves out what the checkout has not
		{func() {
			f.git("update-index", "--add", "--cacheinfo", "100644,"+strings.TrimSpace(f.git("hash-object", "-w", "a"))+",d/c")
			f.git("update-index", "--skip-worktree", "d/c")
		}, "{0 0 1} 1"},
	} {
		step.do()
		if got := unstaged(); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}
