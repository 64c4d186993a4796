package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/talking-stick/tt/journal/event"
)

// findWindow is how much one probe reads, unless the line there is longer.
const findWindow = 4 << 10

// First returns the first event, [ErrEmpty] if no change is whole.
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

// Find returns the position before event seq: a [Log.Scan] from there delivers seq
// first. That can be inside a change. A seq before the first event gives the
// start of the file, one after the last the position of [Log.Last].
//
// The lines are sorted by event_seq, so Find bisects the file: about one small
// read for each doubling of its size, and no index to keep.
func (l *Log) Find(seq int64) (Position, error) {
	end, _, err := l.Last()
	if err != nil || seq > end.Seq || end.Offset == 0 {
		return end, err
	}
	b := bisector{log: l, lines: newLineReader(l.file, 0, findWindow), end: end, seq: seq}
	first, err := b.read()
	if err != nil || seq <= first {
		return Position{}, err
	}
	low, err := b.narrow()
	if err != nil {
		return Position{}, err
	}
	return b.walk(low)
}

// A bisector is one Find, for a seq that is after the first line and not after end.
type bisector struct {
	log   *Log
	lines *lineReader
	dec   event.Decoder
	end   Position
	seq   int64
}

// narrow returns the start of a line before seq, at most about a window away.
func (b *bisector) narrow() (int64, error) {
	// The line at low is before seq; of the lines starting at high or later, none is.
	low, high := int64(0), b.end.Offset
	for high-low > findWindow {
		middle := low + (high-low)/2
		start, before, err := b.probe(middle)
		if err != nil {
			return 0, err
		}
		if before {
			low = start
		} else {
			high = middle
		}
	}
	return low, nil
}

// probe finds the first line that starts at offset or later, and whether it is before seq.
func (b *bisector) probe(offset int64) (start int64, before bool, err error) {
	b.lines.seek(offset - 1)
	if _, err := b.lines.next(); err != nil {
		return 0, false, b.explain(offset, err)
	}
	if start = b.lines.off; start >= b.end.Offset {
		return start, false, nil
	}
	seq, err := b.read()
	return start, seq < b.seq, err
}

// walk reads line by line from low up to seq.
func (b *bisector) walk(low int64) (Position, error) {
	b.lines.seek(low)
	for {
		start := b.lines.off
		seq, err := b.read()
		switch {
		case err != nil:
			return Position{}, err
		case seq == b.seq:
			return Position{Offset: start, Seq: seq - 1}, nil
		case seq > b.seq:
			return Position{}, b.log.corrupt(start, fmt.Sprintf("event_seq %d where %d was due", seq, b.seq))
		}
	}
}

// read returns the number of the next line.
func (b *bisector) read() (int64, error) {
	start := b.lines.off
	line, err := b.lines.next()
	if err != nil {
		return 0, b.explain(start+1, err)
	}
	var e event.Event
	if err := decodeLine(&b.dec, line, &e); err != nil {
		return 0, b.log.corrupt(start, err.Error())
	}
	return e.Seq, nil
}

// explain turns a failed read of the line that reaches up to end, or beyond it, into
// the error to return.
func (b *bisector) explain(end int64, err error) error {
	switch {
	case errors.Is(err, errLineTooLong):
		return b.log.corruptUpTo(end, err.Error())
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF // the file was longer when we began
	}
	return err
}
