package journal

import (
	"bytes"
	"errors"
	"io"

	"github.com/talking-stick/tt/journal/event"
)

var errLineTooLong = errors.New("longer than 4194304 bytes")

// A lineReader reads lines forward from an offset. Its buffer grows up to the longest line
// and never beyond MaxLine.
type lineReader struct {
	file       io.ReaderAt
	off        int64 // of the next line in the file
	buf        []byte
	head, tail int   // buf[head:tail] is read from the file and not yet returned
	err        error // of the read after buf[:tail]
}

func newLineReader(file io.ReaderAt, off, window int64) *lineReader {
	return &lineReader{file: file, off: off, buf: make([]byte, window)}
}

// seek sets the offset of the next line.
func (r *lineReader) seek(off int64) {
	r.off, r.head, r.tail, r.err = off, 0, 0, nil
}

// next returns the next line with its newline, valid until the following call. At the end
// of the file it returns the rest, which has no newline, and io.EOF.
func (r *lineReader) next() ([]byte, error) {
	searched := 0
	for {
		unread := r.buf[r.head:r.tail]
		if i := bytes.IndexByte(unread[searched:], '\n'); i >= 0 {
			n := searched + i + 1
			r.head += n
			r.off += int64(n)
			return unread[:n], nil
		}
		if searched = len(unread); searched >= MaxLine {
			return nil, errLineTooLong
		}
		if err := r.fill(); err != nil {
			return r.buf[r.head:r.tail], err
		}
	}
}

// atEnd reports whether the file ends after the last line, which it invalidates.
func (r *lineReader) atEnd() (bool, error) {
	if r.head < r.tail {
		return false, nil
	}
	err := r.fill()
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// fill reads at least one more byte.
func (r *lineReader) fill() error {
	if r.err != nil {
		return r.err
	}
	r.tail = copy(r.buf, r.buf[r.head:r.tail])
	r.head = 0
	if r.tail == len(r.buf) {
		grown := make([]byte, min(2*len(r.buf), MaxLine))
		copy(grown, r.buf)
		r.buf = grown
	}
	n, err := r.file.ReadAt(r.buf[r.tail:], r.off+int64(r.tail))
	r.tail += n
	r.err = err
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// lineNumber returns the number, counted from 1, of the line at offset.
func (l *Log) lineNumber(offset int64) (int, error) {
	buf := make([]byte, scanWindow)
	line := 1
	for at := int64(0); at < offset; {
		n, err := l.file.ReadAt(buf[:min(int64(len(buf)), offset-at)], at)
		line += bytes.Count(buf[:n], []byte{'\n'})
		at += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	return line, nil
}

// A Line is one line of a journal, readable or not.
type Line struct {
	Text    []byte      // with its newline; nil for a line longer than MaxLine
	End     int64       // the offset after it
	Event   event.Event // zero if Problem is set
	Problem string      // why the line cannot be read; "" if it can
	Torn    bool        // the line is the last one and may be of an unfinished write
}

// Lines calls fn with every line of the file, also with damaged ones, and returns the error
// of fn. It removes what an editor may have added to a line: a carriage return or a byte
// order mark. Lines checks no numbers and ignores changes: it is for the repair of files
// that [Log.Scan] refuses. A line is valid only during the call.
func (l *Log) Lines(fn func(*Line) error) error {
	lines := newLineReader(l.file, 0, scanWindow)
	for {
		text, err := lines.next()
		line := Line{Text: text}
		switch {
		case errors.Is(err, io.EOF):
			if len(text) == 0 {
				return nil
			}
			line.Problem, line.Torn, line.End = "it has no end", true, lines.off+int64(len(text))
			return fn(&line)
		case errors.Is(err, errLineTooLong):
			line.Text, line.Problem = nil, err.Error()
			line.Torn, err = lines.skip()
		case err == nil:
			line.Text = cleaned(text)
			text = line.Text
			if bad := decodeLine(text, &line.Event); bad != nil {
				line.Problem, line.Event = bad.Error(), event.Event{}
			}
		}
		if err != nil {
			return err
		}
		line.End = lines.off
		if err := fn(&line); err != nil {
			return err
		}
	}
}

// cleaned returns a line without a byte order mark and without a carriage return
// before its newline.
func cleaned(line []byte) []byte {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	if body, ok := bytes.CutSuffix(line, []byte("\r\n")); ok {
		line = append(body, '\n')
	}
	return line
}

// skip goes to the next line and does not keep the bytes of this one. It reports whether
// the file ends before a newline.
func (r *lineReader) skip() (atEnd bool, err error) {
	for {
		r.seek(r.off + int64(r.tail-r.head))
		err := r.fill()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		for i, c := range r.buf[:r.tail] {
			if c == '\n' {
				r.seek(r.off + int64(i) + 1)
				return false, nil
			}
		}
	}
}
