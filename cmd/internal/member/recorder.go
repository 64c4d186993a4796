package member

import (
	"context"
	"encoding/json"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A Recorder records what a turn changes in the work tree.
type Recorder interface {
	// Begin returns a function that records the tree as it is at the beginning of a turn that was just granted to the
	// agent, in this process, before anybody is told of the turn; nil where nothing is recorded. before is the room
	// before the grant. What cannot be recorded soon is for the guardian. But with patience it waits for a change of
	// the tree that is under way: the holder of the turn before puts back what an undo of its has changed. The function
	// returns what changed since the turn before, while nobody had the turn; nil if nothing did or that is not known.
	Begin(ctx context.Context, before *turn.State, granted turn.Fence, patience bool) func() json.RawMessage
	// Begun is called by the guardian of a turn when it has seen the turn. It records the beginning if Begin
	// did not.
	Begun(st *turn.State)
	// During is called by the guardian while the turn lasts, as often as the policy says: what is written until then
	// can be brought back. It starts what it does, and returns.
	During(st *turn.State)
	// Ended is called by the guardian when its turn is over, as the last that it does.
	Ended(ctx context.Context)
	// Ending begins to record the end of the turn, and waits for that as long as the room's
	// policy says, or as atLeast if that is longer. The turn may not end after all.
	Ending(ctx context.Context, st *turn.State, atLeast time.Duration) *TurnEnd
	// Changed returns what a turn that is over has changed, at most so many paths of it; nil if
	// that is not known.
	Changed(turnID int64, most int) *Changed
	// Records reports whether anything is recorded.
	Records() bool
	// Lost returns how many files that were not committed went since the last turn, and since when; 0 also if that
	// cannot be said soon. It scans the tree.
	Lost(ctx context.Context) (files int, since time.Time)
	// Changing reports whether an undo or restore changes the tree at this moment. It costs one look at a file.
	Changing() bool
	// Interrupted reports whether an undo or restore changes the tree, or was killed half-way. What went by it is not lost.
	Interrupted() bool
	// Verified returns the verdicts on the tree that the agent gets with its turn, as a JSON array: nil
	// if there are none, or if the tree is not, or may not be, the one that was handed over. st is the room
	// before the grant, or after it.
	Verified(ctx context.Context, st *turn.State) json.RawMessage
	// Before takes a snapshot before a tool writes in the room, or destroys where nobody holds. It waits for half a
	// second at most; then the tool may go on. destroys is the operation if it is known to destroy, else "". Where files are
	// all that the tool writes, and each is recorded as it stands, there is nothing to do.
	Before(ctx context.Context, st *turn.State, files []string, destroys string)
}

// Changed is what an interrupted turn has changed.
type Changed struct {
	Paths        []ChangedPath `json:"changed"`
	Total        int           `json:"changed_total"`
	SinceRelease bool          `json:"since_release,omitempty"` // its beginning was not recorded: since the end of the turn before
}

// A ChangedPath is a path that was changed; Status is as in the facts about a turn, or unsure.
type ChangedPath struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// A TurnEnd is the record of the end of a turn; nil: nothing is recorded.
type TurnEnd struct {
	Turn     int64
	Agent    string
	Changes  json.RawMessage // nil if it was not known in time what changed
	Verified json.RawMessage // the verdicts on the tree as a JSON array, nil if there are none
	Late     func()          // starts another process, which records the end; nil: this one does
	Recorded <-chan struct{} // closed when this process has written all that it records, or too late
}

// Events returns what belongs to the change that ends the turn, if it is known by now.
func (e *TurnEnd) Events(st *turn.State) []event.Event {
	if e == nil || e.Changes == nil {
		return nil
	}
	return turn.RecordChange(st, turn.TreeChange{Turn: e.Turn, Span: turn.SpanTurn, Agent: e.Agent}, e.Changes)
}

// Result returns what changed, and whether that is not known yet. Then another process is started, when the
// turn is over: it adds to the journal what the turn changed.
func (e *TurnEnd) Result() (changes json.RawMessage, pending bool) {
	switch {
	case e == nil:
		return nil, false
	case e.Late != nil:
		e.Late()
	case e.Changes != nil:
		<-e.Recorded
	}
	return e.Changes, e.Late != nil
}

// verifiedWords says which verdicts there are on the tree, "" for none.
func (e *TurnEnd) verifiedWords() string {
	if e == nil {
		return ""
	}
	return ledger.VerifiedWords(e.Verified)
}

// Recorder returns the room's recorder under its policy: one that does nothing where nothing is recorded.
func (r *Room) Recorder(st *turn.State) Recorder {
	if r.Record != nil {
		if tree := r.Record(r, st.Policy); tree != nil {
			return tree
		}
	}
	return noRecorder{}
}

// A noRecorder records nothing.
type noRecorder struct{}

func (noRecorder) Begin(context.Context, *turn.State, turn.Fence, bool) func() json.RawMessage {
	return nil
}
func (noRecorder) Begun(*turn.State)                                           {}
func (noRecorder) During(*turn.State)                                          {}
func (noRecorder) Ended(context.Context)                                       {}
func (noRecorder) Ending(context.Context, *turn.State, time.Duration) *TurnEnd { return nil }
func (noRecorder) Changed(int64, int) *Changed                                 { return nil }
func (noRecorder) Records() bool                                               { return false }
func (noRecorder) Lost(context.Context) (files int, since time.Time)           { return 0, since }
func (noRecorder) Changing() bool                                              { return false }
func (noRecorder) Interrupted() bool                                           { return false }
func (noRecorder) Verified(context.Context, *turn.State) json.RawMessage       { return nil }
func (noRecorder) Before(context.Context, *turn.State, []string, string)       {}

// turnEndOf begins to record the end of the turn of an agent that has one on this host,
// unless refuse says that it does not end. seen is the room as the command has just read it,
// nil: it is read. atLeast is as for [Recorder].
func (r *Room) turnEndOf(ctx context.Context, seen *snapshot, agent string, atLeast time.Duration,
	refuse func(*turn.State) error) *TurnEnd {
	var err error
	if seen == nil {
		seen, err = r.FS.View()
	}
	if err != nil || seen.State.Owner != agent || refuse(seen.State) != nil || seen.State.HostOf(agent, r.hosts.name()) != "" {
		return nil
	}
	return r.Recorder(seen.State).Ending(ctx, seen.State, atLeast)
}

// endTurn is updateThen for a change that ends the turn of an agent if that has it: what the turn has changed comes
// before it, since the room may end with it.
func (r *Room) endTurn(ctx context.Context, agent string, decide Decision, committed func()) (*snapshot, []event.Event, error) {
	end := r.turnEndOf(ctx, nil, agent, 0, func(st *turn.State) error {
		_, err := decide(st, r.Facts(st))
		return err
	})
	snap, written, err := r.updateThen(ctx, nil, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		events, err := decide(st, f)
		if err == nil && st.Owner == agent {
			events = append(end.Events(st), events...)
		}
		return events, err
	}, func() {
		r.forgetLease(agent)
		committed()
	})
	end.Result()
	return snap, written, err
}

