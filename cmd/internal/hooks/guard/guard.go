// Package guard has the rules of the guards: the stop guard holds back, once in each
// turn, an agent that has the stick or for which it is reserved, and tells it how to hand
// over; the edit guard refuses a write while another agent has the stick, and the shell
// guard a command that would write.
package guard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
)

// A Stick is the state of one room's talking stick, as seen by the caller.
type Stick struct {
	Root        string // the room's canonical path
	Me          string // the agent id of the caller, "" if it is not a member
	Holder      string // who holds the stick with a live lease, or ""
	Lapsed      bool   // the caller's turn has outlived its lease, and nobody has taken it over
	Window      int    // the process of the caller's session that holds the stick, which is the caller in another window; 0: none
	ReservedFor string // for whom it is reserved with a live claim, or ""
	Turn        int64
	// Unconfirmed is "since" and when the engine of a shared room has confirmed the
	// caller's turn last, if that is too long ago to know that the caller has it still.
	// Otherwise it is "".
	Unconfirmed string
	// ActsForHolder is true for a session that a command of the holder has started, or that has started the holder.
	ActsForHolder bool
	Works         bool   // the caller holds the stick and ends its turn, but a job of it runs, or a task and hooks have taken the turn
	ShellGuard    bool   // commands of the shell are guarded
	Trouble       string // what is wrong with the holder, and what to do; "" if nothing is
	TakenOver     string // that the caller's turn was taken over; "" if it was not
	Changing      bool   // an undo or restore changes the tree at this moment
	// Take is set if a write has to have the turn, which the session may have: then it asks
	// for it.
	Take bool
	// Next returns what the session is to do when it was refused. It is nil where nothing calls
	// the session: then it waits itself.
	Next func() string
}

// Rooms finds the talking stick that governs a path.
type Rooms interface {
	// Stick returns the stick of the room that path is in, seen by the agent
	// of call's session; nil if there is no room. It changes nothing, not
	// even presence.
	Stick(ctx context.Context, path string, call payload.Call) (*Stick, error)
	// Held returns the sticks, seen so, of the open rooms whose turn somebody has and whose
	// directory counts.
	Held(ctx context.Context, call payload.Call, counts func(dir string) bool) []*Stick
	// Neighbours returns the other sessions that live in other working trees of the repository
	// that path is in, nil if there are none or the shell is not guarded at all.
	Neighbours(ctx context.Context, path string, call payload.Call) []Neighbour
}

// Stop returns the reason why the agent must not end its turn yet, "" if it may. What
// cannot be found out is permitted. The reason contains text of other people as it is:
// control characters must be escaped before it is shown. Beside the room of the directory in which the session works
// those of elsewhere count, in which it holds the stick.
func Stop(ctx context.Context, call payload.Call, rooms Rooms, seen SeenStore, elsewhere ...string) (reason string) {
	if call.Subagent || call.Busy || call.Dir == "" {
		return ""
	}
	var looked []*Stick
	for _, dir := range append([]string{call.Dir}, elsewhere...) {
		stick, err := rooms.Stick(ctx, dir, call)
		if err != nil || stick == nil || stick.Me == "" || stick.Works || slices.Contains(looked, stick) {
			continue
		}
		if reason = stopAt(ctx, stick, call, rooms, seen); reason != "" {
			break
		}
		looked = append(looked, stick)
	}
	return reason
}

// stopAt is Stop for one stick.
func stopAt(ctx context.Context, stick *Stick, call payload.Call, rooms Rooms, seen SeenStore) string {
	var reason, what string
	switch stick.Me {
	case stick.Holder:
		reason, what = stillHolding(stick, stickHere(ctx, call, rooms)), "holding"
	case stick.ReservedFor:
		reason, what = stillReserved(stick), "reserved"
	}
	if reason == "" || !maySay(call, seen, fmt.Sprintf("%s %d %q", what, stick.Turn, stick.Root)) {
		return ""
	}
	return reason
}

// maySay reports whether the guard holds the session back with what: once for each
// turn of the stick. That the agent already goes on because a guard made it says
// nothing of this turn, since a turn of the model that a notification has started
// looks the same to its harness. It counts only where what was said cannot be
// remembered: some harnesses would let a guard hold their agent back for ever.
func maySay(call payload.Call, seen SeenStore, what string) bool {
	first, remembered := seen.First(call, what)
	if first && !remembered {
		return !call.Repeated && harness.Get(call.Harness).Input.Repeated != ""
	}
	return first
}

