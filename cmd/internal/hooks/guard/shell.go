package guard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// Patience is how long a command may take to classify, which is a millisecond at most for
// what anybody writes; the rest is for a machine that is busy. Tests allow more.
var Patience = 250 * time.Millisecond

// A Change is an effect of a command, and the stick of the room in which it is.
type Change struct {
	shell.Effect
	Stick   *Stick      // nil if it is in no room
	Ignored bool        // git does not track what is changed
	Refused bool        // another agent has the stick, or others share the stash
	Other   bool        // the room is another one than that of the path which the command names
	Sharing []Neighbour // of a stash that is moved
}

// A Neighbour is a session in another working tree of a repository.
type Neighbour struct {
	AgentID string `json:"agent_id"`
	Path    string `json:"path"` // of the tree
}

// A Judgement is what a command would do, and whether it may.
type Judgement struct {
	Changes []Change
	Unknown []string
}

// Refused returns the first change that is refused, nil if the command may run.
func (j Judgement) Refused() *Change {
	for i := range j.Changes {
		if j.Changes[i].Refused {
			return &j.Changes[i]
		}
	}
	return nil
}

// Ignored reports for each path below root whether git ignores it, or would if it was there.
type Ignored func(ctx context.Context, root string, paths []string) []bool

// A Write is what a tool is about to change: a tree, or a path that is in no room.
type Write struct {
	Path     string
	Destroys string   // the operation, if it takes away more than it names
	Files    []string // that alone are written, if that is known
}

// Shell returns the reason why a shell must not run the command of call, as [Stop] does. writes are as for [Edit], also if it
// is not known what the command does; where nobody holds, they are what destroys. take is as for Edit.
func Shell(ctx context.Context, call payload.Call, env shell.Env, rooms Rooms, ignores Ignored) (reason string, writes []Write,
	take *Stick) {
	j := JudgeCommand(ctx, call, env, rooms, func(ctx context.Context, root string, paths []string) []bool {
		stick, err := rooms.Stick(ctx, root, call)
		if err == nil && stick != nil && stick.inTurn() && stick.Unconfirmed == "" && !stick.Changing {
			return make([]bool, len(paths)) // to record costs less than to ask git
		}
		return ignores(ctx, root, paths)
	})
	if c := j.Refused(); c != nil {
		if c.Sharing != nil {
			return cli.Line(stashRefused(c)), nil, nil
		}
		here := stickHere(ctx, call, rooms)
		switch s := c.Stick; {
		case s.Unconfirmed != "":
			return cli.Line(unconfirmed(s, here)), nil, nil
		case s.Changing && (!s.isHeld() || s.isMine()):
			return cli.Line(changing(s)), nil, nil
		}
		return shellRefused(c, here), nil, nil
	}
	for _, c := range j.Changes {
		destroys := ""
		if c.Destroys && c.Op != "rm" { // that of a file which the turn has made is its own affair
			destroys = c.Op
		}
		switch {
		case c.Ignored:
		case c.Stick == nil:
			if c.Destroys {
				writes = append(writes, Write{Path: c.Path, Destroys: destroys})
			}
			if dir := workspace.Canonical(call.Dir); c.Destroys && c.takes(dir) { // what is above, and with it the tree of the session
				writes = append(writes, Write{Path: dir, Destroys: destroys})
			}
		case c.Stick.Take && c.Stick.ShellGuard:
			take = c.Stick
		case c.Stick.inTurn(), !c.Stick.isHeld() && c.Destroys:
			writes = append(writes, Write{Path: c.Stick.Root, Destroys: destroys})
		}
	}
	if len(j.Unknown) > 0 { // it may write
		if here := stickHere(ctx, call, rooms); here != nil && here.inTurn() {
			writes = append(writes, Write{Path: here.Root})
		}
	}
	return "", writes, take
}

// JudgeCommand judges the command of call. What cannot be found out is permitted.
func JudgeCommand(ctx context.Context, call payload.Call, env shell.Env, rooms Rooms, ignores Ignored) Judgement {
	result := classify(call.Command, env)
	j := Judgement{Unknown: result.Unknown}
	asked := map[string][]int{} // the changes of which git has to be asked, by room
	for _, e := range withTargets(result.Effects) {
		at := e.Path
		if changesLink(e) {
			at = filepath.Dir(at)
		}
		stick, _ := rooms.Stick(ctx, at, call)
		if stick == nil && e.Below {
			if here := stickHere(ctx, call, rooms); here != nil && isWithin(e.Path, here.Root) {
				stick = here
			}
		}
		c := Change{Effect: e, Stick: stick}
		if stick != nil {
			c.Refused = stick.refuses()
			if !e.Git && e.Path != stick.Root && isWithin(stick.Root, e.Path) {
				asked[stick.Root] = append(asked[stick.Root], len(j.Changes))
			}
		}
		if e.Stash && (stick == nil || stick.ShellGuard) {
			c.Sharing = rooms.Neighbours(ctx, e.Path, call)
			c.Refused = c.Refused || c.Sharing != nil
		}
		j.Changes = append(j.Changes, c)
		for _, other := range elsewhere(ctx, call, env, rooms, c) {
			if !e.Git && other.Path != other.Stick.Root {
				asked[other.Stick.Root] = append(asked[other.Stick.Root], len(j.Changes))
			}
			j.Changes = append(j.Changes, other)
		}
	}
	for root, list := range asked {
		paths := make([]string, len(list))
		for i, n := range list {
			paths[i] = j.Changes[n].Path
		}
		for i, ignored := range ignores(ctx, root, paths) {
			if c := &j.Changes[list[i]]; ignored {
				c.Ignored, c.Refused = true, false
			}
		}
	}
	return j
}

