// Package history is a room as the lines of all its events: what "tt room export" prints and
// "tt room import" reads, and what is published when a room is moved.
package history

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// A History is the lines of all events of a room, from the first one on, as they are in
// its journals: those of the lives that have ended, and of the one in progress.
type History struct {
	Lines   []byte
	Changes []Change
	Room    string   // the room_id of the last event
	Rooms   []string // each room_id, in the order of the first event with it
}

// A Change is where a change of a [History] ends.
type Change struct {
	End  int   // offset in Lines
	Seq  int64 // of its last event
	Ends bool  // the room ends with it
}

// Last returns the number of the last event, 0 if there is none.
func (h *History) Last() int64 {
	if len(h.Changes) == 0 {
		return 0
	}
	return h.Changes[len(h.Changes)-1].Seq
}

// Check returns the history that lines are, all of which it reads. An error has the
// code corrupt_room, or unsupported_format for what a newer program has written.
func Check[S any](rules *fsroom.Rules[S], room string, lines []byte) (*History, error) {
	h := &History{Lines: lines}
	state, seq, turn, open, at := rules.New(room), int64(0), int64(0), false, 0
	for n := 1; at < len(lines); n++ {
		length := bytes.IndexByte(lines[at:], '\n') + 1
		line := lines[at : at+length]
		problem := ""
		e, err := event.Decode(line)
		switch {
		case length == 0:
			problem = "it has no end"
		case length > journal.MaxLine:
			problem = "it is too long"
		case length > 1 && line[length-2] == '\r', bytes.HasPrefix(line, []byte("\xef\xbb\xbf")):
			problem = "an editor has changed its ends"
		case err != nil:
			problem = err.Error()
		case e.Seq != seq+1:
			return nil, errNoHistory(n, "event %d follows event %d", e.Seq, seq)
		case e.Turn < turn:
			return nil, errNoHistory(n, "turn %d follows turn %d", e.Turn, turn)
		default:
			err = rules.Apply(state, &e)
		}
		var coded *code.Error
		switch {
		case errors.As(err, &coded):
			return nil, err
		case problem == "" && err != nil:
			problem = err.Error()
		case problem == "" && !open && !rules.Live(state):
			problem = "it opens no room"
		}
		if problem != "" {
			return nil, errNoHistory(n, "%s", problem)
		}
		at, seq, turn, open = at+length, e.Seq, e.Turn, true
		if !slices.Contains(h.Rooms, e.RoomID) {
			h.Rooms = append(h.Rooms, e.RoomID)
		}
		if e.More {
			continue
		}
		open = rules.Live(state)
		h.Changes, h.Room = append(h.Changes, Change{End: at, Seq: seq, Ends: !open}), e.RoomID
		if !open {
			state = rules.New(room)
			rules.Continue(state, &e)
		}
	}
	if at == 0 {
		return nil, errNoHistory(1, "there is none")
	}
	if h.Last() != seq {
		return nil, errNoHistory(int(seq), "the change that it belongs to has no end")
	}
	return h, nil
}

func errNoHistory(line int, format string, args ...any) error {
	e := code.New(code.CorruptRoom, format, args...)
	e.Message = "this is not the whole history of a room: in line " + strconv.Itoa(line) + ": " + e.Message
	return e.WithHint(`take what "tt room export" prints, unchanged; nothing was changed`).With("line", line)
}

// Differs is the error that means that two histories of a room have different events in one place.
func Differs(room string, seq int64, there string) error {
	return code.New(code.CorruptRoom, "event %d of room %s is another one %s", seq, room, there).
		WithHint("nothing was written; which is right is for a person to say").With("room_id", room).With("event_seq", seq)
}

// lineTries bounds how often the files are read because a life ended meanwhile.
const lineTries = 10

// Lines returns the lines of all events of the room as they are in its files, without what
// was not committed.
func Lines[S any](ctx context.Context, r *fsroom.Room[S]) ([]byte, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	for round := 0; ; round++ {
		all, gap, err := lines(r.Files)
		// A journal that was archived meanwhile is found the next time.
		if err != nil || !gap || round == lineTries {
			return all, r.Store().Explain(err, r.Dir())
		}
	}
}

