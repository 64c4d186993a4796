package fsroom

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
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
// an event of type [EventDamaged].
type salvage[S any] struct {
	room  *Room[S]
	path  string // of the damaged journal
	kept  string // the name under which its bytes are kept
	first int64  // event_seq that is due first; 0: not known
	last  int64  // the last event_seq known to have been written
	turn  int64  // of that event
	known *S     // the state before the damage, nil if lost; it can tell how the room was opened

	out    []byte
	orphan bool // nobody knows how the room was opened
	state  *S
	seq    int64         // the last one in out
	after  journal.Event // the last event in out: gives placeholders a turn and a time
}

// An entry is one line of the damaged file.
type entry struct {
	seq  int64 // 0: it does not read
	torn bool
}

// make returns the bytes of the mended journal. It fails where no journal that
// folds can be made.
func (v *salvage[S]) make() ([]byte, error) {
	log, err := journal.Open(v.path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if size, _, err := log.Stat(); err != nil || size > maxSalvage {
		return nil, errors.Join(err, fmt.Errorf("%s is too large to be repaired", v.path))
	}
	entries, err := survey(log)
	if err != nil {
		return nil, err
	}
	keep := inOrder(entries)
	v.state = v.room.rules.New(v.room.name)
	i := 0
	err = log.Lines(func(line *journal.Line) error {
		defer func() { i++ }()
		if !keep[i] {
			return nil
		}
		if v.seq == 0 {
			v.seq = v.before(entries, i)
			v.after = journal.Event{Turn: line.Event.Turn, CreatedAt: line.Event.CreatedAt}
		}
		return v.take(line)
	})
	if len(v.out) == 0 {
		v.seq, v.after.Turn = max(0, v.first-1), v.turn
	}
	if err == nil {
		err = v.fill(max(v.last, v.seq+lostAtEnd(entries, keep)))
	}
	return v.out, err
}

// survey notes the number of each line.
func survey(log *journal.Log) ([]entry, error) {
	var entries []entry
	err := log.Lines(func(line *journal.Line) error {
		entries = append(entries, entry{seq: line.Event.Seq, torn: line.Torn})
		return nil
	})
	return entries, err
}

// inOrder tells which lines to keep: the most that can be kept so that their
// numbers go up. A line whose number is damaged but still a number is thus left
// out, and not the many that it would contradict.
func inOrder(entries []entry) []bool {
	var ends []int // ends[n]: the line with the lowest number that ends n+1 lines going up
	before := make([]int, len(entries))
	for i, e := range entries {
		if e.seq == 0 {
			continue
		}
		n := sort.Search(len(ends), func(n int) bool { return entries[ends[n]].seq >= e.seq })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		ends = append(ends[:n], append([]int{i}, ends[min(n+1, len(ends)):]...)...)
	}
	keep := make([]bool, len(entries))
	if len(ends) == 0 {
		return keep
	}
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		keep[i] = true
	}
	return plausible(entries, keep)
}

// plausible leaves out lines whose number is far ahead of the line before.
func plausible(entries []entry, keep []bool) []bool {
	last := int64(0)
	for i, e := range entries {
		if !keep[i] {
			continue
		}
		if last > 0 && e.seq-last > maxMissing {
			keep[i] = false
			continue
		}
		last = e.seq
	}
	return keep
}

// before is the number before the first event of the journal, when line i is
// the first that is kept. Where the archive does not tell it, each damaged line
// counts as one event.
func (v *salvage[S]) before(entries []entry, i int) int64 {
	seq := entries[i].seq
	if v.first > 0 && v.first <= seq && seq-v.first <= maxMissing {
		return v.first - 1
	}
	return max(0, seq-1-int64(i))
}

// lostAtEnd counts the lines behind the last that is kept which do not read, each
// an event. One that reads has a number that an event further up has.
func lostAtEnd(entries []entry, keep []bool) (n int64) {
	for i, e := range slices.Backward(entries) {
		if keep[i] {
			break
		}
		if e.seq == 0 && !e.torn {
			n++
		}
	}
	return n
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
	v.seq, v.after = line.Event.Seq, journal.Event{Turn: line.Event.Turn, CreatedAt: line.Event.CreatedAt}
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
	}
	return nil
}

// restart is the state before the first event, as long as there is none.
func (v *salvage[S]) restart(s *S) *S {
	if len(v.out) > 0 {
		return s
	}
	return v.room.rules.New(v.room.name)
}

// canOpen reports whether it is known how the room was opened.
func (v *salvage[S]) canOpen() bool {
	return v.known != nil && v.room.rules.Reopen != nil && v.room.rules.Live(v.known)
}

// opening is the event in place of a missing first one.
func (v *salvage[S]) opening() (e journal.Event, orphan bool) {
	if !v.canOpen() {
		return journal.Event{Type: EventDamaged}, true
	}
	return v.room.rules.Reopen(v.known), false
}

// placeholder is the event in place of a missing one. The first of a life said
// what the room is, and is made again from what is known of the room.
func (v *salvage[S]) placeholder(seq int64) journal.Event {
	e := journal.Event{Type: EventDamaged}
	if len(v.out) == 0 {
		e, v.orphan = v.opening()
	}
	e.Seq, e.ID, e.RoomID = seq, v.room.store.opts.NewID(), v.room.name
	e.Turn, e.CreatedAt = v.after.Turn, v.after.CreatedAt
	if e.CreatedAt.IsZero() {
		e.CreatedAt = journal.NewTime(v.room.store.opts.Now())
	}
	e.Reason = "this event could not be read any more; what was in its place is in " + v.kept
	return e
}
