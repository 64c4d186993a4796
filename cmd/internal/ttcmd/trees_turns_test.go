package ttcmd

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var treeTurns = flag.Int("trees.turns", 12, "how many turns TestTurnsOfTreesStorm has, of which short tests have two")

// TestTurnsOfTreesStorm: three agents change a tree at random, while git collects garbage in its repository, the store is
// pruned, and others write between the turns. What is recorded of a turn is what it changed, and of the time between two
// what they did. An undo changes nothing else.
func TestTurnsOfTreesStorm(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &treeStorm{T: t, rig: newRig(t), random: rand.New(rand.NewPCG(seed, 0))}
	t.Cleanup(func() {
		if err := endStrays("TALKING_STICK_DATA_DIR=" + s.data); err != nil {
			t.Error(err)
		}
	})
	s.begin()
	var collected sync.WaitGroup
	stop := make(chan bool)
	end := sync.OnceFunc(func() { close(stop); collected.Wait() })
	defer end()
	goOn := func() bool {
		select {
		case <-stop:
			return false
		case <-time.After(sameTick):
			return true
		}
	}
	collected.Go(func() {
		for goOn() { // each record prunes, as if the last prune were long ago
			pruned, _ := filepath.Glob(filepath.Join(s.data, "trees", "*", "pruned"))
			for _, path := range pruned {
				_ = os.Remove(path)
			}
			s.shell("git gc -q --prune=now")
		}
	})
	turns := *treeTurns
	if testing.Short() {
		turns = min(turns, 1)
	}
	for range turns {
		s.turn()
	}
	end()
	stores, _ := filepath.Glob(filepath.Join(s.data, "trees", "*"))
	for _, store := range stores {
		if out, err := exec.Command("git", "--git-dir", store, "fsck", "--no-dangling").CombinedOutput(); err != nil {
			t.Errorf("git fsck: %v: %s", err, out)
		}
	}
	s.tt("doctor")
}

// A treeStorm is a tree whose turns three agents have one after the other.
type treeStorm struct {
	*testing.T
	*rig
	random  *rand.Rand
	turns   int
	written int
	past    []pastTurn
}

func (s *treeStorm) holder() string { return []string{"a:1", "b:2", "c:3"}[s.turns%3] }

// try is tt, called by the holder. It may fail.
func (s *treeStorm) try(args ...string) (stdout string, err error) {
	cmd := s.command(s.holder(), append(args, "--json")...)
	cmd.Env = append(cmd.Env, "TALKING_STICK_LEDGER=on", "TALKING_STICK_LEDGER_WAIT=1m", "HOME="+s.data, "PATH="+os.Getenv("PATH"))
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("tt %v: %w: %s", args, err, failed.String())
	}
	return string(out), err
}

// tt is one that may not fail.
func (s *treeStorm) tt(args ...string) string {
	out, err := s.try(args...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

func (s *treeStorm) begin() {
	s.shell(`git init -q; printf '*.o\nbuild/\n' >.gitignore
		for i in $(seq 90); do seq -f "line %g of $i" 40 >$(echo src docs lib | cut -d ' ' -f $((i%3+1)))/f$i.c; done
		git add -A; git commit -qm 1; git branch -M main; git checkout -qb feature; echo x >>src/f3.c; rm lib/f2.c; git commit -qam 2
		git checkout -q main; echo y >>docs/f1.c; git commit -qam 3`)
	for range 3 {
		s.tt("join")
		s.turns++
	}
	s.turns = 0
	s.tt("snapshot")
}

// files returns the content and mode of every file that git does not ignore.
func (s *treeStorm) files() map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(s.workspace, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil, filepath.Ext(path) == ".o":
			return nil
		case d.Name() == ".git", d.Name() == "build":
			return filepath.SkipDir
		}
		name, _ := filepath.Rel(s.workspace, path)
		if target, err := os.Readlink(path); err == nil {
			all[name] = "link " + target
		} else if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			b, _ := os.ReadFile(path)
			all[name] = info.Mode().String() + string(b)
		}
		return nil
	})
	return all
}

// treeChanges are what somebody may do to a tree: to a file F of it, with another file G and the number N.
var treeChanges = []string{
	`printf q | dd of="$F" conv=notrunc`,                                                      // of the same size
	`touch -r "$F" time.o; tr a-z b-za <"$F" >text.o; cat text.o >"$F"; touch -r time.o "$F"`, // and of the same time
	`sed -i 's/of/OF/' "$F"`,
	`echo "$N" >"$F"`,
	`echo "$N" >"$F.tmp"; mv "$F.tmp" "$F"`,
	`cp "$F" "$G"`,
	`rm "$F"`,
	`mv "$F" docs/moved$((N%9)).c`,
	`git mv -f "$F" docs/moved$((N%9)).c`,
	`chmod 755 "$F"`,
	`chmod 600 "$F"`,
	`echo "$N" >src/new$((N%40)).c`,
	`ln -s f1.c src/link$((N%5))`,
	`mkdir -p build; echo "$N" >build/out; echo "$N" >src/x.o`, // ignored
	`find src -name '*.c' | head -20 | xargs touch`,
	`find src -name '*.c' | head -20 | xargs sed -i 's/ *$//; s/line 3/LINE 3/'`,
	`mv src old; mkdir src; mv old/* src/; rmdir old`,
	`rm lib/*`,
	`git add -A; git commit -qm x`,
	`git add -A; git commit -q --amend -m y`,
	`git add -A; git commit -qm x; git rebase -q feature || git rebase --abort`,
	`git checkout -q feature || git checkout -q main`,
	`git checkout -qf main`,
	`git stash -q -u; git stash pop -q`,
	`git stash -q`,
	`git reset -q --hard`,
	`git clean -fdq`,
}

