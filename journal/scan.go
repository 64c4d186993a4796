package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/talking-stick/tt/journal/event"
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
// A torn tail is the one change behind what is known to have been committed
// ([Log.SetCommitted]), as far as it came to be. It is torn if the file ends before
// its last line, or if any of its lines has NUL bytes, which a file system may
// leave of a page that it had no time to write. It is torn as a whole, however many
// of its lines read. Where whole changes lie between the committed bytes and the
// damage, what follows need not be one change: then only the last line of the file
// may be torn.
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
	log   *Log
	lines *lineReader
	dec   event.Decoder
	fn    func(*event.Event, int64) error

	pos     Position    // after the last change delivered
	counted bool        // whether seq says what the next number must be
	seq     int64       // of the last line read
	line    int64       // offset of the line being read
	event   event.Event // that line
	pending []pending   // lines of a change whose end is not yet read
}

type pending struct {
	event event.Event
	end   int64
}

func newScanner(l *Log, from Position, window int64, fn func(*event.Event, int64) error) *scanner {
	return &scanner{
		log:     l,
		lines:   newLineReader(l.file, from.Offset, window),
		dec:     event.NewDecoder(),
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
			return s.unfinished(s.line + int64(len(line)))
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

// unfinished handles a file that ends at end, behind s.pos.
func (s *scanner) unfinished(end int64) (Tail, string, error) {
	if end == s.pos.Offset {
		return Tail{}, "", nil
	}
	committed, err := s.log.committedBytes()
	if err != nil || s.pos.Offset >= committed {
		return Tail{Torn: end - s.pos.Offset}, "", err
	}
	if s.line == end {
		s.line = s.pos.Offset
	}
	return Tail{}, "the change it belongs to has no end", nil
}

// undecodable handles a line that does not decode: it is damage, unless a power
// cut may have left it and what follows.
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

// restOfChange reads on behind a line with NUL bytes. It returns the end of the
// file and whether all up to there can be of the same change. sure tells that at
// most one change can be there; else only a last line is taken for torn.
func (s *scanner) restOfChange(sure bool) (end int64, torn bool, err error) {
	for lost := int64(1); ; {
		atEnd, err := s.lines.atEnd()
		if err != nil || atEnd || !sure {
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
		if err := decodeLine(&s.dec, line, &s.event); err != nil {
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

// follows reports whether the number of the line in s.event fits behind the last
// one that was read and lost lines that were not. A line with NUL bytes stands for
// several if they cover a newline.
func (s *scanner) follows(lost int64) bool {
	due := s.seq + 1 + lost
	return !s.counted || s.event.Seq == due || lost > 0 && s.event.Seq > due
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
func decodeLine(d *event.Decoder, line []byte, e *event.Event) error {
	body := line[:len(line)-1]
	switch {
	case len(body) == 0:
		return errors.New("blank line")
	case body[len(body)-1] == '\r':
		return errors.New("line ends in CR LF")
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return errors.New("line starts with a byte order mark")
	}
	return d.Decode(body, e)
}

func outOfOrder(seq, after int64) string { return fmt.Sprintf("event_seq %d follows %d", seq, after) }

// lostPage reports whether a line that does not decode may be what a power cut left.
func lostPage(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 }