// WithoutHolder calls do while the room is locked and nobody has the turn: nobody is granted it until do has returned and
// what events says then is written. If somebody has it, the error is no_active_lease.
func (r *Room) WithoutHolder(ctx context.Context, do func() error, events func(*turn.State) []event.Event) error {
	done, err := false, r.FS.Refresh(ctx)
	if err != nil {
		return err
	}
	err = r.Append(ctx, func(st *turn.State) ([]event.Event, error) {
		if !done { // else it was overtaken
			if st.Owner != "" {
				return nil, HeldByOther(st.Owner)
			}
			if err := do(); err != nil {
				return nil, err
			}
			done = true
		}
		return events(st), nil
	})
	if done {
		return nil
	}
	return err
}

// HeldByOther refuses a person's change of the tree while somebody holds the stick.
func HeldByOther(owner string) error {
	return code.New(code.NoActiveLease, "%s holds the stick and may be writing the same files", owner).
		WithHint("wait for it with tt wait, or add --yes: the holder is told").With("current_owner", owner)
}

// Append appends events that decide returns while the room is locked. It is no sign of the
// agent.
func (r *Room) Append(ctx context.Context, decide fsroom.Decision[*turn.State]) error {
	_, _, err := r.FS.Update(ctx, decide)
	return err
}

// Known returns the room as this host knows it: no engine is asked, and nothing can be written.
func (r *Room) Known() *Room { return r.Client.Offline().Room(r.FS.Name(), r.Workspace) }
