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
// start of the file, and for one after the last it is that of [Log.Last].
//
// The lines are sorted by event_seq, so Find bisects the file. It needs about one small
// read for each doubling of the size, and no index.
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

// A bisector is one Find, for a seq after that of the first line and not after end.
type bisector struct {
	log   *Log
	lines *lineReader
	dec   event.Decoder
	end   Position
	seq   int64
}

// narrow returns the start of a line before seq and at most about a window away from it.
func (b *bisector) narrow() (int64, error) {
	// The line at low is before seq. No line that starts at high or later is.
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

// probe returns the start of the first line at offset or later, and whether the line is
// before seq.
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

// walk reads the lines from low up to seq.
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

// read returns the event_seq of the next line.
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

// explain returns the error of Find for a failed read of a line that ends at end or later.
func (b *bisector) explain(end int64, err error) error {
	switch {
	case errors.Is(err, errLineTooLong):
		return b.log.corruptUpTo(end, err.Error())
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF // the file has become shorter
	}
	return err
}
