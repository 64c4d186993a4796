package hook

import (
	"context"
	"fmt"

	"github.com/talking-stick/tt/identity/harness"
)

// A Stick is the state of one room's talking stick, as seen by the caller.
type Stick struct {
	Root        string // the room's canonical path
	Me          string // the agent id of the caller, "" if it is not a member
	Holder      string // who holds the stick with a live lease, or ""
	ReservedFor string // for whom it is reserved with a live claim, or ""
	Turn        int64
}

// Rooms finds the talking stick that governs a path.
type Rooms interface {
	// Stick returns the stick of the room that path is in, seen by the agent
	// of call's session; nil if there is no room. It changes nothing, not
	// even presence.
	Stick(ctx context.Context, path string, call Call) (*Stick, error)
}

// A Memory knows what was said to a session last. [SeenStore] keeps it on disk.
type Memory interface {
	// First reports whether what differs from the last message to call's session.
	First(call Call, what string) bool
}

// Decide applies the guard that call asks for. It returns the reason to refuse, or
// "" to permit. What cannot be found out is permitted. The reason contains text of
// other people as it is: control characters must be escaped before it is shown.
func Decide(ctx context.Context, call Call, rooms Rooms, memory Memory) string {
	switch call.Kind {
	case Stop:
		return decideStop(ctx, call, rooms, memory)
	case Edit:
		return decideEdit(ctx, call, rooms)
	}
	return ""
}

func decideStop(ctx context.Context, call Call, rooms Rooms, memory Memory) string {
	if call.Repeated || call.Subagent || call.Busy || call.Dir == "" {
		return ""
	}
	stick, err := rooms.Stick(ctx, call.Dir, call)
	if err != nil || stick == nil || stick.Me == "" {
		return ""
	}
	var reason, what string
	switch stick.Me {
	case stick.Holder:
		reason, what = stillHolding(stick), "holding"
	case stick.ReservedFor:
		reason, what = stillReserved(stick), "reserved"
	default:
		return ""
	}
	if harness.Get(call.Harness).Input.Repeated == "" && !memory.First(call, fmt.Sprintf("%s %d %s", what, stick.Turn, stick.Root)) {
		return ""
	}
	return reason
}

func decideEdit(ctx context.Context, call Call, rooms Rooms) string {
	paths := call.Paths
	if len(paths) == 0 && call.Dir != "" {
		paths = []string{call.Dir}
	}
	for _, path := range paths {
		stick, err := rooms.Stick(ctx, path, call)
		if err == nil && stick != nil && stick.Holder != "" && stick.Holder != stick.Me {
			return heldByOther(stick)
		}
	}
	return ""
}

func stillHolding(s *Stick) string {
	return fmt.Sprintf("You still hold the talking stick for %s (turn %d), so nobody else can work there. "+
		"Go on if you are not done. If you are, hand over: "+
		`tt release --status "what is done" --next-action "what comes next"`+
		". If you want to drop out, release first and then run: tt leave", s.Root, s.Turn)
}

func stillReserved(s *Stick) string {
	return fmt.Sprintf("The talking stick for %s is reserved for you (turn %d was the last). "+
		"Take it with: tt wait --json. If you do not want it, give it up with: tt leave", s.Root, s.Turn)
}

func heldByOther(s *Stick) string {
	return fmt.Sprintf("The talking stick for %s is held by %s (turn %d), so this file must not be changed now. "+
		"Wait for your turn with: tt wait --json, and write only after it answers your_turn. "+
		"To reach the holder: tt msg send %[2]s \"…\"", s.Root, s.Holder, s.Turn)
}
