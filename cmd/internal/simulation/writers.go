package simulation

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
	"github.com/talking-stick/tt/fsroom/turn"
)

// passes is called when the room has changed. Nobody's turn ends while a tool writes in it, but by what it is told to.
func (w *world) passes(before, after *turn.State) {
	if before.Owner == "" || before.Owner == after.Owner && before.Turn == after.Turn {
		return
	}
	ends := func(p *proc) bool { return p.ends(before.Owner) }
	if w.runs != nil && ends(w.runs) || w.runs == nil && slices.ContainsFunc(w.procs, ends) {
		w.overrun(before.Owner)
	}
	for _, p := range w.procs {
		if p.writer != nil && p.writer.agent == before.Owner && !p.excused && !p.Killed {
			w.find("a turn ends under its writer", "turn %d of %s has ended while %s writes by %s", before.Turn, before.Owner, p.writer.name, p.Name)
		}
	}
}

// ends reports whether the process runs a command that ends the turn of an agent, whatever runs in it.
func (p *proc) ends(agent string) bool {
	switch command, args, _ := strings.Cut(p.detail, " "); command {
	case "release", "assign", "leave", "close":
		return p.window.agent == agent
	case "kick":
		return strings.HasPrefix(args, agent+" ")
	case "take":
		return strings.Contains(args, "--operator-requested")
	}
	return false
}

// overrun excuses what writes in a turn that ends now, or has just asked for permission: those of an agent, "" for all.
func (w *world) overrun(agent string) {
	for _, p := range w.procs {
		x := cmp.Or(p.window, p.writer)
		p.excused = p.excused || agent == "" || x != nil && x.agent == agent
	}
}

// others reports whether another session is known to work in the tree.
func (w *world) others(x *window) bool {
	return slices.ContainsFunc(w.Glob("places/*/*"), func(path string) bool {
		y := w.byAgent(filepath.Base(path))
		return y != nil && y.known && y.agent != x.agent
	})
}

// permitted is called when a hook lets a window write. others is whether it knew before that somebody else works there.
func (w *world) permitted(p *proc, x *window, r result, took, others bool) {
	how, owner, me := "holds", w.look(), x.agent
	unable := strings.Contains(r.failed, "disk_full") || strings.Contains(r.failed, "data_dir_unusable")
	unsure := w.state != nil && (w.slept == w.state.Turn || w.back == w.state.Turn) // whether the lease runs, and whose the turn is
	switch {
	case took:
		how = "took the turn"
		w.took[me] = x.proc
		w.given(x)
	case unable && owner == me && unsure: // it could not be renewed
		how, p.excused = "could not be told", true
	case owner == me:
	case p.excused:
		how = "was away"
	case w.knew(p, me+" holds"):
		how = "held when it looked"
	case unable && (owner == "" || w.knew(p, fmt.Sprint("nobody holds ", w.state.Turn-1)) || !w.lives(owner) || unsure):
		how, p.excused = "could not be told", true
	case others && w.others(x):
		how = "was let pass without the turn"
		w.find("a write is let pass without the turn", "%s may write beside %q: %s", x.name, owner, r.failed)
	default:
		how, p.excused = "is alone", true
	}
	w.counts["writes"]++
	w.logf("%s (%s) WRITES: it %s", p.Name, x.name, how)
	w.says(p)
	if !p.excused {
		w.took[x.agent] = x.proc
		for _, q := range w.procs {
			if y := q.writer; y != nil && !q.excused && !q.Killed && y.agent != me {
				w.find("two write at once: one "+how, "%s %s and writes while %s writes", x.name, how, y.name)
			}
		}
	}
	x.called = x.called || x.agent == owner
	w.wantsNot(x.agent)
}

// ledgerVariable switches the ledger.
const ledgerVariable = "TALKING_STICK_LEDGER"

// restorable is called when a window may write a file, or with "" whatever it likes: what is there is recorded then.
func (w *world) restorable(x *window, file string) {
	if slices.ContainsFunc(w.procs, func(q *proc) bool { return q.writer != nil }) {
		return // it changes the tree meanwhile
	}
	if w.counts["beginnings"]++; !w.isRecorded(file) {
		w.find("the beginning is not recorded", "%s may write %q in turn %d, and nothing has what the tree is now", x.name, file, w.state.Turn)
	}
}

// given is called when a window knows that it has the turn: what changes the tree for somebody else has stopped.
func (w *world) given(x *window) {
	for _, p := range w.procs {
		p.older = p.older || p.window != nil && p.window.agent == x.agent // what it says next may be from before
		if isUndo(p) && p.window.agent != x.agent && !slices.Contains(w.undos, p) {
			w.undos = append(w.undos, p)
		}
	}
	w.keepTree()
}

func isUndo(p *proc) bool { return strings.HasPrefix(p.detail, "undo") && p.Points > 0 && !p.Killed }

// keepTree notes what the files are.
func (w *world) keepTree() {
	for name := range w.tree {
		b, _ := os.ReadFile(filepath.Join(w.dir, name))
		w.tree[name] = string(b)
	}
}

// still checks that an undo changes nothing in the turn of somebody else.
func (w *world) still() {
	if slices.ContainsFunc(w.procs, func(p *proc) bool { return isUndo(p) && !slices.Contains(w.undos, p) }) {
		w.keepTree()
	}
	for _, p := range w.undos {
		for name, text := range w.tree {
			if b, _ := os.ReadFile(filepath.Join(w.dir, name)); string(b) != text {
				w.find("an undo writes in the next turn", "%s (%s) has made %q of %s, which was %q", p.Name, p.window.name, b, name, text)
			}
		}
	}
	w.undos = slices.DeleteFunc(w.undos, func(p *proc) bool { return p.State == machine.Finished })
}
