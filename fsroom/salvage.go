package fsroom

import (
	"errors"
	"fmt"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// EventDamaged is the type of an event that stands for one that could not be
// read any more. It keeps event_seq without a gap and changes nothing else.
const EventDamaged = "damaged"

// maxSalvage bounds the journal that is repaired, in bytes and in missing
// events in a row: a repair keeps it in memory.
const (
	maxSalvage = 1 << 30
	maxMissing = 1 << 16
)

// A salvage makes a journal of what can be read of a damaged one. Lines that
// read are kept byte by byte; each event that is missing between them becomes
// an event of type [EventDamaged]. Lines whose numbers contradict each other are
// not touched: which of them is right is for a person to say.
type salvage[S any] struct {
	room      *Room[S]
	path      string // of the damaged journal
	kept      string // the name under which its bytes are kept
	first     int64  // event_seq that is due first
	last      int64  // the last event_seq known to have been written
	turn      int64  // of that event
	committed int64  // the bytes of the file that are known to have been committed
	known     S      // the state before the damage; it can tell how the room was opened
	isKnown   bool   // whether that state was not lost

	out    []byte
	orphan bool // nobody knows how the room was opened
	state  S
	seq    int64       // the last one in out
	bad    int64       // lines read since that do not decode
	lost   int         // events in out that stand for lost ones
	after  event.Event // the last event in out: gives placeholders a turn and a time
}

// make returns the bytes of the mended journal. It fails where no journal that
// folds can be made.
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
	v.state = v.room.rules.New(v.room.name)
	number, start := 0, int64(0)
	err = log.Lines(func(line *journal.Line) error {
		acknowledged := start < v.committed
		number, start = number+1, line.End
		switch {
		case line.End > end, line.Torn && !acknowledged:
			return nil
		case line.Problem != "":
			v.bad++
			return nil
		}
		v.begin(line)
		if line.Event.Seq <= v.seq || acknowledged && v.last > 0 && line.Event.Seq > v.last {
			return fmt.Errorf("line %d of %s has event_seq %d after %d: which is right is for a person to say; take the wrong line out, or restore a backup",
				number, v.path, line.Event.Seq, v.seq)
		}
		return v.take(line)
	})
	if err != nil {
		return nil, err
	}
	if len(v.out) == 0 {
		v.seq, v.after.Turn = v.first-1, v.turn
	}
	return v.out, v.fill(max(v.last, v.seq+v.bad))
}

// torn returns the offset from which the file is what a crash left of a change that
// never happened, -1 if there is no such thing.
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

// begin is called with the first line that reads. The journal starts with it, or
// with the event that was due where lines before it do not read.
func (v *salvage[S]) begin(line *journal.Line) {
	if len(v.out) > 0 || v.seq > 0 {
		return
	}
	v.after = event.Event{Turn: line.Event.Turn, CreatedAt: line.Event.CreatedAt}
	v.seq = line.Event.Seq - 1
	if v.bad > 0 {
		v.seq = min(v.seq, v.first-1)
	}
}

// take adds a line that reads, after what is missing before it.
func (v *salvage[S]) take(line *journal.Line) error {
	if err := v.fill(line.Event.Seq - 1); err != nil {
		return err
	}
	err := v.room.rules.Apply(v.state, &line.Event)
	var coded *code.Error
	if errors.As(err, &coded) {
		return err // a newer format, which is not ours to mend
	}
	if err != nil || len(v.out) == 0 && !v.room.rules.Live(v.state) && v.canOpen() {
		v.state = v.restart(v.state)
		return v.fill(line.Event.Seq) // it reads, but makes no sense
	}
	v.out = append(v.out, line.Text...)
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
		e := v.placeholder(v.seq + 1)
		if err := v.room.rules.Apply(v.state, &e); err != nil {
			return err
		}
		v.out = e.Append(v.out)
		v.seq++
		v.lost++
	}
	return nil
}

// restart is the state before the first event, as long as there is none.
func (v *salvage[S]) restart(s S) S {
	if len(v.out) > 0 {
		return s
	}
	return v.room.rules.New(v.room.name)
}

// canOpen reports whether it is known how the room was opened.
func (v *salvage[S]) canOpen() bool {
	return v.isKnown && v.room.rules.Reopen != nil && v.room.rules.Live(v.known)
}

// opening is the event in place of a missing first one.
func (v *salvage[S]) opening() (e event.Event, orphan bool) {
	if !v.canOpen() {
		return event.Event{Type: EventDamaged}, true
	}
	return v.room.rules.Reopen(v.known), false
}

// placeholder is the event in place of a missing one. The first of a life said
// what the room is, and is made again from what is known of the room.
func (v *salvage[S]) placeholder(seq int64) event.Event {
	e := event.Event{Type: EventDamaged}
	if len(v.out) == 0 {
		e, v.orphan = v.opening()
	}
	e.Seq, e.ID, e.RoomID = seq, v.room.store.opts.NewID(), v.room.name
	e.Turn, e.CreatedAt = v.after.Turn, v.after.CreatedAt
	if e.CreatedAt.IsZero() {
		e.CreatedAt = event.NewTime(v.room.store.opts.Now())
	}
	e.Reason = "this event could not be read any more; what was in its place is in " + v.kept
	return e
}
