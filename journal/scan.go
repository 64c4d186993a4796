package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/talking-stick/tt/journal/event"
)

const (
	scanWindow = 64 << 10 // bytes that a Scan reads at once at most
	leastRead  = 512      // and at least: most scans are of a short tail
)

// Scan calls fn with the events of every complete change after from, in order: with all
// events of a change or with none. end is the offset after the event's line; it is the
// offset of a Position if e.More is false. e and its slices are valid only during the call,
// see [event.Event.Clone].
//
// Scan returns the position after the last change delivered, and the torn tail. The error is
// a [CorruptError] for damage and [ErrPosition] (wrapped) if from is outside the file or
// inside a line. If fn returns an error, Scan returns it unchanged and reads no further; the
// position is then before the change that fn has refused.
//
// The event numbers must increase by one, starting at from.Seq+1; after the zero Position
// the first line may have any number, and an event of type [event.JournalDamaged] any higher
// one. A Scan may start inside a change, at a position of
// [Log.Find]; it then delivers the rest of the change.
//
// A torn tail is what was written of the one change after the bytes that are known to have
// been committed ([Log.SetCommitted]). The change is torn if the file ends before its last
// line, or if any of its lines has NUL bytes, which a file system may leave of a page that
// it had no time to write. It is torn as a whole, even if some of its lines can be read. If
// there are complete changes between the committed bytes and the damage, the rest of the
// file may be more than one change: then only the last line of the file can be torn.
//
// Scan takes no lock and may see a change before its writer has synced it.
func (l *Log) Scan(from Position, fn func(e *event.Event, end int64) error) (Position, Tail, error) {
	return l.scan(from, scanWindow, fn)
}

func (l *Log) scan(from Position, window int64, fn func(*event.Event, int64) error) (Position, Tail, error) {
	size, err := l.fits(from)
	if err != nil {
		return from, Tail{}, err
	}
	window = max(leastRead, min(window, size-from.Offset+1)) // +1 to meet the end in the same read
	s := newScanner(l, from, window, fn)
	// Between two reads a writer may cut off a torn tail and append its own lines. A
	// line can then have the beginning of one and the end of the other. So damage counts
	// only if it is found twice in the same place.
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
	log   *Log
	lines *lineReader
	fn    func(*event.Event, int64) error

	pos     Position    // after the last change delivered
	counted bool        // the next event_seq must be seq+1
	seq     int64       // of the last line read
	line    int64       // offset of the line being read
	event   event.Event // that line
	pending []pending   // events of a change whose end is not yet read
}

type pending struct {
	event event.Event
	end   int64
}

func newScanner(l *Log, from Position, window int64, fn func(*event.Event, int64) error) *scanner {
	return &scanner{
		log:     l,
		lines:   newLineReader(l.file, from.Offset, window),
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

// run reads to the end. A problem is the damage in the line at s.line.
func (s *scanner) run() (tail Tail, problem string, err error) {
	for {
		s.line = s.lines.off
		line, err := s.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return s.unfinished(s.line + int64(len(line)))
		case errors.Is(err, errLineTooLong):
			return Tail{}, err.Error(), nil
		case err != nil:
			return Tail{}, "", err
		}
		if err := decodeLine(line, &s.event); err != nil {
			return s.undecodable(line, err)
		}
		if s.counted && s.event.Seq != s.seq+1 && !s.event.Leaps(s.seq) {
			return Tail{}, outOfOrder(s.event.Seq, s.seq), nil
		}
		if err := s.take(); err != nil {
			return Tail{}, "", err
		}
	}
}

// unfinished handles the end of the file, which may be after s.pos.
func (s *scanner) unfinished(end int64) (Tail, string, error) {
	if end == s.pos.Offset {
		return Tail{}, "", nil
	}
	committed, err := s.log.committedBytes()
	isEnd := func(p pending) bool { return p.end == committed }
	// What was committed of this journal ends with a line: if it does not, another one was there.
	if err != nil || s.pos.Offset >= committed || committed < end && !slices.ContainsFunc(s.pending, isEnd) {
		return Tail{Torn: end - s.pos.Offset}, "", err
	}
	if s.line == end {
		s.line = s.pos.Offset
	}
	return Tail{}, "the change it belongs to has no end", nil
}

// undecodable handles a line that does not decode. It is damage, unless the line and what
// follows may be what a power cut left of one change.
func (s *scanner) undecodable(line []byte, bad error) (Tail, string, error) {
	if !lostPage(line) {
		return Tail{}, bad.Error(), nil
	}
	committed, err := s.log.committedBytes()
	if err != nil || s.pos.Offset < committed {
		return Tail{}, bad.Error(), err
	}
	end, torn, err := s.restOfChange(s.pos.Offset == committed)
	if err != nil || !torn {
		return Tail{}, bad.Error(), err
	}
	return Tail{Torn: end - s.pos.Offset}, "", nil
}

// restOfChange reads on after a line with NUL bytes. It returns the end of the file, and
// whether everything up to there can be of the same change. If the rest of the file may be
// more than one change (single is false), only a last line can be torn.
func (s *scanner) restOfChange(single bool) (end int64, torn bool, err error) {
	for lost := int64(1); ; {
		atEnd, err := s.lines.atEnd()
		if err != nil || atEnd || !single {
			return s.lines.off, atEnd, err
		}
		line, err := s.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return s.lines.off + int64(len(line)), true, nil
		case errors.Is(err, errLineTooLong):
			return 0, false, nil
		case err != nil:
			return 0, false, err
		}
		if err := decodeLine(line, &s.event); err != nil {
			if !lostPage(line) {
				return 0, false, nil
			}
			lost++
			continue
		}
		if !s.follows(lost) {
			return 0, false, nil
		}
		s.counted, s.seq, lost = true, s.event.Seq, 0
		if !s.event.More {
			atEnd, err := s.lines.atEnd()
			return s.lines.off, atEnd, err
		}
	}
}

// follows reports whether the line in s.event can follow the last line that was read and
// as many lost ones. A line with NUL bytes counts for several if the NULs cover a newline.
func (s *scanner) follows(lost int64) bool {
	due := s.seq + 1 + lost
	return !s.counted || s.event.Seq == due || lost > 0 && s.event.Seq > due
}

// take delivers the change that the event in s.event ends, and keeps an event that does not
// end a change.
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

// decodeLine decodes a line of the file with its newline.
func decodeLine(line []byte, e *event.Event) error {
	body := line[:len(line)-1]
	switch {
	case len(body) == 0:
		return errors.New("blank line")
	case body[len(body)-1] == '\r':
		return errors.New("line ends in CR LF")
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return errors.New("line starts with a byte order mark")
	}
	return e.Decode(body)
}

func outOfOrder(seq, after int64) string { return fmt.Sprintf("event_seq %d follows %d", seq, after) }

// lostPage reports whether a line has NUL bytes, as a power cut may leave them.
func lostPage(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 }
