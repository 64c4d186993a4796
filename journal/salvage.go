package journal

import (
	"bytes"
	"errors"
	"io"

	"github.com/talking-stick/tt/journal/event"
)

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
