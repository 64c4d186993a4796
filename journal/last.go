package journal

import (
	"bytes"
	"errors"
	"io"

	"github.com/talking-stick/tt/journal/event"
)

// tailWindow is how many bytes of the end of the file are read first.
const tailWindow = 4 << 10

// Last returns the position after the last complete change, the zero Position if there is
// none, and the torn tail after it. The results are those of a [Log.Scan] of the whole file,
// but Last reads only as much of the end as it needs and so does not notice damage before
// the last two changes.
func (l *Log) Last() (pos Position, tail Tail, err error) {
	// The second try is for a writer that cuts off a torn tail between two reads.
	for range 2 {
		pos, tail, err = l.last()
		var bad *CorruptError
		if !errors.As(err, &bad) && !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
	}
	return pos, tail, err
}

// last looks in a growing part of the end of the file for what is before the last change, and scans
// from there. Where it finds nothing soon, it scans from the beginning.
func (l *Log) last() (Position, Tail, error) {
	size, _, err := l.file.Stat()
	if err != nil {
		return Position{}, Tail{}, err
	}
	for window := int64(tailWindow); ; window *= 2 {
		start := max(0, size-window)
		buf := make([]byte, size-start)
		if n, err := l.file.ReadAt(buf, start); n < len(buf) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // the file has become shorter
			}
			return Position{}, Tail{}, err
		}
		if seq, end := endOfChange(buf, start == 0); end > 0 {
			return l.scan(Position{Offset: start + int64(end), Seq: seq}, tailWindow, ignore)
		}
		if start == 0 || window >= MaxLine {
			return l.scan(Position{}, tailWindow, ignore)
		}
	}
}

// endOfChange returns the offset in buf, the end of a file, of the last change or torn tail, and the
// event_seq before it: behind the last line that ends a change and is followed by something. A last
// line that is a change by itself is not looked behind if the line before it is damaged, but not by a
// lost page: then that one cannot belong to it. The offset is 0 if it is not in buf, which begins with
// a line if whole is true.
func endOfChange(buf []byte, whole bool) (seq int64, end int) {
	lineAt := func(end int) int { return bytes.LastIndexByte(buf[:max(0, end-1)], '\n') + 1 }
	var e, last event.Event
	end = lineAt(len(buf))
	single := bytes.HasSuffix(buf, []byte{'\n'}) && decodeLine(buf[end:], &last) == nil && !last.More
	for ; end > 0; end, single = lineAt(end), false {
		line := buf[lineAt(end):end]
		if len(line) == end && !whole {
			return 0, 0
		}
		switch err := decodeLine(line, &e); {
		case err == nil && !e.More:
			return e.Seq, end
		case err != nil && single && !lostPage(line):
			return last.Seq - 1, end
		}
	}
	return 0, 0
}

func ignore(*event.Event, int64) error { return nil }

// corruptUpTo is [Log.corrupt] for the line that ends at offset end or later.
func (l *Log) corruptUpTo(end int64, problem string) error {
	lines := newLineReader(l.file, 0, scanWindow)
	for {
		start := lines.off
		_, err := lines.next()
		if err != nil || lines.off >= end {
			return l.corrupt(start, problem)
		}
	}
}
