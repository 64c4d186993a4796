package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	scanWindow = 64 << 10 // bytes a Scan reads at once
	leastRead  = 512      // and the least, for the short tails that are usual
)

// Scan calls fn with the events of every whole change after from, in order: all
// of a change or nothing of it. end is the offset behind the event's line; it is
// a Position's offset where e.More is false. e and its slices are valid only
// during the call, see [Event.Clone].
//
// Scan returns the position after the last whole change it delivered and what
// torn bytes follow. The error is a [CorruptError] for damage, [ErrPosition]
// (wrapped) when from lies outside the file or inside a line, and whatever fn
// returned, unchanged, after which nothing more is read; the change that fn
// did not take is not covered by the position.
//
// The event numbers must go up by one, starting at from.Seq+1; from the zero
// Position the first line sets the start. A Scan may start inside a change, as
// [Log.Find] does; it then delivers the rest of it.
//
// Scan takes no lock and may see a change before its writer has synced it.
func (l *Log) Scan(from Position, fn func(e *Event, end int64) error) (Position, Tail, error) {
	return l.scan(from, scanWindow, fn)
}

func (l *Log) scan(from Position, window int64, fn func(*Event, int64) error) (Position, Tail, error) {
	size, err := l.fits(from)
	if err != nil {
		return from, Tail{}, err
	}
	window = max(leastRead, min(window, size-from.Offset+1)) // +1 to meet the end in the same read
	s := newScanner(l.file, from, window, fn)
	// A writer may cut a torn tail and write its own lines there between two of
	// our reads, and we would have glued both together. So damage counts only
	// if it is met twice in the same place.
	for failed := int64(-1); ; {
		tail, problem, err := s.run()
		if err != nil || problem == "" {
			return s.pos, tail, err
		}
		if s.line == failed {
			return s.pos, Tail{}, l.corrupt(s.line, problem)
		}
		failed = s.line
		s.restart()
	}
}

// fits checks that from can be a position of the file and returns the file's size.
func (l *Log) fits(from Position) (size int64, err error) {
	size, _, err = l.file.Stat()
	if err != nil || from.Offset == 0 {
		return size, err
	}
	if from.Offset < 0 || from.Offset > size {
		return size, fmt.Errorf("%s: offset %d of %d: %w", l.path, from.Offset, size, ErrPosition)
	}
	var before [1]byte
	if _, err := l.file.ReadAt(before[:], from.Offset-1); err != nil && !errors.Is(err, io.EOF) {
		return size, err
	}
	if before[0] != '\n' {
		return size, fmt.Errorf("%s: offset %d is inside a line: %w", l.path, from.Offset, ErrPosition)
	}
	return size, nil
}

// A scanner is one Scan.
type scanner struct {
	lines *lineReader
	dec   decoder
	fn    func(*Event, int64) error

	pos     Position  // after the last change delivered
	counted bool      // whether seq says what the next number must be
	seq     int64     // of the last line read
	line    int64     // offset of the line being read
	event   Event     // that line
	pending []pending // lines of a change whose end is not yet read
}

type pending struct {
	event Event
	end   int64
}

func newScanner(file io.ReaderAt, from Position, window int64, fn func(*Event, int64) error) *scanner {
	return &scanner{
		lines:   newLineReader(file, from.Offset, window),
		dec:     decoder{names: make(map[string]string)},
		fn:      fn,
		pos:     from,
		counted: from != Position{},
		seq:     from.Seq,
	}
}

// restart goes back to the end of the last change delivered.
func (s *scanner) restart() {
	s.lines.seek(s.pos.Offset)
	s.counted, s.seq = s.pos != Position{}, s.pos.Seq
	s.pending = s.pending[:0]
}

// run reads to the end. A problem is damage in the line at s.line.
func (s *scanner) run() (tail Tail, problem string, err error) {
	for {
		s.line = s.lines.off
		line, err := s.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return Tail{Torn: s.line + int64(len(line)) - s.pos.Offset}, "", nil
		case errors.Is(err, errLineTooLong):
			return Tail{}, err.Error(), nil
		case err != nil:
			return Tail{}, "", err
		}
		if err := decodeLine(&s.dec, line, &s.event); err != nil {
			return s.undecodable(line, err)
		}
		if s.counted && s.event.Seq != s.seq+1 {
			return Tail{}, outOfOrder(s.event.Seq, s.seq), nil
		}
		if err := s.take(); err != nil {
			return Tail{}, "", err
		}
	}
}

// undecodable tells a page lost in a power cut at the end from damage.
func (s *scanner) undecodable(line []byte, bad error) (Tail, string, error) {
	if !lostPage(line) {
		return Tail{}, bad.Error(), nil
	}
	last, err := s.lines.atEnd()
	if err != nil || !last {
		return Tail{}, bad.Error(), err
	}
	return Tail{Torn: s.lines.off - s.pos.Offset}, "", nil
}

// take delivers the line in s.event if it ends a change, else puts it aside.
func (s *scanner) take() error {
	s.counted, s.seq = true, s.event.Seq
	end := s.lines.off
	if s.event.More {
		s.pending = append(s.pending, pending{s.event.Clone(), end})
		return nil
	}
	for i := range s.pending {
		if err := s.fn(&s.pending[i].event, s.pending[i].end); err != nil {
			return err
		}
	}
	s.pending = s.pending[:0]
	if err := s.fn(&s.event, end); err != nil {
		return err
	}
	s.pos = Position{Offset: end, Seq: s.seq}
	return nil
}

// decodeLine is decode for a line of the file, newline included.
func decodeLine(d *decoder, line []byte, e *Event) error {
	body := line[:len(line)-1]
	switch {
	case len(body) == 0:
		return errors.New("blank line")
	case body[len(body)-1] == '\r':
		return errors.New("line ends in CR LF")
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return errors.New("line starts with a byte order mark")
	}
	return d.decode(body, e)
}

func outOfOrder(seq, after int64) string { return fmt.Sprintf("event_seq %d follows %d", seq, after) }

// lostPage reports whether a line that does not decode may be what a power cut left.
func lostPage(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 }
