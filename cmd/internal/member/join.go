package member

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// JoinToAsk is [Client.Join] for an agent that asks for the turn. If it was a member of the
// room when that was closed, and nobody has joined since, the error is a [ClosedError].
func (c *Client) JoinToAsk(ctx context.Context, w *workspace.Workspace) (*Room, *snapshot, error) {
	if err := c.CheckClosed(ctx, w); err != nil {
		return nil, nil, err
	}
	return c.joinAs(ctx, w, false, false, true)
}

// Join finds or creates the room of the workspace and makes the agent a member, or with observe an observer if it is no
// member yet. With forceNew the room is that of exactly the workspace's path.
func (c *Client) Join(ctx context.Context, w *workspace.Workspace, forceNew, observe bool) (*Room, *snapshot, error) {
	return c.joinAs(ctx, w, forceNew, observe, false)
}

// joinAs is Join for an agent that may ask for the turn. It warns one that is to observe and is a member, or the reverse.
func (c *Client) joinAs(ctx context.Context, w *workspace.Workspace, forceNew, observe, asks bool) (*Room, *snapshot, error) {
	r, err := c.SelectRoom(w, forceNew)
	if err != nil {
		return nil, nil, err
	}
	r.Asks = asks
	snap, err := r.join(ctx, observe)
	if err != nil {
		return r, snap, err
	}
	switch observer := snap.State.Member(r.Self.ID).Observer; {
	case observe && !observer:
		r.Warning = "you are a member already, and stay one; to observe only, \"tt leave\" first"
	case !observe && observer:
		r.Warning = snap.State.Owner + " has started you: you act for it and observe; \"tt wait\" makes you a member once it has released"
	}
	return r, snap, nil
}

// SelectRoom returns the room that a join goes to, and creates nothing. Created and
// Warning of the room are set.
func (c *Client) SelectRoom(w *workspace.Workspace, forceNew bool) (*Room, error) {
	inside, outside := w.Chain(), w.Above()
	at := w.Root
	if forceNew {
		inside, outside, at = inside[:1], append(inside[1:], outside...), w.Path
	}
	r, _, err := c.find(w, inside)
	if err != nil {
		return nil, err
	}
	if r != nil {
		if forceNew {
			r.Warning = "--force-new had no effect: there is a room at exactly this path; for a room of its own, join a directory below it"
		}
		return r, nil
	}
	if w.ByID() && c.away == nil && c.openEnded(w) == nil {
		return nil, noRoom(w)
	}
	outer, above, err := c.find(w, outside)
	if err != nil {
		return nil, err
	}
	var warnings []string
	switch {
	case outer == nil:
	case forceNew:
		warnings = append(warnings, "created a nested room inside the ancestor room at "+outer.above(above.State)+heldBy(above.State)+
			"; the stick of the new one counts below "+at+" alone, until its last member leaves")
	default:
		warnings = append(warnings, fmt.Sprintf("there is another room above the workspace root, at %s%s: this one has a stick of "+
			"its own; to share that one: --path %s", outer.above(above.State), heldBy(above.State), code.ShellWord(outer.above(above.State))))
	}
	if isEverywhere(at) {
		warnings = append(warnings, "the room is at "+at+", above nearly everything: leave it with \"tt leave\", and join in the "+
			"directory of the work")
	}
	for _, st := range c.lost() {
		warnings = append(warnings, lostHint(st, c.Self.ID, false))
	}
	r = c.Room(fsroom.RoomName(w.Identity(at)), w)
	r.Created, r.Warning = true, strings.Join(warnings, "; ")
	return r, nil
}

// isEverywhere reports whether a directory is one that has the work of many projects below
// it: the root, the home directory, or the one for temporary files.
func isEverywhere(dir string) bool {
	home, _ := os.UserHomeDir()
	for _, wide := range []string{string(filepath.Separator), home, os.TempDir()} {
		if real, err := filepath.EvalSymlinks(wide); wide != "" && (dir == wide || err == nil && dir == real) {
			return true
		}
	}
	return false
}

// join makes the agent a member of the room, creating the room if need be. One that the holder
// has started acts for it and gets no turn, so it becomes an observer.
func (r *Room) join(ctx context.Context, observe bool) (*snapshot, error) {
	snap, err := r.FS.View()
	if err != nil {
		return nil, err
	}
	if err := r.checkHost(snap.State); err != nil {
		return nil, err
	}
	observes := func(st *turn.State) bool {
		return observe || r.ActsFor(st) != ""
	}
	if m := snap.State.Member(r.Self.ID); m != nil && (!m.Observer || observes(snap.State)) && !r.Ended(snap.State) {
		r.JoinedAt = snap.State.Seq
		r.recordArrival()
		return snap, nil
	}
	if !snap.State.Open && snap.State.Seq > 0 {
		if err := r.movedAway(ctx, snap.State.Seq); err != nil {
			return nil, err
		}
	}
	seen := snap
	for again := true; again; seen = nil {
		if snap, _, err = r.updateThen(ctx, seen, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
			if r.Asks {
				if err := r.checkClosed(ctx, st); err != nil {
					return nil, err
				}
			}
			var policy turn.Policy
			if !st.Open || st.Quiet(r.time()) { // a room that is open has its own
				if policy, err = r.Policy(); err != nil {
					return nil, err
				}
			}
			events, again = turn.Enter(st, f, r.joinRequest(policy, observes(st)))
			return events, nil
		}, func() {}); err != nil {
			return nil, err
		}
	}
	r.JoinedAt = snap.State.Seq
	r.recordArrival()
	return snap, nil
}

// joinRequest is how the agent joins. The policy is that of a room to be created.
func (r *Room) joinRequest(policy turn.Policy, observe bool) turn.JoinRequest {
	return turn.JoinRequest{
		Observer: observe,
		Agent:    r.Self.ID, DisplayName: r.Self.DisplayName, SessionKind: r.Self.SessionKind, Override: r.Self.Source == identity.SourceOverride,
		CanonicalPath: r.Directory(), WorkspaceRoot: r.Workspace.Root, Policy: policy,
	}
}

// Directory returns the directory whose room this is.
func (r *Room) Directory() string {
	return cmp.Or(r.inChain(), r.Workspace.Root)
}

// inChain returns the directory of the workspace whose room this is, "" if it is none of it.
func (r *Room) inChain() string {
	if r.Workspace == nil {
		return ""
	}
	return r.among(r.Workspace.Chain())
}

// EnsureMember returns the room if the agent is a member. A person or a visitor who is none
// becomes an observer, unless check refuses what it is about to do.
func (r *Room) EnsureMember(ctx context.Context, check func(*turn.State) error) (*snapshot, error) {
	snap, err := r.FS.View()
	if err != nil {
		return nil, err
	}
	switch {
	case r.IsMember(snap.State) && !r.Ended(snap.State):
	case r.IsHuman() || r.Visits:
		if check != nil {
			if err := check(snap.State); err != nil {
				return nil, err
			}
		}
		return r.join(ctx, true)
	default:
		return nil, turn.NotJoined(snap.State, r.Self.ID)
	}
	r.RecordPresence(ctx, snap.State)
	return snap, nil
}
