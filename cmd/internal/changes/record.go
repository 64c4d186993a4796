package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

func (t *Tree) first(ctx context.Context) error {
	_, err := t.Ledger.Take(ctx, ledger.Request{Why: ledger.WhyFirst})
	return err
}

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
	request := ledger.Request{Moment: j.Moment, Line: true}
	if !j.Exact {
		request.Margin = margin
	}
	start, _ := ledger.TurnOf(all, j.Turn)
	last := lastTurn(all, j.Turn)
	if last != nil && (start == nil || !st.HasChange(last.Turn, turn.SpanTurn)) {
		if last, err = t.finish(ctx, st, last, request); err != nil {
			return err
		}
	}
	if start == nil {
		request.Why, request.Turn, request.Agent = ledger.WhyStart, j.Turn, t.Room.Self.ID
		if start, err = t.Ledger.Take(ctx, request); err != nil {
			return err
		}
	}
	if last != nil && !st.HasChange(last.Turn, turn.SpanOutside) && !last.IsLike(start) {
		v := t.Ledger.Recorded()
		defer v.Close()
		if c := t.facts(v, last, start, ledger.SpanOutside); !c.IsEmpty() {
			t.add(ctx, last.Turn, "", c)
		}
	}
	return nil
}

// isBegun reports whether begin needs no snapshot for the turn in progress.
func (t *Tree) isBegun(st *turn.State) bool {
	all, err := t.Ledger.Snapshots()
	start, _ := ledger.TurnOf(all, st.Turn)
	last := lastTurn(all, st.Turn)
	return err == nil && start != nil && (last == nil || st.HasChange(last.Turn, turn.SpanTurn))
}

// finish records what a turn changed if the journal does not say so, and returns the snapshot of
// its end. last is the last snapshot of the turn: that of its beginning, or one in which there is
// what changed later, if it was not looked at again.
func (t *Tree) finish(ctx context.Context, st *turn.State, last *ledger.Snapshot, over ledger.Request) (end *ledger.Snapshot, err error) {
	ended, err := t.endOf(ctx, last.Turn, last.Agent)
	switch {
	case err != nil:
		return last, err
	case last.Why == ledger.WhyStart:
	case ended.IsZero(): // long ago, or in another room of this tree
		return last, nil
	case last.End < ended.Add(tick).UnixNano():
		if !st.HasChange(last.Turn, turn.SpanTurn) {
			v := t.Ledger.Recorded()
			defer v.Close()
			t.add(ctx, last.Turn, last.Agent, t.turnFacts(v, last.Turn, last))
		}
		return last, nil
	}
	over.Why, over.Turn, over.Agent = ledger.WhyTakeover, last.Turn, last.Agent
	if !ended.IsZero() && over.Moment.Sub(ended) > 2*margin {
		over.Moment, over.Margin = ended, margin
	}
	var facts *ledger.Changes
	over.Ready = func(v *ledger.View, s *ledger.Snapshot) { facts = t.turnFacts(v, last.Turn, s) }
	if end, err = t.Ledger.Take(ctx, over); err == nil {
		t.add(ctx, last.Turn, last.Agent, facts)
	}
	return end, err
}

// lastTurn returns the last snapshot of a beginning or end of the last turn before one, nil if
// there is none.
func lastTurn(all []*ledger.Snapshot, before int64) (last *ledger.Snapshot) {
	for _, s := range all {
		switch s.Why {
		case ledger.WhyStart, ledger.WhyEnd, ledger.WhyTakeover:
			if s.Turn < before && (last == nil || s.Turn >= last.Turn) {
				last = s
			}
		}
	}
	return last
}

// end records the end of a turn, and hands over what it changed as soon as that is known. If the
// turn has ended before the scan has, the tree is what it was at the end, and in doubt looked at
// once more. A turn that is over sooner than its guardian has recorded its beginning is recorded
// as a whole.
//
// With unsynced nothing is handed over but what is known at the first look, and another process
// makes it safe from a power cut.
func (t *Tree) end(ctx context.Context, st *turn.State, turnID int64, unsynced bool, handOver func(payload []byte) error) error {
	began := time.Now()
	agent := t.Room.Self.ID
	if st.Owner == agent && st.Turn == turnID {
		_ = t.begin(ctx, st, Job{Turn: turnID, Moment: st.Grant.At.Wall.Time})
	}
	var c *ledger.Changes
	var told error
	ended, err := t.endOf(ctx, turnID, agent)
	for again := true; err == nil && c == nil && again; {
		late := !ended.IsZero()
		request := ledger.Request{Why: ledger.WhyEnd, Turn: turnID, Agent: agent, Line: true, Unsynced: unsynced}
		if late {
			request.Moment, request.Margin = ended, margin
		}
		var roomErr error
		request.Ready = func(v *ledger.View, s *ledger.Snapshot) {
			if !late {
				ended, roomErr = t.endOf(ctx, turnID, agent)
			}
			if again = !late && !ended.IsZero() && s.End >= ended.Add(tick).UnixNano(); again || roomErr != nil {
				return
			}
			if c = t.turnFacts(v, turnID, s); late {
				c.LateMillis = time.Since(began).Milliseconds()
			}
			told = handOver(t.payload(c))
		}
		if _, err = t.Ledger.Take(ctx, request); err == nil {
			err = roomErr
		}
		again = again && !unsynced
	}
	if c == nil && !unsynced {
		c = t.about(turnID, ledger.SpanTurn)
		c.Unknown = cmp.Or(ledger.WhyUnknown(err), ledger.UnknownUnreadable)
		told = handOver(t.payload(c))
	}
	return cmp.Or(err, told)
}

