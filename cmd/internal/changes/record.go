package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// margin is how exact the time of an event is, compared with those of files.
const margin = 10 * time.Millisecond

// tick is how exact the time of an event is written: it may be that much later.
const tick = time.Millisecond

// begin records the beginning of a turn: what the tree was when the turn was granted, and what
// changed since the turn before. A process before this one may have been killed at any point: what
// it has not recorded is.
func (t *Tree) begin(ctx context.Context, st *turn.State, j Job) error {
	all, err := t.Ledger.Snapshots()
	if err != nil {
		return err
	}
	request := ledger.Request{Moment: j.Moment, Margin: margin, Line: true}
	start, lease := beginning(all, st, j.Turn)
	last := lastTurn(all, j.Turn)
	if last != nil && (start == nil || !st.HasChange(last.Turn, turn.SpanTurn)) {
		if last, err = t.finish(ctx, st, last, request); err != nil {
			return err
		}
	}
	if start == nil {
		request.Why, request.Turn, request.Agent, request.Lease = ledger.WhyStart, j.Turn, t.Room.Self.ID, lease
		if start, err = t.Ledger.Take(ctx, request); err != nil {
			return err
		}
	}
	v := t.Ledger.Recorded()
	defer v.Close()
	if c := t.outside(st, v, last, start); !c.IsEmpty() {
		t.Add(ctx, last.Turn, "", c)
	}
	return nil
}

// outside returns what changed between the end of a turn and the beginning of the next one and is not told yet: since the end,
// or since an undo or restore of a person that found the tree like that and has an event of its own. It is nil if nothing did.
func (t *Tree) outside(st *turn.State, v *ledger.View, end, start *ledger.Snapshot) *ledger.Changes {
	if end == nil || st.HasChange(end.Turn, turn.SpanOutside) || end.IsLike(start) {
		return nil
	}
	from := end
	for _, s := range v.All {
		if s.Number <= from.Number {
			continue
		}
		told := slices.ContainsFunc(st.Changes, func(c turn.TreeChange) bool { return c.Span == s.Why && c.Turn >= end.Turn })
		if s.Turn != 0 || !told && !s.IsLike(from) {
			break
		}
		from = s
	}
	c, _ := v.ChangesOf(ledger.Span{Name: ledger.SpanOutside, Turn: end.Turn, From: from, To: start}, nil, ledger.MostPaths)
	return c
}

// beginning returns the snapshot of the beginning of a turn, nil if it is not recorded, and the turn's lease if it is in
// progress.
func beginning(all []*ledger.Snapshot, st *turn.State, turnID int64) (start *ledger.Snapshot, lease string) {
	if st.Turn == turnID {
		lease = st.Grant.Lease
	}
	if start, _ = ledger.TurnOf(all, turnID); !start.Begins(lease) {
		start = nil
	}
	return start, lease
}

// beginNow records the beginning of a turn that was granted a moment ago: the tree as it is now, since nobody was
// told yet that he may write. It returns what changed since the turn before, nil if nothing did; the guardian writes
// that into the journal.
func (t *Tree) beginNow(ctx context.Context, before *turn.State, granted turn.Fence) (outside json.RawMessage, err error) {
	all, err := t.Ledger.Recent(granted.Turn)
	if err != nil {
		return nil, err
	}
	last := lastTurn(all, granted.Turn)
	if last != nil && !before.HasChange(last.Turn, turn.SpanTurn) {
		if last, err = t.finish(ctx, before, last, ledger.Request{Moment: time.Now(), Line: true}); err != nil {
			return nil, err
		}
	}
	r := ledger.Request{Why: ledger.WhyStart, Turn: granted.Turn, Agent: granted.Agent, Lease: granted.Lease, Line: true}
	r.Ready = func(v *ledger.View, start *ledger.Snapshot) {
		if c := t.outside(before, v, last, start); !c.IsEmpty() {
			outside = t.payload(c)
		}
	}
	err = t.takeNow(ctx, r)
	return outside, err
}

