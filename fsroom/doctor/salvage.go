package doctor

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A repair keeps a journal in memory.
const (
	maxSalvage = 1 << 30 // bytes of a journal that is repaired
	maxMissing = 1 << 16 // missing events in a row
)

// A salvage makes a journal of what can be read of a damaged one. Lines that can be read
// are kept byte by byte; each event that is missing between them becomes an event of type
// [event.Damaged]. Where state.json knows what they did, one more event tells it. If the
// numbers of lines contradict each other it fails: a person has to say which line is right.
type salvage[S any] struct {
	room      *fsroom.Room[S]
	path      string // of the damaged journal
	kept      string // the name under which its bytes are kept
	first     int64  // event_seq of the first event that is expected
	last      int64  // the last event_seq known to have been written
	turn      int64  // of that event
	committed int64  // the bytes of the file that are known to have been committed
	known     *S     // the state at the end, which tells how the room was opened; nil if lost

	out    []byte
	text   []byte // the last line in out that was read
	orphan bool   // it is not known how the room was opened
	gap    bool   // an event of type JournalDamaged follows
	state  S
	seq    int64       // the last one in out
	bad    int64       // lines since then that cannot be read
	lost   int         // events in out of type Damaged, or made by Reopen
	losses event.Lost  // from the first of them to the last
	after  event.Event // has the turn and the time of the last event in out
}

// make returns the bytes of the repaired journal. It fails if no journal that folds can be
// made.
func (v *salvage[S]) make() ([]byte, error) {
	log, err := journal.Open(v.path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	size, _, err := log.Stat()
	if err != nil || size > maxSalvage {
		return nil, errors.Join(err, fmt.Errorf("%s is too large to be repaired", v.path))
	}
	end := size
	if torn := v.torn(log); torn >= 0 {
		end = torn
	}
	v.state = v.room.Rules().New(v.room.Name())
	number, start := 0, int64(0)
	err = log.Lines(func(line *journal.Line) error {
		acknowledged := start < v.committed
		number, start = number+1, line.End
		switch {
		case line.End > end, line.Torn && !acknowledged:
			return nil
		case line.Problem != "" || !v.room.IsOwn(line.Event.RoomID):
			v.bad++
			return nil
		}
		if bytes.Equal(line.Text, v.text) {
			return nil // the same line again
		}
		v.begin(line)
		if line.Event.Seq <= v.seq || acknowledged && v.last > 0 && line.Event.Seq > v.last {
			return fmt.Errorf("line %d of %s has event_seq %d after %d: which is right is for a person to say; take the wrong line "+
				"out, or restore a backup",
				number, v.path, line.Event.Seq, v.seq)
		}
		return v.take(line)
	})
	if err != nil {
		return nil, err
	}
	if len(v.out) == 0 {
		v.seq, v.after.CreatedAt = v.first-1, event.NewTime(v.room.Store().Options().Now())
	}
	v.after.Turn = max(v.after.Turn, v.turn)
	read := v.seq
	if err := v.fill(max(v.last, v.seq+v.bad)); err != nil || v.lost == 0 || read > v.last || !v.canOpen() {
		return v.out, err
	}
	known := wire.Append(nil, *v.known)
	if bytes.Equal(known, wire.Append(nil, v.state)) {
		return v.out, nil
	}
	return v.out, v.add(event.Event{Type: event.JournalDamaged, Reason: "the room goes on from what state.json has",
		Payload: wire.Append(nil, &event.Loss{Lost: v.losses, State: known})})
}

// torn returns the offset of a torn tail, -1 if there is none.
func (v *salvage[S]) torn(log *journal.Log) int64 {
	log.SetCommitted(func() int64 { return v.committed })
	whole, tail, err := log.Last()
	if v.committed > 0 { // Last may meet damage before that
		whole, tail, err = log.Scan(journal.Position{Offset: v.committed, Seq: v.last}, func(*event.Event, int64) error { return nil })
	}
	if err != nil || tail.Torn == 0 {
		return -1
	}
	return whole.Offset
}

// begin sets the number of the first event from the first line that can be read. If lines
// before it cannot be read, the journal starts with the expected event.
func (v *salvage[S]) begin(line *journal.Line) {
	if len(v.out) > 0 || v.seq > 0 {
		return
	}
	v.after = event.Event{Turn: line.Event.Turn, CreatedAt: line.Event.CreatedAt}
	v.seq = line.Event.Seq - 1
	if v.bad > 0 || line.Event.Type == event.JournalDamaged {
		v.seq = min(v.seq, v.first-1)
	}
}

// take adds a line, after events for those that are missing before it.
func (v *salvage[S]) take(line *journal.Line) error {
	v.gap = line.Event.Type == event.JournalDamaged && v.bad == 0
	if err := v.fill(line.Event.Seq - 1); err != nil {
		return err
	}
	err := v.room.Rules().Apply(v.state, &line.Event)
	var coded *code.Error
	if errors.As(err, &coded) {
		return err // a newer format, which only a newer version can repair
	}
	if err != nil || len(v.out) == 0 && !v.room.Rules().Live(v.state) && v.canOpen() {
		if len(v.out) == 0 {
			v.state = v.room.Rules().New(v.room.Name())
		}
		return v.fill(line.Event.Seq) // it can be read, but not applied
	}
	v.out, v.text = append(v.out, line.Text...), bytes.Clone(line.Text)
	v.bad = 0
	v.seq, v.after = line.Event.Seq, event.Event{Turn: line.Event.Turn, CreatedAt: line.Event.CreatedAt}
	return nil
}

// fill adds events up to seq for those that are missing.
func (v *salvage[S]) fill(seq int64) error {
	if seq-v.seq > maxMissing {
		return fmt.Errorf("%d events in a row are missing", seq-v.seq)
	}
	for v.seq < seq {
		v.lost++
		v.losses = event.Lost{From: cmp.Or(v.losses.From, v.seq+1), To: v.seq + 1}
		if err := v.add(v.placeholder()); err != nil {
			return err
		}
	}
	return nil
}

// add appends an event that the repair makes.
func (v *salvage[S]) add(e event.Event) error {
	v.seq++
	e.Seq, e.ID, e.RoomID = v.seq, v.room.Store().Options().NewID(), v.room.Name()
	e.Turn, e.CreatedAt = v.after.Turn, v.after.CreatedAt
	v.out = e.Append(v.out)
	return v.room.Rules().Apply(v.state, &e)
}

// canOpen reports whether it is known how the room was opened.
func (v *salvage[S]) canOpen() bool {
	rules := v.room.Rules()
	return v.known != nil && rules.Reopen != nil && rules.Live(*v.known)
}

// placeholder returns the event in the place of a missing one. The first of a life told
// what the room is, and is made again from the state at the end.
func (v *salvage[S]) placeholder() event.Event {
	e := event.Event{Type: event.Damaged}
	if len(v.out) == 0 {
		if v.orphan = !v.canOpen(); !v.orphan {
			e = v.room.Rules().Reopen(*v.known)
		}
	}
	e.Reason = "this event could not be read any more; what was in its place is in " + v.kept
	if v.gap {
		e.Reason = "this event was lost: the journal was shorter"
	}
	return e
}
