package fsroom

import (
	"context"
	"encoding/json"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal/event"
)

// A Backend orders the changes of a room and keeps its files up to date. On one host that
// is the directory itself. Where several hosts share a room, it is an engine, of which the
// files are a mirror: see package mirror. Errors of a backend are given a code by the room.
type Backend[S any] interface {
	// View returns the room as it is now.
	View(ctx context.Context) (*Snapshot[S], error)
	// Update changes the room, see [Room.UpdateThen].
	Update(ctx context.Context, decide Decision[S], committed func()) (*Snapshot[S], []event.Event, error)
	// Locked calls do while the room is locked, see [Room.Locked].
	Locked(ctx context.Context, do func(*Snapshot[S]) error) error
	// Refresh brings the files up to date for those who read their lines.
	Refresh(ctx context.Context) error
	// Watch keeps the files up to date until stop is called, see [Room.Pull].
	Watch(ctx context.Context) (stop func())
}

// Shared is the backend of a room that several hosts share. A room of one host alone has none: what it would
// say is then as on one host.
type Shared[S any] interface {
	Backend[S]
	// Current reports whether the files are up to date as long as somebody watches: the process that
	// keeps them so may be stopped.
	Current() bool
	Exists() bool // called if there is no journal here: whether the engine has the room
	Confirm(ctx context.Context) (*Snapshot[S], error)
	Renew(ctx context.Context, note Renewal[S], appended func() error) error
	// Note returns the last note of the room that this host has fetched, and when the engine
	// got it, on its own clock; nil if there is none.
	Note() (note []byte, at time.Time)
	// Unreachable returns why the engine could not be reached when it was asked last for what
	// this host does not have of the room: nil if it was. The room was up to date at the time
	// asOf, which is zero if it never was.
	Unreachable() (asOf time.Time, err error)
	RefreshAll(ctx context.Context) (failed map[string]error, err error)
	Peers
}

// Peers exchange with the other hosts of a room what they know of its agents. An agent is
// named by its directory, see [AgentKey].
type Peers interface {
	// Publish makes the agent's shared files known to the other hosts, after one of them
	// was changed here.
	Publish(dir, changed string)
	// Told returns what another host has told of the agent, nil if none has since this one did.
	Told(key string) *Told
	// Held reports whether a process of another host holds a mark.
	Held(key, name string) bool
	// Announce says that a process here holds a mark, until withdraw is called.
	Announce(key, name string) (withdraw func())
	// Holders are the agents of other hosts whose mark a process holds there.
	Holders(name string) []Holder
	// Notify reaches the processes of other hosts that wait as the agent.
	Notify(key string)
	Boot(host string) string // in which a host has said it is
}

// Told is what a host says of an agent that has run a command there, or of itself: then it has the boot only.
type Told struct {
	Host  string                     `json:"host"`
	Boot  string                     `json:"boot_id,omitempty"` // of the host
	Marks map[string]time.Time       `json:"marks,omitempty"`
	Signs map[string]string          `json:"signs,omitempty"` // who has signed a mark
	Files map[string]json.RawMessage `json:"files,omitempty"`
	At    time.Time                  `json:"-"` // when the engine got it, on its clock
}

// LostFile is there in a mirror as long as its host knows that the engine has lost what the mirror has, or was begun
// anew or copied back: no turn is confirmed meanwhile, whenever it was last.
const LostFile = "lost"

// Shared returns what an engine that shares the room with other hosts says of it, nil for a room of this host alone.
func (r *Room[S]) Shared() Shared[S] { return r.shared }

// A Renewal returns the note to append, nil for none, and how long the engine keeps it. It
// may be called more than once.
type Renewal[S any] func(*Snapshot[S]) (note []byte, keep time.Duration, err error)

// Renew appends a note to the room, if note returns one, under the condition that nothing
// has happened since the room was as note got it, and then calls appended. The room is
// locked meanwhile. Without an engine nobody reads the note.
func (r *Room[S]) Renew(ctx context.Context, note Renewal[S], appended func() error) error {
	if r.shared == nil {
		return r.Locked(ctx, func(snap *Snapshot[S]) error {
			b, _, err := note(snap)
			if err != nil || b == nil {
				return err
			}
			return appended()
		})
	}
	return r.store.Explain(r.shared.Renew(ctx, note, appended), r.dir)
}

// Confirm is [Room.View] for those who need proof: at some moment since the call a majority
// of the engine's servers agreed that the room was as it is returned. It takes the room's
// lock, and as long as an engine is waited for. Without one it is View.
func (r *Room[S]) Confirm(ctx context.Context) (*Snapshot[S], error) {
	if r.shared == nil {
		return r.View()
	}
	ctx, cancel := context.WithTimeout(ctx, engine.Patience+engine.Slack)
	defer cancel()
	snap, err := r.shared.Confirm(ctx)
	return snap, r.store.Explain(err, r.dir)
}

// Refresh brings the room's files up to date for those who read them. Without an engine
// they always are.
func (r *Room[S]) Refresh(ctx context.Context) error {
	return r.store.Explain(r.backend.Refresh(ctx), r.dir)
}

// Pull keeps the room's files up to date, and wakes those of this host whom changes elsewhere
// concern, until stop is called. Of several processes one does so. Without an engine,
// Pull does nothing.
func (r *Room[S]) Pull(ctx context.Context) (stop func()) { return r.backend.Watch(ctx) }

// isCurrent reports whether the files are up to date, as long as somebody pulls.
func (r *Room[S]) isCurrent() bool { return r.shared == nil || r.shared.Current() }
