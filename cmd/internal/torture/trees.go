//go:build linux

package torture

import (
	"encoding/json"
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
// repository, the store is pruned, and others write between the turns: what is recorded of a turn is what it changed.
// Then undos and releases are killed: the tree is as before or as after. At last the disk is
// full: turns go on.
func turnsOfTrees(e *env, r *report) {
	s := &treeStorm{env: e, report: r, random: e.random(), data: e.newDir(), tree: e.newDir()}
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
		r.check("a killed undo", s.killed())
	}
	stop.close()
	collected.Wait()
	stores, _ := filepath.Glob(filepath.Join(s.data, "trees", "*"))
	for _, store := range stores {
		r.check("git fsck", command("git", "--git-dir", store, "fsck", "--no-dangling"))
	}
	r.check("doctor", e.ok(s.data, "doctor"))
	r.check("a full disk", s.full())
}

// A treeStorm is a tree whose turns two agents have one after the other.
type treeStorm struct {
	*env
	*report
	random     *rand.Rand
	data, tree string
	turns      int
	written    int
	blind      bool // nothing can be recorded
}

func (s *treeStorm) holder() string { return agents[s.turns%2] }

func (s *treeStorm) git(args ...string) error {
	return command("git", append([]string{"-C", s.tree, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
}

func (s *treeStorm) process(args ...string) *process {
	p := s.command(s.data, s.line(nil, args...)...)
	p.Dir = s.tree
	return p
}

func (s *treeStorm) tt(args ...string) *outcome { return s.process(args...).run() }

func (s *treeStorm) begin() error {
	if err := os.MkdirAll(s.tree, 0o755); err != nil {
		return err
	}
	if err := s.git("init", "-q"); err != nil {
		return err
	}
	for range 40 {
		s.write()
	}
	for _, line := range []string{members[0], members[1], "policy --ledger-wait 1m --agent " + agents[0], "snapshot --agent " + agents[0]} {
		if r := s.tt(strings.Fields(line)...); r.exit != 0 {
			return fmt.Errorf("tt %s: %v", line, r)
		}
	}
	return nil
}

// files returns the content and mode of every file.
func (s *treeStorm) files() map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(s.tree, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.Type().IsRegular():
			info, err := d.Info()
			if b, readErr := os.ReadFile(path); err == nil && readErr == nil {
				name, _ := filepath.Rel(s.tree, path)
				all[name] = info.Mode().String() + string(b)
			}
		}
		return nil
	})
	return all
}

// write changes one file.
func (s *treeStorm) write() {
	names := slices.Sorted(maps.Keys(s.files()))
	path := filepath.Join(s.tree, fmt.Sprintf("d%d", s.random.IntN(5)), fmt.Sprintf("f%d", s.random.IntN(60)))
	old := path
	if len(names) > 0 {
		old = filepath.Join(s.tree, names[s.random.IntN(len(names))])
	}
	s.written++
	content := []byte(strings.Repeat(fmt.Sprintf("line %d\n", s.written), 1+s.random.IntN(50)))
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	switch s.random.IntN(6) {
	case 0:
		_ = os.Remove(old)
	case 1:
		_ = os.Rename(old, path)
	case 2:
		_ = os.Chmod(old, []os.FileMode{0o644, 0o755}[s.random.IntN(2)])
	case 3:
		_ = s.git("add", "-A")
		_ = s.git("commit", "-q", "-m", "x")
	case 4:
		_ = os.WriteFile(old, content, 0o644)
	default:
		_ = os.WriteFile(path, content, 0o644)
	}
}

// turn has one turn, and a write of somebody else after it.
func (s *treeStorm) turn() error {
	was, left, err := s.changed()
	if err != nil {
		return err
	}
	res := s.tt("release", "--stdin", "--agent", s.holder())
	s.turns++
	var answer struct {
		Changes struct {
			Unknown string
			Unsure  []string
			Paths   []struct{ Path string }
			More    int `json:"more_paths"`
		}
	}
	if err := json.Unmarshal([]byte(res.stdout), &answer); err != nil || res.exit != 0 {
		return fmt.Errorf("release: %v", res)
	}
	if answer.Changes.Unknown != "" {
		return fmt.Errorf("turn %d is not known: %v", s.turns, res)
	}
	told := map[string]bool{}
	for _, p := range answer.Changes.Paths {
		told[p.Path] = true
		if was[p.Path] == left[p.Path] && !slices.Contains(answer.Changes.Unsure, p.Path) {
			return fmt.Errorf("turn %d has not changed %s: %v", s.turns, p.Path, res)
		}
	}
	for path := range was {
		left[path] += "" // also a file that is gone
	}
	for path := range left {
		if was[path] != left[path] && answer.Changes.More == 0 && !told[path] && !slices.Contains(answer.Changes.Unsure, path) {
			return fmt.Errorf("turn %d has changed %s, from %.20q to %.20q: %s", s.turns, path, was[path], left[path], res.stdout)
		}
	}
	s.add(1, 0, 1)
	s.write()
	time.Sleep(sameTick)
	return nil
}

