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

func (l *Log) last() (Position, Tail, error) {
	size, _, err := l.file.Stat()
	if err != nil {
		return Position{}, Tail{}, err
	}
	r := backReader{file: l.file, start: size}
	var d event.Decoder
	var e event.Event
	line, err := r.prev()
	if err == nil && endsChange(&d, line, &e) {
		end := Position{Offset: size, Seq: e.Seq}
		line, err = r.prev()
		if errors.Is(err, io.EOF) || err == nil && separate(&d, line, end.Seq) {
			return end, Tail{}, nil
		}
	}
	// The last change has several lines or may be torn. Scan it from the end of the
	// change before it.
	for ; err == nil; line, err = r.prev() {
		end := r.offset() + int64(len(line))
		if end < size && endsChange(&d, line, &e) {
			return l.scan(Position{Offset: end, Seq: e.Seq}, tailWindow, ignore)
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return l.scan(Position{}, tailWindow, ignore)
	case errors.Is(err, errLineTooLong):
		err = l.corruptUpTo(r.offset(), err.Error())
	}
	return Position{}, Tail{}, err
}

func ignore(*event.Event, int64) error { return nil }

// endsChange decodes a line and reports whether it is the last of a change.
func endsChange(d *event.Decoder, line []byte, e *event.Event) bool {
	return line[len(line)-1] == '\n' && decodeLine(d, line, e) == nil && !e.More
}

// separate reports whether the line before event seq belongs to another change. A line
// that is damaged, but not by a lost page, cannot belong to a torn change.
func separate(d *event.Decoder, line []byte, seq int64) bool {
	var e event.Event
	if decodeLine(d, line, &e) != nil {
		return !lostPage(line)
	}
	return !e.More && e.Seq+1 == seq
}

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

// A backReader reads lines from the end of a file towards its start.
type backReader struct {
	file  io.ReaderAt
	start int64  // offset of buf[0]
	buf   []byte // read and not yet returned
}

// offset returns the offset of the line last returned.
func (r *backReader) offset() int64 { return r.start + int64(len(r.buf)) }

// prev returns the line before the one last returned, and io.EOF after the first line of
// the file. The line is valid until the next call. Only the last line of the file may have
// no newline.
func (r *backReader) prev() ([]byte, error) {
	for {
		n := len(r.buf)
		if n == 0 && r.start == 0 {
			return nil, io.EOF
		}
		if n > 0 {
			i := bytes.LastIndexByte(r.buf[:n-1], '\n') + 1
			if i > 0 || r.start == 0 {
				return r.cut(i)
			}
			if n > MaxLine {
				return nil, errLineTooLong
			}
		}
		if err := r.grow(); err != nil {
			return nil, err
		}
	}
}

// cut returns the line that starts at buf[i].
func (r *backReader) cut(i int) ([]byte, error) {
	line := r.buf[i:]
	unfinished := line[len(line)-1] != '\n'
	if len(line) > MaxLine || unfinished && len(line) == MaxLine {
		return nil, errLineTooLong
	}
	r.buf = r.buf[:i]
	return line, nil
}

// grow doubles buf by reading the bytes before it.
func (r *backReader) grow() error {
	more := min(int64(max(tailWindow, len(r.buf))), r.start)
	grown := make([]byte, more, more+int64(len(r.buf)))
	if n, err := r.file.ReadAt(grown, r.start-more); int64(n) < more {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	r.buf = append(grown, r.buf...)
	r.start -= more
	return nil
}