// isBegun reports whether begin has nothing to do for a turn. Only lines are read: if a power cut took a
// tree, the snapshot of the end is refused.
func (t *Tree) isBegun(st *turn.State, turnID int64) bool {
	all, err := t.Ledger.Recent(turnID)
	start, _ := beginning(all, st, turnID)
	last := lastTurn(all, turnID)
	return err == nil && start != nil &&
		(last == nil || st.HasChange(last.Turn, turn.SpanTurn) && (st.HasChange(last.Turn, turn.SpanOutside) || last.IsLike(start)))
}

// finish records what a turn changed if the journal does not say so, and returns the snapshot of
// its end. last is the last snapshot of the turn: that of its beginning, or one in which there is
// what changed later, if it was not looked at again.
func (t *Tree) finish(ctx context.Context, st *turn.State, last *ledger.Snapshot, over ledger.Request) (end *ledger.Snapshot, err error) {
	ended, err := t.endOf(ctx, last.Turn, last.Agent, last.Why == ledger.WhyStart)
	switch {
	case err != nil:
		return last, err
	case last.Why == ledger.WhyStart:
	case ended.IsZero(): // long ago, or in an earlier life of the room, which was told it
		return last, nil
	case last.End < ended.Add(tick).UnixNano() && st.HasChange(last.Turn, turn.SpanTurn):
		return last, nil // else it may be of an end that was refused
	}
	over.Why, over.Turn, over.Agent = ledger.WhyTakeover, last.Turn, last.Agent
	if !ended.IsZero() && over.Moment.Sub(ended) > 2*margin {
		over.Moment, over.Margin = ended, margin
	}
	var facts *ledger.Changes
	over.Ready = func(v *ledger.View, s *ledger.Snapshot) { facts = t.turnFacts(v, last.Turn, s) }
	if end, err = t.Ledger.Take(ctx, over); err == nil {
		t.Add(ctx, last.Turn, last.Agent, facts)
	}
	return end, err
}

// lastTurn returns the last snapshot of a beginning or end of the last turn before one, nil if there is none.
func lastTurn(all []*ledger.Snapshot, before int64) (last *ledger.Snapshot) {
	for _, s := range all {
		if s.IsOfTurn() && s.Turn < before && (last == nil || s.Turn >= last.Turn) {
			last = s
		}
	}
	return last
}

// end records the end of a turn that was granted at a moment, and tells what it changed as soon as that
// is known. A turn that is over sooner than its guardian has recorded its beginning is recorded as a whole.
func (t *Tree) end(ctx context.Context, st *turn.State, granted time.Time, r ledger.Request,
	tell func(*ledger.Changes, *ledger.Snapshot)) error {
	if !granted.IsZero() && !t.isBegun(st, r.Turn) {
		_ = t.begin(ctx, st, Job{Turn: r.Turn, Moment: granted})
	}
	if r.Unsynced && t.Ledger.HasLeftMuch() {
		_ = t.Ledger.Sync(ctx)
	}
	r.Why, r.Agent, r.Line = ledger.WhyEnd, t.Room.Self.ID, true
	r.Ready = func(v *ledger.View, s *ledger.Snapshot) { tell(t.turnFacts(v, r.Turn, s), s) }
	_, err := t.Ledger.Take(ctx, r)
	return err
}

// endLate records the end of a turn that is over, and writes what it changed into the journal.
func (t *Tree) endLate(ctx context.Context, st *turn.State, j Job) error {
	began, agent := time.Now(), t.Room.Self.ID
	ended, err := t.endOf(ctx, j.Turn, agent, true)
	if err != nil || ended.IsZero() { // or it lasts
		return err
	}
	var facts *ledger.Changes
	err = t.end(ctx, st, j.Moment, ledger.Request{Turn: j.Turn, Moment: ended, Margin: margin}, func(c *ledger.Changes, _ *ledger.Snapshot) {
		facts = c
		facts.LateMillis = time.Since(began).Milliseconds()
	})
	if facts == nil {
		facts = t.unknown(j.Turn, ledger.WhyUnknown(err))
	}
	t.Add(ctx, j.Turn, agent, facts)
	return err
}