// Edit returns the reason why a tool must not write, as [Stop] does. If there is none, writes are paths in the trees
// that the session holds and is about to change. If the session has to have a turn first, take is the stick.
func Edit(ctx context.Context, call payload.Call, rooms Rooms) (reason string, writes []Write, take *Stick) {
	paths := call.Paths
	if len(paths) == 0 && call.Dir != "" {
		paths = []string{call.Dir}
	}
	for _, path := range slices.Clone(paths) {
		if to := target(path); to != "" {
			paths = append(slices.Clip(paths), to)
		}
	}
	for _, path := range paths {
		stick, err := rooms.Stick(ctx, path, call)
		switch {
		case err != nil || stick == nil:
		case stick.Unconfirmed != "":
			return unconfirmed(stick, stickHere(ctx, call, rooms)), nil, nil
		case stick.isHeld() && !stick.isMine():
			return heldByOther(stick, stickHere(ctx, call, rooms)), nil, nil
		case stick.Changing:
			return changing(stick), nil, nil
		case stick.Take:
			take = stick
		case stick.inTurn():
			i := slices.IndexFunc(writes, func(w Write) bool { return w.Path == stick.Root })
			if i < 0 {
				i, writes = len(writes), append(writes, Write{Path: stick.Root})
			}
			writes[i].Files = append(writes[i].Files, path)
		}
	}
	return "", writes, take
}

// stickHere returns the stick of the directory in which the session works, nil if there is
// none.
func stickHere(ctx context.Context, call payload.Call, rooms Rooms) *Stick {
	if call.Dir == "" {
		return nil
	}
	stick, err := rooms.Stick(ctx, call.Dir, call)
	if err != nil {
		return nil
	}
	return stick
}

func stillHolding(s, here *Stick) string {
	in, _ := where(s, here)
	return fmt.Sprintf("You still hold the talking stick for %s (turn %d), so nobody else can work there. "+
		"Go on if you are not done. If you are, hand over: "+
		`tt release --status "what is done" --next-action "what comes next"%[3]s. `+
		"If you want to drop out, release first and then run: tt leave%[3]s", s.Root, s.Turn, in)
}

func stillReserved(s *Stick) string {
	return fmt.Sprintf("The talking stick for %s is reserved for you (turn %d was the last). "+
		"Take it with: tt wait --json. If you do not want it, give it up with: tt leave", s.Root, s.Turn)
}

// unconfirmed says that the turn may be lost. here is as for heldByOther.
func unconfirmed(s, here *Stick) string {
	in, _ := where(s, here)
	return fmt.Sprintf("The engine has not confirmed your turn for %s %s (turn %d); another agent may have it, so this file must not be changed now. "+
		"Ask for it with: tt wait --json%s, and write only after it answers your_turn", s.Root, s.Unconfirmed, s.Turn, in)
}

// changing says that the tree is changed by tt itself.
func changing(s *Stick) string {
	return fmt.Sprintf("An undo or restore changes the files of %s at this moment, so nothing else may. %s", s.Root, cmp.Or(s.trouble(), "Do the same again in a moment"))
}

// heldByOther says which stick is missing. here is that of the directory in which the
// session works, nil if it has none; the commands need a path where it is another one.
func heldByOther(s, here *Stick) string {
	in, other := where(s, here)
	next := fmt.Sprintf("Wait for your turn with: tt wait --json%s, and write only after it answers your_turn.", in)
	if s.Window == 0 {
		next += fmt.Sprintf(" To reach the holder: tt msg send %s \"…\"%s", s.Holder, in)
	}
	return fmt.Sprintf("The talking stick for %s is held by %s (turn %d), so this file must not be changed now. %s%s", s.Root, s.holder(), s.Turn, other, s.next(next))
}

// holder says who holds the stick.
func (s *Stick) holder() string {
	if s.Window != 0 {
		return fmt.Sprintf("this session, in another window (process %d)", s.Window)
	}
	return s.Holder
}

// next says how a session comes to be refused whose turn was taken over, and what it is to do.
// What is wrong with the holder goes before that it is called, and before waiting.
func (s *Stick) next(wait string) string {
	if s.Next != nil {
		wait = s.Next()
	}
	wait = cmp.Or(s.trouble(), wait)
	if s.TakenOver != "" {
		return s.TakenOver + " " + wait
	}
	return wait
}

// trouble is Trouble as a sentence of its own. The id of an agent keeps its letters.
func (s *Stick) trouble() string {
	switch first, _, _ := strings.Cut(s.Trouble, " "); first {
	case "the", "no", "process", "it":
		return strings.ToUpper(s.Trouble[:1]) + s.Trouble[1:]
	}
	return s.Trouble
}

// where returns the flag that names the room of s, and a sentence about another room in
// which the session works; "" where they are not needed.
func where(s, here *Stick) (in, other string) {
	if here == nil || here.Root != s.Root {
		in = " --path " + code.ShellWord(s.Root)
	}
	if in != "" && here != nil {
		part := "That workspace"
		if isWithin(here.Root, s.Root) || isWithin(s.Root, here.Root) {
			part = "This part of the workspace"
		}
		other = part + " has a stick of its own; that of " + here.Root + " does not count here. "
	}
	return in, other
}