// lines reads the files once, and reports whether events are missing between two of them.
func lines[S any](r *fsroom.Files[S]) (all []byte, gap bool, err error) {
	paths, err := r.Archived()
	if err != nil {
		return nil, false, err
	}
	seq := int64(0)
	take := func(log *journal.Log, err error) error {
		if log == nil || err != nil {
			return err
		}
		defer log.Close()
		end, _, err := log.Scan(journal.Position{}, func(*event.Event, int64) error { return nil })
		if err != nil {
			return err
		}
		err = log.Lines(func(line *journal.Line) error {
			if line.End > end.Offset || line.Event.Seq <= seq {
				return nil
			}
			gap = gap || line.Event.Seq != seq+1
			seq, all = line.Event.Seq, append(all, line.Text...)
			return nil
		})
		return err
	}
	for _, path := range paths {
		if err := take(journal.OpenCommitted(path)); err != nil {
			return nil, false, err
		}
	}
	return all, gap, take(r.OpenJournal())
}

// Import makes the room what the history says. What the room has must be the beginning of
// it, or the error has the code corrupt_room and nothing was changed. Its last event need not
// be in the history if gives reports that it gives way; the journal with it is kept aside. Import returns how many
// events came to those that were there. If it is killed, the room is at the end of one of the
// lives of the history, and Import can be called again.
func Import[S any](ctx context.Context, room *fsroom.Room[S], h *History, gives func(*event.Event) bool) (added int64, err error) {
	r := room.Files
	unlock, err := r.Lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	added, err = importLocked(r, h, gives)
	return added, r.Store().Explain(err, r.Dir())
}

func importLocked[S any](r *fsroom.Files[S], h *History, gives func(*event.Event) bool) (added int64, err error) {
	snap, err := r.LoadToWrite()
	if err != nil {
		return 0, err
	}
	have, _, err := lines(r)
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(h.Lines, have) && giveWay(r, h, have, gives) == nil {
		if snap, err = r.LoadToWrite(); err != nil {
			return 0, err
		}
	} else if !bytes.HasPrefix(h.Lines, have) {
		return 0, Differs(r.Name(), DiffersAt(h.Lines, have), "in the data directory")
	}
	for _, id := range h.Rooms {
		if err := r.Adopt(id); err != nil {
			return 0, err
		}
	}
	before := snap.Position.Seq
	begin := 0 // of the life
	for i, c := range h.Changes {
		if !c.Ends && i < len(h.Changes)-1 {
			continue
		}
		if c.Seq > snap.Position.Seq {
			if err := replaceLife(r, h.Lines[begin:c.End]); err != nil {
				return 0, err
			}
		}
		begin = c.End
	}
	if h.Last() <= before {
		_ = r.CatchUp(snap) // an earlier call may have been killed before it
	}
	return max(0, h.Last()-before), nil
}

// giveWay moves the journal of the last life aside, if what the room has is the beginning of
// the history but for its last event, which gives way and has ended that life.
func giveWay[S any](r *fsroom.Files[S], h *History, have []byte, gives func(*event.Event) bool) error {
	start := bytes.LastIndexByte(have[:len(have)-1], '\n') + 1
	last, err := event.Decode(have[start:])
	path, archived, listErr := r.LastArchived()
	if err != nil || listErr != nil || archived != last.Seq || !bytes.HasPrefix(h.Lines, have[:start]) || !gives(&last) {
		return Differs(r.Name(), last.Seq, "in the data directory")
	}
	if err := r.MoveAside(path); err != nil {
		return err
	}
	if err := os.Remove(r.StatePath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceLife replaces the journal of the life in progress, whose beginning it has.
func replaceLife[S any](r *fsroom.Files[S], lines []byte) error {
	if err := r.Store().Step(fsroom.StepAppend); err != nil {
		return err
	}
	if err := r.SyncNames(); err != nil {
		return err
	}
	if err := r.Replace(r.JournalPath(), lines); err != nil {
		return err
	}
	now, err := r.Load()
	if err != nil {
		return err
	}
	return r.Finish(now)
}

// DiffersAt returns the number of the first event in which two histories differ.
func DiffersAt(a, b []byte) int64 {
	seq := int64(1)
	for line := range bytes.Lines(a) {
		if !bytes.HasPrefix(b, line) {
			break
		}
		b = b[len(line):]
		seq++
	}
	return seq
}
