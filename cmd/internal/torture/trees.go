//go:build linux

package torture

import (
	"encoding/json"
	"errors"
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
	"time"
)

// turnsOfTrees has turns that change a tree at random, while git collects garbage in its
// repository, the store is pruned, and others write between the turns: what is recorded of a turn is what
// it changed, and of the time between two what they did. An undo changes nothing else. Then undos and releases are killed: the tree is as before or as after. At last the disk is
// full: turns go on.
func turnsOfTrees(e *env, r *report) {
	s := e.newStorm(r, e.newDir(), e.newDir())
	defer remove(s.data)
	defer remove(s.tree)
	if !r.check("the tree", s.begin()) {
		return
	}
	stop, collected := newLatch(), sync.WaitGroup{}
	collected.Go(func() {
		for !stop.closed() {
			_ = s.git("gc", "-q", "--prune=now")
		}
	})
	collected.Go(func() {
		for ; !stop.closed(); time.Sleep(sameTick) { // each record prunes, as if the last prune were long ago
			pruned, _ := filepath.Glob(filepath.Join(s.data, "trees", "*", "pruned"))
			for _, path := range pruned {
				_ = os.Remove(path)
			}
		}
	})
	for range e.pick(12, 500) {
		r.check("a turn", s.turn())
	}
	for range e.pick(12, 200) {
		if !r.check("a killed undo", s.killed()) {
			break // its turn is open
		}
	}
	stop.close()
	collected.Wait()
	stores, _ := filepath.Glob(filepath.Join(s.data, "trees", "*"))
	for _, store := range stores {
		r.check("git fsck", command("git", "--git-dir", store, "fsck", "--no-dangling"))
	}
	r.check("doctor", e.on(s.data).ok("doctor"))
	r.check("a full disk", s.full())
}

// A treeStorm is a tree whose turns three agents have one after the other.
type treeStorm struct {
	*env
	*report
	*host
	random  *rand.Rand
	tree    string
	turns   int
	written int
	past    []pastTurn
	blind   bool // nothing can be recorded
}

func (e *env) newStorm(r *report, data, tree string) *treeStorm {
	s := &treeStorm{env: e, report: r, host: e.on(data), random: e.random(), tree: tree}
	s.host.workspace = tree
	return s
}

func (s *treeStorm) holder() string { return agents[s.turns%len(agents)] }