// leave hands over what a turn changed in a file, and with a byte if somebody waits for it.
func (t *Tree) leave(ctx context.Context, j Job, payload []byte) error {
	file := t.pendingFile(j.Turn, j.Token)
	if err := t.keep(file, payload); err != nil {
		return err
	}
	if !tell(j.Out) { // else the command reads the file when it has the room's lock
		t.addPending(ctx, file, j.Turn, t.Room.Self.ID)
	}
	return nil
}

// keep writes what a turn changed where the command that ends it, or the next record, finds it.
func (t *Tree) keep(file string, payload []byte) error {
	if err := t.fault("pending"); err != nil {
		return err
	}
	if err := lockfile.MakeDirs(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := lockfile.ReplaceUnsynced(file, payload, filepath.Dir(file)); err != nil {
		return err
	}
	return t.fault("tell")
}

// about returns facts that say nothing yet.
func (t *Tree) about(turnID int64, span string) *ledger.Changes {
	return &ledger.Changes{Span: span, Turn: turnID, Agent: t.Room.Self.ID, TreeID: t.ID()}
}

// turnFacts returns what a turn has changed by its end.
func (t *Tree) turnFacts(v *ledger.View, turnID int64, end *ledger.Snapshot) *ledger.Changes {
	if start, _ := ledger.TurnOf(v.All(), turnID); start != nil {
		return t.facts(v, start, end, ledger.SpanTurn)
	}
	c := t.about(turnID, ledger.SpanTurn)
	c.Unknown = ledger.UnknownLate // its beginning was not recorded
	return c
}

// facts compares two snapshots.
func (t *Tree) facts(v *ledger.View, from, to *ledger.Snapshot, span string) *ledger.Changes {
	c, err := v.Changes(from, to, nil, ledger.MostPaths)
	if err != nil {
		c = &ledger.Changes{Unknown: ledger.UnknownUnreadable}
	}
	c.Span, c.Turn, c.TreeID = span, from.Turn, t.ID()
	if span == ledger.SpanTurn {
		c.Agent = from.Agent
	}
	return c
}

// endOf returns when the turn of a holder ended, the zero time if it lasts.
func (t *Tree) endOf(ctx context.Context, turnID int64, holder string) (at time.Time, err error) {
	snap, err := t.Room.FS.View()
	if err != nil || snap.State.Owner != "" && snap.State.Turn == turnID {
		return at, err
	}
	const window = 200
	err = t.Room.EachEvent(ctx, max(0, snap.State.Seq-window), true, func(e *event.Event) error {
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

// add writes what changed into the journal.
func (t *Tree) add(ctx context.Context, turnID int64, agent string, c *ledger.Changes) {
	_ = cmp.Or(t.writes, t.Room).Append(ctx, func(st *turn.State) ([]event.Event, error) {
		return turn.RecordChange(st, turn.TreeChange{Turn: turnID, Span: c.Span, Agent: agent}, t.payload(c)), nil
	})
}

// Add writes an undo or a restore into the journal.
func (t *Tree) Add(ctx context.Context, turnID int64, agent string, c *ledger.Changes) {
	t.add(ctx, turnID, agent, c)
}

// addPending writes what a turn changed into the journal, if the turn is over and it is not
// there yet. While the turn lasts the command that ends it does so.
func (t *Tree) addPending(ctx context.Context, file string, turnID int64, agent string) {
	lasts := false
	err := cmp.Or(t.writes, t.Room).Append(ctx, func(st *turn.State) ([]event.Event, error) {
		b, err := os.ReadFile(file)
		if lasts = st.Owner == agent && st.Turn == turnID; err != nil || lasts {
			return nil, nil
		}
		return turn.RecordChange(st, turn.TreeChange{Turn: turnID, Span: turn.SpanTurn, Agent: agent}, b), nil
	})
	if err == nil && !lasts && t.fault("remove") == nil {
		_ = os.Remove(file)
	}
}

// addOrphans adds what processes have left that were killed before they could.
func (t *Tree) addOrphans(ctx context.Context) {
	files, _ := os.ReadDir(filepath.Join(t.Ledger.Dir(), "pending"))
	for _, f := range files {
		number, _, _ := strings.Cut(f.Name(), "-")
		turnID, err := strconv.ParseInt(number, 10, 64)
		path := filepath.Join(t.Ledger.Dir(), "pending", f.Name())
		b, readErr := os.ReadFile(path)
		if err != nil || readErr != nil {
			continue
		}
		var c ledger.Changes
		if json.Unmarshal(b, &c) != nil || c.Agent == "" {
			_ = os.Remove(path)
			continue
		}
		if ended, err := t.endOf(ctx, turnID, c.Agent); err == nil && !ended.IsZero() { // else a command may still be about to
			t.addPending(ctx, path, turnID, c.Agent)
		}
	}
}

// payload is what an event says: without names in a room that counts only, and with as many as
// an event may have.
func (t *Tree) payload(c *ledger.Changes) []byte {
	shown := *c
	shown.Host = cmp.Or(t.Room.Client.Store.Options().Host, t.Room.Self.Host)
	if t.Mode == turn.LedgerCounts {
		shown.Paths, shown.MorePaths = nil, shown.Files
		shown.MoreUnsure, shown.Unsure = shown.MoreUnsure+len(shown.Unsure), nil
		shown.LeftOut = nil
		for _, l := range c.LeftOut {
			l.Path = ""
			shown.LeftOut = append(shown.LeftOut, l)
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
