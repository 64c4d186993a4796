package journal

import (
	"fmt"
	"io"

	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// An AppendError is a failed write or sync of an append.
type AppendError struct {
	Err    error
	Undone bool // the file is as it was before, also on the disk; if false, the change may be in it
}

func (e *AppendError) Error() string {
	if e.Undone {
		return fmt.Sprintf("append undone: %v", e.Err)
	}
	return fmt.Sprintf("append in doubt: %v", e.Err)
}

func (e *AppendError) Unwrap() error { return e.Err }

// Append commits events as one change, by one write and one sync, and returns the position
// after it. It sets More. The caller has the room's lock. sync is given the position after the
// change, which is written, and has to call [Log.Sync]; if it is nil, that is all it does.
//
// When Append returns nil, the events are durable. An [AppendError] means that the write
// or the sync failed. With any other error nothing was written: the file does not end at
// at ([ErrPosition]), the numbers do not continue at.Seq, or an event has no line that can
// be read back.
func (l *Log) Append(at Position, events []event.Event, sync func(Position) error) (Position, error) {
	if len(events) == 0 {
		return at, nil
	}
	if sync == nil {
		sync = func(Position) error { return l.Sync() }
	}
	lines, err := EncodeChange(at, events)
	if err != nil {
		return at, err
	}
	return l.write(at, lines, events[len(events)-1].Seq, sync)
}

// AppendLines appends the lines of one change that [EncodeChange] has made, and does not sync
// them: it is for a journal that can be fetched again. seq is the event_seq of the last line. It
// returns the position after the lines. The caller has the room's lock.
func (l *Log) AppendLines(at Position, lines []byte, seq int64) (Position, error) {
	return l.write(at, lines, seq, func(Position) error { return nil })
}

func (l *Log) write(at Position, lines []byte, seq int64, sync func(Position) error) (Position, error) {
	size, _, err := l.file.Stat()
	if err == nil && size != at.Offset {
		err = fmt.Errorf("%s: ends at %d, not at %d: %w", l.path, size, at.Offset, ErrPosition)
	}
	if err != nil {
		return at, err
	}
	n, err := l.file.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	end := Position{Offset: at.Offset + int64(len(lines)), Seq: seq}
	if err == nil {
		// When this returns nil, the change is committed. If it fails, it is not
		// tried again: the kernel may have marked the lost pages clean, and a second
		// sync would succeed without them.
		err = sync(end)
	}
	if err != nil {
		return at, &AppendError{Err: err, Undone: l.undo(at)}
	}
	return end, nil
}

// undo removes what a failed append may have left. Its sync is for the length of the file,
// and not a second try for the data.
func (l *Log) undo(at Position) bool {
	return l.file.Truncate(at.Offset) == nil && l.file.Sync() == nil
}

// EncodeChange returns the lines of a change that follows at. It sets More. It decodes each
// line again, because a line that cannot be read must not be written.
func EncodeChange(at Position, events []event.Event) ([]byte, error) {
	lines := make([]byte, 0, 512*len(events))
	for i := range events {
		e := events[i]
		e.More = i < len(events)-1
		if err := numbered(at, events, i); err != nil {
			return nil, err
		}
		start := len(lines)
		lines = e.Append(lines)
		if err := readable(&e, lines[start:]); err != nil {
			return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	return lines, nil
}

func numbered(at Position, events []event.Event, i int) error {
	due := events[0].Seq + int64(i)
	if at != (Position{}) {
		due = at.Seq + 1 + int64(i)
	}
	if events[i].Seq != due {
		return fmt.Errorf("event_seq %d where %d is due", events[i].Seq, due)
	}
	return nil
}

func readable(e *event.Event, line []byte) error {
	if len(line) > MaxLine {
		return errLineTooLong
	}
	for _, raw := range [][]byte{e.Handoff, e.Payload} {
		if len(raw) > 0 && !wire.Valid(raw) {
			return fmt.Errorf("not JSON: %.40q", raw)
		}
	}
	_, err := event.Decode(line)
	return err
}

// Cut removes the torn tail after at. When it returns nil, the tail is gone from the disk
// too. The caller has the room's lock, and at is from [Log.Scan] or [Log.Last]. If at is
// beyond the end or inside a line, the error is [ErrPosition].
func (l *Log) Cut(at Position) error {
	if _, err := l.fits(at); err != nil { // Truncate would append NULs
		return err
	}
	if err := l.file.Truncate(at.Offset); err != nil {
		return err
	}
	return l.file.Sync()
}