// write changes the tree in one way.
func (s *treeStorm) write() {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.files())), func(name string) bool {
		info, err := os.Lstat(filepath.Join(s.workspace, name))
		return err != nil || !info.Mode().IsRegular() || name == ".gitignore"
	})
	names = append(names, "src/first.c")
	s.written++
	s.shell(treeChanges[s.random.IntN(len(treeChanges))], "F="+names[s.random.IntN(len(names))],
		"G="+names[s.random.IntN(len(names))], fmt.Sprint("N=", s.written))
}

// shell runs a line in the tree. It may fail.
func (s *treeStorm) shell(line string, variables ...string) {
	c := exec.Command("sh", "-c", "mkdir -p src lib docs; "+line)
	c.Dir = s.workspace
	c.Env = append(os.Environ(), append(variables, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.org", "GIT_EDITOR=true")...)
	_ = c.Run()
}

// A pastTurn is what the tree was at the beginning and at the end of a turn.
type pastTurn struct {
	number    int
	was, left map[string]string
}

// differ returns the paths that are not the same.
func differ(a, b map[string]string) (paths []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for path := range all {
		if a[path] != b[path] { // what is there has a mode at least
			paths = append(paths, path)
		}
	}
	return paths
}

// turn has one turn, in which an older one may be taken back, and a write of somebody else after it.
func (s *treeStorm) turn() {
	was, left := s.changed()
	s.tt("release", "--status", "s", "--next-action", "n")
	s.turns++
	s.told(was, left, fmt.Sprint(s.turns))
	s.past = append(s.past, pastTurn{s.turns, was, left})
	if s.random.IntN(2) == 0 {
		s.write()
	}
	time.Sleep(sameTick)
}

// told compares what is told of a turn, or of the time before it, with what has changed.
func (s *treeStorm) told(was, left map[string]string, args ...string) {
	out := s.tt(append([]string{"diff"}, args...)...)
	var answer struct {
		Changes []struct {
			Unknown string
			Unsure  []string
			Paths   []struct{ Path string }
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || len(answer.Changes) != 1 || answer.Changes[0].Unknown != "" {
		s.Fatalf("diff %q: %v: %s", args, err, out)
	}
	var told []string
	for _, p := range answer.Changes[0].Paths {
		told = append(told, p.Path)
	}
	truth := differ(was, left)
	for _, path := range append(told, truth...) {
		if slices.Contains(told, path) != slices.Contains(truth, path) && !slices.Contains(answer.Changes[0].Unsure, path) {
			s.Errorf("%q: %s was %.20q and is %.20q: %s", args, path, was[path], left[path], out)
		}
	}
}

// undo takes back one of the last turns. It changes what that turn did, but for what git alone has moved from
// commit to commit in it, or nothing.
func (s *treeStorm) undo() {
	past := s.past[max(0, len(s.past)-4):]
	turn := past[s.random.IntN(len(past))]
	before := s.files()
	out, err := s.try("undo", fmt.Sprint(turn.number))
	after := s.files()
	changed, ofTurn := differ(before, after), differ(turn.was, turn.left)
	switch {
	case err != nil && (!strings.Contains(err.Error(), "undo_conflict") || len(changed) > 0):
		s.Fatalf("undo of turn %d has failed and changed %q: %v", turn.number, changed, err)
	case err != nil:
		return
	}
	for _, path := range changed {
		if !slices.Contains(ofTurn, path) {
			s.Errorf("undo of turn %d has changed %s: %s", turn.number, path, out)
		}
	}
	var answer struct {
		GitMoved int `json:"git_moved"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		s.Fatalf("undo of turn %d: %s", turn.number, out)
	}
	moved := answer.GitMoved > 0
	for _, path := range ofTurn {
		if before[path] != turn.left[path] || after[path] == turn.was[path] {
			continue
		}
		if moved && slices.Contains(changed, path) { // git had moved it, and the turn changed it after that
			continue
		}
		if answer.GitMoved--; answer.GitMoved < 0 {
			s.Errorf("undo of turn %d has not changed %s: %s", turn.number, path, out)
		}
	}
}

// sameTick is how long what is written is unsure after a turn has begun or ended.
const sameTick = 20 * time.Millisecond

// changed begins a turn, and changes files when its beginning is recorded: what is written and
// removed again before that cannot be told. It returns them as they were and as they are.
func (s *treeStorm) changed() (was, left map[string]string) {
	s.tt("wait")
	begun := fmt.Sprintf(`"why":"start","turn_id":%d,`, s.turns+1)
	for end := time.Now().Add(time.Minute); !strings.Contains(s.tt("restore", "--limit", "2"), begun); {
		if time.Now().After(end) {
			s.Fatalf("the beginning of turn %d is not recorded", s.turns+1)
		}
	}
	was = s.files()
	if n := len(s.past); n > 0 {
		s.told(s.past[n-1].left, was, "--outside", fmt.Sprint(s.turns+1))
	}
	time.Sleep(sameTick)
	if len(s.past) > 0 && s.random.IntN(5) < 2 {
		s.undo()
	}
	for range 1 + s.random.IntN(6) {
		s.write()
	}
	return was, s.files()
}
