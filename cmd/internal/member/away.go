package member

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

// awayPoll is how often a wait tries again while the engine is away.
const awayPoll = time.Second

// isAway reports whether err is or comes from an error of an engine that cannot be
// reached, or that did not say what became of a change: a later look tells.
func (r *Room) isAway(err error) bool {
	return r.FS.IsShared() && (fsroom.IsUnreachable(err) || comesFrom(err, code.EngineUnreachable, code.InDoubt))
}

// comesFrom reports whether err is or comes from an error with one of the codes.
func comesFrom(err error, codes ...code.Code) bool {
	for e := (*code.Error)(nil); errors.As(err, &e); err = e.Err {
		if slices.Contains(codes, e.Code) {
			return true
		}
	}
	return false
}

// JoinWithin is [Client.Join] that waits for an engine that cannot be reached, until the
// limit has passed or ctx ends. left is what is left of the limit.
func (c *Client) JoinWithin(ctx context.Context, w *workspace.Workspace, limit time.Duration) (r *Room, snap *snapshot,
	left time.Duration, err error) {
	began := time.Now()
	for {
		r, snap, err = c.JoinToAsk(ctx, w)
		left = max(0, limit-time.Since(began))
		if !fsroom.IsUnreachable(err) || left == 0 {
			return r, snap, left, err
		}
		select {
		case <-ctx.Done():
			return r, snap, left, err
		case <-time.After(min(left, awayPoll)):
		}
	}
}

// NotYet is the result of a wait that could not join the workspace's room, because the
// engine could not be reached: the room as this host knew it last.
func (c *Client) NotYet(w *workspace.Workspace, away error) turn.WaitResult {
	chain := w.Chain()
	r := c.Room(fsroom.RoomName(w.Identity(chain[len(chain)-1])), w)
	for _, dir := range chain {
		if at := c.Room(fsroom.RoomName(w.Identity(dir)), w); at.FS.HasJournal() {
			r = at
			break
		}
	}
	return r.notYet(away)
}

// notYet is the result of a wait that ends while the engine is away, or before it has looked
// at the room; away is nil then.
func (r *Room) notYet(away error) (res turn.WaitResult) {
	res = turn.WaitResult{Status: turn.NotYet, RoomID: r.FS.Name()}
	if snap, err := r.FS.Known(); err == nil && snap.State.Open {
		res = snap.State.NotYet(r.Facts(snap.State), 0)
	}
	if away != nil {
		res.Engine = SinceWords(away)
	}
	return res
}

// SinceWords says since when an engine cannot be reached, or that its store was copied back.
func SinceWords(away error) string {
	var e *code.Error
	if errors.As(away, &e) {
		if e.Code == code.EngineRestored {
			return "restored from a copy, and takes no change until tt doctor --repair"
		}
		if since, ok := e.Details["since"].(event.Time); ok {
			return "unreachable since " + since.String()
		}
	}
	return "unreachable"
}