// sameTick is how long what is written is unsure after a turn has begun or ended.
const sameTick = 20 * time.Millisecond

// changed begins a turn, and changes files when its beginning is recorded: what is written and
// removed again before that cannot be told. It returns them as they were and as they are.
func (s *treeStorm) changed() (was, left map[string]string, err error) {
	if res := s.tt("wait", "--agent", s.holder()); !strings.Contains(res.stdout, "your_turn") {
		return nil, nil, fmt.Errorf("wait: %v", res)
	}
	begun := fmt.Sprintf(`"why":"start","turn_id":%d,`, s.turns+1)
	if !s.blind && !eventually(10*time.Second, func() bool { return strings.Contains(s.tt("restore", "--limit", "2").stdout, begun) }) {
		return nil, nil, fmt.Errorf("the beginning of turn %d is not recorded", s.turns+1)
	}
	was = s.files()
	time.Sleep(sameTick)
	for range 1 + s.random.IntN(12) {
		s.write()
	}
	return was, s.files(), nil
}

// killed takes back a turn, and is killed.
func (s *treeStorm) killed() error {
	was, left, err := s.changed()
	if err != nil {
		return err
	}
	number := fmt.Sprint(s.turns + 1)
	p := s.process("undo", number, "--agent", s.holder())
	if err := p.launch(); err != nil {
		return err
	}
	sleepUpTo(s.random, 80*time.Millisecond)
	p.kill()
	if res := s.tt("undo", number, "--dry-run", "--agent", s.holder()); res.exit != 0 && !strings.Contains(res.stderr, "undo_conflict") {
		return fmt.Errorf("undo: %v", res)
	}
	if now := s.files(); !maps.Equal(now, was) && !maps.Equal(now, left) {
		return fmt.Errorf("turn %s was taken back in part", number)
	}
	if strays, _ := filepath.Glob(filepath.Join(s.tree, "*", ".tt-*")); len(strays) > 0 {
		return fmt.Errorf("left behind: %v", strays)
	}
	res := s.tt("release", "--stdin", "--agent", s.holder())
	s.turns++
	s.add(1, 1, 1)
	if res.exit != 0 {
		return fmt.Errorf("release: %v", res)
	}
	return nil
}

// full has turns on a file system that has no place for snapshots.
func (s *treeStorm) full() error {
	if why := missing("mount"); why != "" {
		return nil
	}
	dir := s.newDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir); err != nil {
		return err
	}
	small := &treeStorm{env: s.env, report: s.report, random: s.random, data: filepath.Join(dir, "data"), tree: s.tree, blind: true}
	defer func() {
		reap(small.data)
		s.check("umount", disk{dir: dir}.unmount())
	}()
	for _, agent := range agents[:2] {
		if res := small.tt("join", "--agent", agent); res.exit != 0 {
			return fmt.Errorf("join: %v", res)
		}
	}
	for range 3 {
		if _, _, err := small.changed(); err != nil {
			return err
		}
		big := exec.Command("dd", "if=/dev/urandom", "of="+filepath.Join(s.tree, "big"), "bs=1M", "count=3")
		if err := big.Run(); err != nil {
			return err
		}
		if res := small.tt("release", "--stdin", "--agent", small.holder()); res.exit != 0 {
			return fmt.Errorf("release on a full disk: %v", res)
		}
		small.turns++
	}
	strays, _ := filepath.Glob(filepath.Join(small.data, "trees", "*", "objects", "pack", "tmp-*"))
	if len(strays) > 0 {
		return fmt.Errorf("left behind: %v", strays)
	}
	return s.ok(small.data, "doctor")
}
