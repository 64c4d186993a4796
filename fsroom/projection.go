package fsroom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
)

// maxProjection bounds what is read of a state.json, which is some kilobytes.
const maxProjection = 64 << 20

// A projection is the content of state.json:
//
//	{"format":1,"journal":{"offset":512,"event_seq":3,"mtime_ns":…},"fnv1a":…,"state":{…}}
//
// It names the journal bytes it covers, so that one stat tells whether it is up
// to date, and a checksum of the state, so that damage never passes for truth.
type projection struct {
	Format  int             `json:"format"`
	Journal coverage        `json:"journal"`
	Sum     uint64          `json:"fnv1a"`
	State   json.RawMessage `json:"state"`
}

type coverage struct {
	journal.Position
	// MTime is the journal's modification time after the append. A journal of
	// the same size but another time was touched by somebody else and is read
	// again from the start.
	MTime int64 `json:"mtime_ns"`
}

// checksum is FNV-1a: good enough against damage by accident, and without the
// tables whose making costs a CRC more than the rest of a reading command.
func checksum(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// errDamaged means that state.json is of no use and the journal must be read.
var errDamaged = errors.New("damaged projection")

// readProjection returns nil for a projection that is missing or damaged. The
// only error is a format newer than this program knows.
func (r *Room[S]) readProjection() (*projection, *S, error) {
	b, err := readFile(r.statePath(), maxProjection)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, nil, err
		}
		return nil, nil, nil
	}
	p, s, err := decodeProjection(r.rules, r.name, b)
	if errors.Is(err, errDamaged) {
		return nil, nil, nil
	}
	return p, s, err
}

func decodeProjection[S any](rules *Rules[S], room string, b []byte) (*projection, *S, error) {
	var p projection
	if json.Unmarshal(b, &p) != nil {
		return nil, nil, errDamaged
	}
	if p.Format > rules.Format {
		return nil, nil, code.New(code.UnsupportedFormat, "room %s was written by a newer version (format %d, this one knows %d)", room, p.Format, rules.Format).
			WithHint("update; the room was left untouched").With("room_id", room)
	}
	if p.Format < 1 || p.Journal.Offset < 0 || p.Journal.Seq < 0 || checksum(p.State) != p.Sum {
		return nil, nil, errDamaged
	}
	s := rules.New(room)
	if json.Unmarshal(p.State, s) != nil {
		return nil, nil, errDamaged
	}
	return &p, s, nil
}

// encodeProjection writes the members by hand around the state: marshalling
// the state once more as part of a whole would cost as much again.
func encodeProjection(format int, c coverage, state any) ([]byte, error) {
	body, err := json.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("projection: %w", err)
	}
	var b bytes.Buffer
	b.Grow(len(body) + 128)
	b.WriteString(`{"format":`)
	b.WriteString(strconv.Itoa(format))
	b.WriteString(`,"journal":{"offset":`)
	b.WriteString(strconv.FormatInt(c.Offset, 10))
	b.WriteString(`,"event_seq":`)
	b.WriteString(strconv.FormatInt(c.Seq, 10))
	b.WriteString(`,"mtime_ns":`)
	b.WriteString(strconv.FormatInt(c.MTime, 10))
	b.WriteString(`},"fnv1a":`)
	b.WriteString(strconv.FormatUint(checksum(body), 10))
	b.WriteString(`,"state":`)
	b.Write(body)
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// readFile reads a regular file of ours, at most limit bytes of it. It follows
// no symbolic link and does not hang on a FIFO.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not a regular file of a sensible size", path)
	}
	b := make([]byte, info.Size(), info.Size()+1)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}
