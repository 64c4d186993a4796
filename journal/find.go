package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/talking-stick/tt/journal/event"
)

// findWindow is how many bytes one probe reads, unless a line is longer.
const findWindow = 4 << 10

// First returns the first event. The error is [ErrEmpty] if there is no complete change.
func (l *Log) First() (event.Event, error) {
	var first event.Event
	found := errors.New("found")
	_, _, err := l.scan(Position{}, findWindow, func(e *event.Event, _ int64) error {
		first = e.Clone()
		return found
	})
	if err == nil {
		return event.Event{}, ErrEmpty
	}
	if !errors.Is(err, found) {
		return event.Event{}, err
	}
	return first, nil
}

// Find returns the position before event seq, so that a [Log.Scan] from there delivers seq
// first. The position can be inside a change. For a seq before the first event it is the
// start of the file, and for one after the last it is that of [Log.Last]. For a lost event it is
// before the first one that follows.
//
// The lines are sorted by event_seq, so Find bisects the file. It needs about one small
// read for each doubling of the size, and no index.
func (l *Log) Find(seq int64) (Position, error) {
	end, _, err := l.Last()
	if err != nil || seq > end.Seq || end.Offset == 0 {
		return end, err
	}
	lines := newLineReader(l.file, 0, findWindow)
	first, _, err := l.nextSeq(lines)
	if err != nil || seq <= first {
		return Position{}, err
	}
	// The line at low is before seq. No line that starts at high or later is.
	low, high := int64(0), end.Offset
	for high-low > findWindow {
		middle := low + (high-low)/2
		lines.seek(middle - 1)
		if _, err := lines.next(); err != nil {
			return Position{}, l.explain(middle, err)
		}
		start, at := lines.off, seq
		if start < end.Offset {
			if at, _, err = l.nextSeq(lines); err != nil {
				return Position{}, err
			}
		}
		if at < seq {
			low = start
		} else {
			high = middle
		}
	}
	lines.seek(low)
	for before := int64(0); ; {
		start := lines.off
		at, leaps, err := l.nextSeq(lines)
		switch {
		case err != nil:
			return Position{}, err
		case at >= seq && leaps && before > 0:
			return Position{Offset: start, Seq: before}, nil
		case at == seq:
			return Position{Offset: start, Seq: seq - 1}, nil
		case at > seq:
			return Position{}, l.corrupt(start, fmt.Sprintf("event_seq %d where %d was due", at, seq))
		}
		before = at
	}
}

// nextSeq returns the event_seq of the next line, and whether that may leave numbers out.
func (l *Log) nextSeq(lines *lineReader) (seq int64, leaps bool, err error) {
	start := lines.off
	line, err := lines.next()
	if err != nil {
		return 0, false, l.explain(start+1, err)
	}
	var e event.Event
	if err := decodeLine(line, &e); err != nil {
		return 0, false, l.corrupt(start, err.Error())
	}
	return e.Seq, e.Leaps(0), nil
}

// explain returns the error of Find for a failed read of a line that ends at end or later.
func (l *Log) explain(end int64, err error) error {
	switch {
	case errors.Is(err, errLineTooLong):
		return l.corruptUpTo(end, err.Error())
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF // the file has become shorter
	}
	return err
}