// unknown returns facts about a turn of which it is not known what it changed.
func (t *Tree) unknown(turnID int64, why string) *ledger.Changes {
	return &ledger.Changes{Span: ledger.SpanTurn, Turn: turnID, Agent: t.Room.Self.ID, TreeID: t.ID(), Unknown: why}
}

// turnFacts returns what a turn has changed by its end.
func (t *Tree) turnFacts(v *ledger.View, turnID int64, end *ledger.Snapshot) *ledger.Changes {
	start, _ := ledger.TurnOf(v.All, turnID)
	if start == nil {
		return t.unknown(turnID, ledger.UnknownLate) // its beginning was not recorded
	}
	c, _ := v.ChangesOf(ledger.Span{Name: ledger.SpanTurn, Turn: turnID, Agent: start.Agent, From: start, To: end}, nil, ledger.MostPaths)
	return c
}

// endOf returns when the turn of a holder ended, the zero time if it lasts, or ended in a life that is not asked for.
func (t *Tree) endOf(ctx context.Context, turnID int64, holder string, allLives bool) (at time.Time, err error) {
	snap, err := t.Room.FS.View()
	if err != nil || snap.State.Owner != "" && snap.State.Turn == turnID {
		return at, err
	}
	const window = 200
	err = t.Room.EachEvent(ctx, max(0, snap.State.Seq-window), allLives, func(e *event.Event) error {
		of := e.Turn
		if e.Type == turn.Takeover { // it begins its turn and ends the one before
			of--
		}
		if of == turnID && turn.EndsTurn(e, holder) {
			at = e.CreatedAt.Time
			return member.ErrEnough
		}
		return nil
	})
	return at, err
}

// Add writes what changed into the journal, see [Tree.Events].
func (t *Tree) Add(ctx context.Context, turnID int64, agent string, c *ledger.Changes) {
	_ = cmp.Or(t.writes, t.Room).Append(ctx, func(st *turn.State) ([]event.Event, error) { return t.Events(st, turnID, agent, c), nil })
}

// Events says what changed, unless the journal does. What a turn changed that is not over is for the command that ends it.
func (t *Tree) Events(st *turn.State, turnID int64, agent string, c *ledger.Changes) []event.Event {
	if c.Span == turn.SpanTurn && st.Owner == agent && st.Turn == turnID {
		return nil
	}
	return turn.RecordChange(st, turn.TreeChange{Turn: turnID, Span: c.Span, Agent: agent}, t.payload(c))
}

// payload is what an event says: without names in a room that counts only, and with as many as an event may have.
func (t *Tree) payload(c *ledger.Changes) []byte {
	shown := *c
	shown.Host = cmp.Or(t.Room.Client.Store.Options().Host, t.Room.Self.Host)
	if t.Mode == turn.LedgerCounts {
		shown.Paths, shown.MorePaths = nil, shown.Files
		shown.MoreUnsure, shown.Unsure = shown.MoreUnsure+len(shown.Unsure), nil
		shown.LeftOut = slices.Clone(c.LeftOut)
		for i := range shown.LeftOut {
			shown.LeftOut[i].Path = ""
		}
	}
	for {
		b, err := json.Marshal(&shown)
		if err == nil && len(b) <= turn.MaxChangePayload {
			return b
		}
		switch {
		case len(shown.LeftOut) > 0:
			shown.LeftOut = nil
		case len(shown.Unsure) > 0:
			shown.MoreUnsure, shown.Unsure = shown.MoreUnsure+len(shown.Unsure), nil
		case len(shown.Paths) == 0:
			shown.Head = nil
		default:
			n := len(shown.Paths) / 2
			shown.MorePaths += len(shown.Paths) - n
			shown.Paths = shown.Paths[:n]
		}
	}
}