func (s *treeStorm) git(args ...string) error {
	return command("git", append([]string{"-C", s.tree, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
}

func (s *treeStorm) release() error {
	defer func() { s.turns++ }()
	return s.ok("release --stdin --agent " + s.holder())
}

func (s *treeStorm) begin() error {
	if err := errors.Join(os.MkdirAll(s.tree, 0o755), s.git("init", "-q")); err != nil {
		return err
	}
	s.shell(`printf '*.o\nbuild/\n' >.gitignore
		for i in $(seq 90); do seq -f "line %g of $i" 40 >$(echo src docs lib | cut -d ' ' -f $((i%3+1)))/f$i.c; done
		git add -A; git commit -qm 1; git branch -M main; git checkout -qb feature; echo x >>src/f3.c; rm lib/f2.c; git commit -qam 2
		git checkout -q main; echo y >>docs/f1.c; git commit -qam 3`)
	return s.ok(append(slices.Clone(members), "policy --ledger-wait 1m --agent "+agents[0], "snapshot --agent "+agents[0])...)
}

// files returns the content and mode of every file that git does not ignore.
func (s *treeStorm) files() map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(s.tree, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil, filepath.Ext(path) == ".o":
			return nil
		case d.Name() == ".git", d.Name() == "build":
			return filepath.SkipDir
		}
		name, _ := filepath.Rel(s.tree, path)
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
	var names []string
	for name := range s.files() {
		if info, err := os.Lstat(filepath.Join(s.tree, name)); err == nil && info.Mode().IsRegular() && name != ".gitignore" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = append(names, "src/first.c")
	s.written++
	s.shell(treeChanges[s.random.IntN(len(treeChanges))], "F="+names[s.random.IntN(len(names))],
		"G="+names[s.random.IntN(len(names))], fmt.Sprint("N=", s.written))
}

// shell runs a line in the tree. It may fail.
func (s *treeStorm) shell(line string, variables ...string) {
	c := exec.Command("sh", "-c", "mkdir -p src lib docs; "+line)
	c.Dir = s.tree
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
func (s *treeStorm) turn() error {
	was, left, err := s.changed()
	if err != nil {
		return err
	}
	if err := s.release(); err != nil {
		return err
	}
	if err := s.told(was, left, fmt.Sprint(s.turns)); err != nil {
		return err
	}
	s.past = append(s.past, pastTurn{s.turns, was, left})
	s.add(1, 0, 1)
	if s.random.IntN(2) == 0 {
		s.write()
	}
	time.Sleep(sameTick)
	return nil
}

// told compares what is told of a turn, or of the time before it, with what has changed.
func (s *treeStorm) told(was, left map[string]string, args ...string) error {
	res := s.run(append([]string{"diff", "--json", "--agent", s.holder()}, args...)...)
	var answer struct {
		Changes []struct {
			Unknown string
			Unsure  []string
			Paths   []struct{ Path string }
		}
	}
	if err := json.Unmarshal([]byte(res.stdout), &answer); err != nil || res.exit != 0 || len(answer.Changes) != 1 {
		return fmt.Errorf("diff %q: %v", args, res)
	}
	changes := answer.Changes[0]
	if changes.Unknown != "" {
		return fmt.Errorf("%q is not known: %v", args, res)
	}
	var told []string
	for _, p := range changes.Paths {
		told = append(told, p.Path)
	}
	truth := differ(was, left)
	for _, path := range append(told, truth...) {
		if slices.Contains(told, path) != slices.Contains(truth, path) && !slices.Contains(changes.Unsure, path) {
			return fmt.Errorf("%q: %s was %.20q and is %.20q: %s", args, path, was[path], left[path], res.stdout)
		}
	}
	return nil
}

// undo takes back one of the last turns. It changes what that turn did, but for what git alone has moved from
// commit to commit in it, or nothing.
func (s *treeStorm) undo() error {
	past := s.past[max(0, len(s.past)-4):]
	turn := past[s.random.IntN(len(past))]
	before := s.files()
	res := s.run("undo", fmt.Sprint(turn.number), "--agent", s.holder())
	after := s.files()
	changed, ofTurn := differ(before, after), differ(turn.was, turn.left)
	switch {
	case res.exit != 0 && (!strings.Contains(res.stderr, "undo_conflict") || len(changed) > 0):
		return fmt.Errorf("undo of turn %d has failed and changed %q: %v", turn.number, changed, res)
	case res.exit != 0:
		return nil
	}
	for _, path := range changed {
		if !slices.Contains(ofTurn, path) {
			return fmt.Errorf("undo of turn %d has changed %s: %v", turn.number, path, res)
		}
	}
	var answer struct {
		GitMoved int `json:"git_moved"`
	}
	if err := json.Unmarshal([]byte(res.stdout), &answer); err != nil {
		return fmt.Errorf("undo of turn %d: %v", turn.number, res)
	}
	for _, path := range ofTurn {
		if before[path] != turn.left[path] || after[path] == turn.was[path] {
			continue
		}
		if answer.GitMoved--; answer.GitMoved < 0 {
			return fmt.Errorf("undo of turn %d has not changed %s: %v", turn.number, path, res)
		}
	}
	return nil
}

// sameTick is how long what is written is unsure after a turn has begun or ended.
const sameTick = 20 * time.Millisecond

// changed begins a turn, and changes files when its beginning is recorded: what is written and
// removed again before that cannot be told. It returns them as they were and as they are.
func (s *treeStorm) changed() (was, left map[string]string, err error) {
	if res := s.run("wait", "--agent", s.holder()); !strings.Contains(res.stdout, "your_turn") {
		return nil, nil, fmt.Errorf("wait: %v", res)
	}
	begun := fmt.Sprintf(`"why":"start","turn_id":%d,`, s.turns+1)
	if !s.blind && !eventually(stall, func() bool { return strings.Contains(s.run("restore", "--limit", "2").stdout, begun) }) {
		return nil, nil, fmt.Errorf("the beginning of turn %d is not recorded", s.turns+1)
	}
	was = s.files()
	if n := len(s.past); n > 0 && s.past[n-1].number == s.turns {
		if err := s.told(s.past[n-1].left, was, "--outside", fmt.Sprint(s.turns+1)); err != nil {
			return nil, nil, err
		}
	}
	time.Sleep(sameTick)
	if len(s.past) > 0 && s.random.IntN(5) < 2 {
		if err := s.undo(); err != nil {
			return nil, nil, err
		}
	}
	for range 1 + s.random.IntN(6) {
		s.write()
	}
	return was, s.files(), nil
}

// killed takes back a turn, and is killed. All of the turn is taken back, but for what git alone has moved in it,
// or nothing.
func (s *treeStorm) killed() error {
	was, left, err := s.changed()
	if err != nil {
		return err
	}
	number := fmt.Sprint(s.turns + 1)
	var plan struct {
		GitMoved int `json:"git_moved"`
	}
	_ = json.Unmarshal([]byte(s.run("undo", number, "--dry-run", "--agent", s.holder()).stdout), &plan)
	p := s.command("undo", number, "--agent", s.holder())
	if err := p.launch(); err != nil {
		return err
	}
	sleepUpTo(s.random, 80*time.Millisecond)
	p.kill()
	if res := s.run("undo", number, "--dry-run", "--agent", s.holder()); res.exit != 0 && !strings.Contains(res.stderr, "undo_conflict") {
		return fmt.Errorf("undo: %v", res)
	}
	now := s.files()
	remain, undone := differ(now, was), differ(now, left)
	for _, path := range undone {
		if slices.Contains(remain, path) {
			return fmt.Errorf("an undo of turn %s has made %s something else", number, path)
		}
	}
	if len(undone) > 0 && len(remain) > plan.GitMoved {
		return fmt.Errorf("turn %s was taken back in part: %q remain", number, remain)
	}
	if strays, _ := filepath.Glob(filepath.Join(s.tree, "*", ".tt-*")); len(strays) > 0 {
		return fmt.Errorf("left behind: %v", strays)
	}
	s.add(1, 1, 1)
	return s.release()
}

// full has turns on a file system that has no place for snapshots.
func (s *treeStorm) full() error {
	if why := missing("mount"); why != "" {
		return nil
	}
	dir := s.newDir()
	if err := errors.Join(os.MkdirAll(dir, 0o755), command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir)); err != nil {
		return err
	}
	small := s.newStorm(s.report, filepath.Join(dir, "data"), s.tree)
	small.blind = true
	defer func() {
		reap(dir)
		s.check("umount", disk{dir: dir}.unmount())
	}()
	err := small.ok(members...)
	for n := 0; n < 3 && err == nil; n++ {
		if _, _, err = small.changed(); err == nil {
			err = errors.Join(command("dd", "if=/dev/urandom", "of="+filepath.Join(s.tree, "big"), "bs=1M", "count=3"), small.release())
		}
	}
	if err != nil {
		return err
	}
	strays, _ := filepath.Glob(filepath.Join(small.data, "trees", "*", "objects", "pack", "tmp-*"))
	if len(strays) > 0 {
		return fmt.Errorf("left behind: %v", strays)
	}
	return s.on(small.data).ok("doctor")
}