// elsewhere returns the changes of the same effect in other rooms than that of its path: in rooms below, and of git in
// that of the top of the repository or of a path that is named. One that is not refused counts if it destroys.
func elsewhere(ctx context.Context, call payload.Call, env shell.Env, rooms Rooms, c Change) (all []Change) {
	for _, pattern := range c.Reach() {
		from := shell.Beginning(pattern)
		at := workspace.Canonical(from)
		if real, err := filepath.EvalSymlinks(from); err == nil && (c.Git || from != pattern) {
			at = real
		}
		pattern = strings.TrimSuffix(at, "/") + strings.TrimPrefix(pattern, from)
		counts := func(dir string) bool {
			_, ok := c.Reaches(pattern, dir)
			isKnown := func(k Change) bool { return k.Stick != nil && k.Stick.Root == dir }
			return ok && !isKnown(c) && !slices.ContainsFunc(all, isKnown) &&
				(!c.Own || env.Top == nil || env.Top(dir) == env.Top(at))
		}
		sticks := rooms.Held(ctx, call, func(dir string) bool { return isWithin(at, dir) && counts(dir) })
		if stick, err := rooms.Stick(ctx, at, call); c.Git && err == nil && stick != nil && counts(stick.Root) {
			sticks = append(sticks, stick)
		}
		for _, s := range sticks {
			if !s.refuses() && (s.Take || !c.Destroys) || !counts(s.Root) {
				continue
			}
			below, _ := c.Reaches(pattern, s.Root)
			all = append(all, Change{Effect: c.Effect, Stick: s, Refused: s.refuses(), Other: true})
			all[len(all)-1].Path = filepath.Join(s.Root, below)
		}
	}
	return all
}

// takes reports whether a directory is part of what the change is made to.
func (c *Change) takes(dir string) bool {
	return isWithin(c.Path, dir) || slices.ContainsFunc(c.Reach(), func(pattern string) bool {
		below, ok := c.Reaches(pattern, dir)
		return ok && below == ""
	})
}

// refuses reports whether the guard refuses a command that writes in the room.
func (s *Stick) refuses() bool {
	return s.ShellGuard && (s.Unconfirmed != "" || s.Changing || s.isHeld() && !s.isMine())
}

func (s *Stick) isHeld() bool { return s.Holder != "" }

// isMine reports whether the session may do what the holder may.
func (s *Stick) isMine() bool { return s.Holder == s.Me || s.ActsForHolder }

// inTurn reports whether what the session writes is written in the turn in progress.
func (s *Stick) inTurn() bool { return s.isHeld() && s.isMine() || s.Lapsed }

// classify is [shell.Classify], or unknown if that takes too long.
func classify(command string, env shell.Env) shell.Result {
	done := make(chan shell.Result, 1)
	go func() { done <- shell.Classify(command, env) }()
	select {
	case r := <-done:
		return r
	case <-time.After(Patience):
		return shell.Result{Unknown: []string{"a command that takes too long to follow"}}
	}
}

// withTargets returns the effects with canonical paths, and those on files that others are links to.
func withTargets(effects []shell.Effect) (all []shell.Effect) {
	for _, e := range effects {
		e.Path = workspace.Canonical(e.Path)
		all = append(all, e)
		to := ""
		switch info, err := os.Stat(e.Path); {
		case e.Git:
		case !changesLink(e):
			to = target(e.Path)
		case err == nil && info.IsDir() && (e.Below || e.Op == "mv" || e.Op == "ln"): // what is in the directory, too
			to, _ = filepath.EvalSymlinks(e.Path)
		}
		if to != "" {
			e.Path = to
			all = append(all, e)
		}
	}
	return all
}

// changesLink reports whether what the effect changes is a link, and not what it leads to.
func changesLink(e shell.Effect) bool {
	program, _, _ := strings.Cut(e.Op, " ")
	_, err := os.Readlink(e.Path)
	return err == nil && !e.Git && slices.Contains(ofLinks, program)
}

// ofLinks are the programs that change a link and not what it leads to.
var ofLinks = []string{"rm", "rmdir", "unlink", "mv", "ln", "find", "trash"}

// mostLinks is how many links lead to a file at most.
const mostLinks = 40

// target returns the file that a path leads to, which need not be there, "" if the path is no link to one.
func target(path string) string {
	for n := range mostLinks {
		to, err := os.Readlink(path)
		if info, failed := os.Stat(path); err != nil || failed == nil && info.IsDir() {
			if n == 0 {
				return ""
			}
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = workspace.Canonical(to)
	}
	return ""
}

func isWithin(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// stashRefused says whose stash a command would move, and what to do instead.
func stashRefused(c *Change) string {
	n := c.Sharing[0]
	return fmt.Sprintf("`%s` would move the stash, which all working trees of the repository share, and %s works in %s. "+
		"Make a commit on a branch of its own instead. To have a stash that is there, name it by its hash, which git rev-parse stash@{N} prints: git stash apply HASH",
		c.Op, n.AgentID, n.Path)
}

// shellRefused says what a command would change. here is as for heldByOther.
func shellRefused(c *Change, here *Stick) string {
	s := c.Stick
	in, _ := where(s, here)
	next := s.next("Wait for your turn with: tt wait --json" + in)
	return cli.Line(fmt.Sprintf("`%s` would change the tree of %s, whose talking stick %s holds (turn %d). "+
		"Reading, building, testing, ignored directories and paths outside of the workspace are free.", c.Op, s.Root, s.holder(), s.Turn)) + "\n" + cli.Line(next)
}
