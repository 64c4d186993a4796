package fsroom

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strconv"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// maxProjection bounds what is read of a state.json, which is some kilobytes.
const maxProjection = 64 << 20

// A projection is the content of state.json:
//
//	{"format":1,"journal":{"offset":512,"event_seq":3,"turn_id":1,"mtime_ns":…},"fnv1a":"…","state":{…}}
//
// It names the journal bytes it covers, so that one stat tells whether it is up
// to date, and a checksum of that and of the state, so that damage never passes
// for truth: with another event_seq the next change would spoil the journal.
type projection struct {
	Format  int
	Journal coverage
	Sum     string // hexadecimal: not every reader of JSON has 64-bit numbers
	State   json.RawMessage
}

func (p *projection) Fields(c *wire.Codec) {
	c.Num("format", &p.Format)
	c.Object("journal", &p.Journal)
	c.Text("fnv1a", &p.Sum)
	c.OptRaw("state", &p.State)
}

type coverage struct {
	journal.Position
	Turn int64 // of the last event covered
	// MTime is the journal's modification time after the append. A journal of
	// the same size but another time was touched by somebody else and is read
	// again from the start.
	MTime int64
}

func (c *coverage) Fields(w *wire.Codec) {
	w.Int("offset", &c.Offset)
	w.Int("event_seq", &c.Seq)
	w.Int("turn_id", &c.Turn)
	w.Int("mtime_ns", &c.MTime)
}

// matches reports whether the journal is, by size and time, just what is covered.
func (c coverage) matches(info fs.FileInfo) bool {
	return c.Offset > 0 && info.Size() == c.Offset && info.ModTime().UnixNano() == c.MTime
}

// checksum is that of a projection with this coverage and state. It is FNV-1a:
// good enough against damage by accident, and without the tables whose making
// costs a CRC more than the rest of a reading command.
func (c coverage) checksum(state []byte) string {
	h := fnv.New64a()
	for _, n := range []int64{c.Offset, c.Seq, c.Turn, c.MTime} {
		h.Write(strconv.AppendInt(nil, n, 10))
		h.Write([]byte{' '})
	}
	h.Write(state)
	return strconv.FormatUint(h.Sum64(), 16)
}

// errDamaged means that state.json is of no use and the journal must be read.
var errDamaged = errors.New("damaged projection")

// readProjection returns nil for a projection that is missing, unreadable or damaged. The
// only error is a format newer than this program knows.
func (r *Room[S]) readProjection() (*projection, S, error) {
	var none S
	b, err := lockfile.ReadRegular(r.statePath(), maxProjection)
	if err != nil {
		return nil, none, nil
	}
	p, s, err := decodeProjection(r.rules, r.name, b)
	if errors.Is(err, errDamaged) {
		return nil, none, nil
	}
	return p, s, err
}

func decodeProjection[S any](rules *Rules[S], room string, b []byte) (*projection, S, error) {
	var p projection
	var none S
	if wire.Decode(b, &p) != nil {
		return nil, none, errDamaged
	}
	if p.Format > rules.Format {
		return nil, none, code.New(code.UnsupportedFormat, "room %s was written by a newer version (format %d, this one knows %d)", room, p.Format, rules.Format).
			WithHint("update; the room was left untouched").With("room_id", room)
	}
	if p.Format < 1 || p.Journal.Offset < 0 || p.Journal.Seq < 0 || p.Journal.checksum(p.State) != p.Sum {
		return nil, none, errDamaged
	}
	s := rules.New(room)
	if rules.decode(p.State, s) != nil {
		return nil, none, errDamaged
	}
	return &p, s, nil
}

// encode returns the JSON form of a state.
func (r *Rules[S]) encode(s S) ([]byte, error) {
	if r.Fields != nil {
		return wire.Append(nil, r.Fields(s)), nil
	}
	return json.Marshal(s)
}

func (r *Rules[S]) decode(b []byte, s S) error {
	if r.Fields != nil {
		return wire.Decode(b, r.Fields(s))
	}
	return json.Unmarshal(b, s)
}

func encodeProjection[S any](rules *Rules[S], c coverage, s S) ([]byte, error) {
	state, err := rules.encode(s)
	if err != nil {
		return nil, fmt.Errorf("projection: %w", err)
	}
	p := projection{Format: rules.Format, Journal: c, Sum: c.checksum(state), State: state}
	return append(wire.Append(make([]byte, 0, len(state)+192), &p), '\n'), nil
}
