package fsroom

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"strconv"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// maxProjection bounds what is read of a state.json, which is some kilobytes.
const maxProjection = 64 << 20

// A projection is the content of state.json:
//
//	{"format":1,"rules":2,"room":"project-5009ec41113e0df2","journal":{"offset":512,"event_seq":3,"turn_id":1,"mtime_ns":…},"fnv1a":"…","state":{…}}
//
// It names the journal bytes it covers, so that one stat tells whether it is up to
// date, and has a checksum of that and of the state, so that damage is noticed: with a
// wrong event_seq the next change would damage the journal.
//
// Rules is the version of the rules that made the state. A program with other rules does
// not use the state and folds the journal: it drops what it does not know from the state when it
// replaces it.
type projection struct {
	Format  int             `json:"format"`
	Rules   int             `json:"rules"`
	Room    string          `json:"room"` // the name of the room
	Journal coverage        `json:"journal"`
	Sum     string          `json:"fnv1a"` // hexadecimal: not every reader of JSON has 64-bit numbers
	State   json.RawMessage `json:"state,omitempty"`
}

type coverage struct {
	journal.Position
	Turn int64 `json:"turn_id"` // of the last event covered
	// MTime is the journal's modification time after the append. A journal of the
	// same size with another time was written by another program and is read again
	// from the start.
	MTime int64      `json:"mtime_ns"`
	Lost  event.Lost `json:",inline,omitzero"` // see [Snapshot]; zero for none
}

// checksum returns the checksum of a projection with this coverage and state. It is
// FNV-1a, which detects accidental damage and needs no tables: making those of a CRC
// takes longer than the rest of a reading command.
func (c coverage) checksum(state []byte) string {
	h := fnv.New64a()
	numbers := []int64{c.Offset, c.Seq, c.Turn, c.MTime}
	if c.Lost.To > 0 {
		numbers = append(numbers, c.Lost.From, c.Lost.To)
	}
	for _, n := range numbers {
		h.Write(strconv.AppendInt(nil, n, 10))
		h.Write([]byte{' '})
	}
	h.Write(state)
	return strconv.FormatUint(h.Sum64(), 16)
}

// coverage returns what a state.json with this snapshot covers.
func (s *Snapshot[S]) coverage() coverage {
	c := coverage{Position: s.Position, Turn: s.Turn, MTime: s.mtime}
	if s.Lost != nil {
		c.Lost = *s.Lost
	}
	return c
}

// covers reports whether the journal has the size and the time that a snapshot from
// state.json covers.
func (s *Snapshot[S]) covers(info fs.FileInfo) bool {
	return !s.outdated && s.Position.Offset > 0 && info.Size() == s.Position.Offset && info.ModTime().UnixNano() == s.mtime
}

// Cached returns what state.json has, nil if it is missing, unreadable or damaged. The
// only error is a format newer than this program knows. The state may be outdated, see
// [Snapshot.Outdated]; what it says of the journal is right even then.
func (r *Files[S]) Cached() (*Snapshot[S], error) {
	b, err := lockfile.ReadRegular(r.StatePath(), maxProjection)
	if err != nil {
		return nil, nil
	}
	var p projection
	if wire.Decode(b, &p) != nil {
		return nil, nil
	}
	if p.Format > r.rules.Format {
		return nil, code.New(code.UnsupportedFormat, "room %s was written by a newer version (format %d, this one knows %d)", r.name, p.Format,
			r.rules.Format).WithHint("update; the room was left untouched").With("room_id", r.name)
	}
	if p.Format < 1 || p.Journal.Offset < 0 || p.Journal.Seq < 0 || p.Journal.checksum(p.State) != p.Sum || p.Room != r.name {
		return nil, nil
	}
	s := r.rules.New(r.name)
	if wire.Decode(p.State, s) != nil {
		return nil, nil
	}
	outdated := p.Rules != r.rules.Version
	snap := &Snapshot[S]{
		State: s, Position: p.Journal.Position, Turn: p.Journal.Turn, mtime: p.Journal.MTime, fresh: !outdated, outdated: outdated,
	}
	if p.Journal.Lost.To > 0 {
		snap.Lost = &p.Journal.Lost
	}
	return snap, nil
}

// WriteProjection replaces state.json by one that covers snap. The caller has the lock.
func (r *Files[S]) WriteProjection(snap *Snapshot[S]) error {
	if err := r.store.Step(StepReplace); err != nil {
		return err
	}
	if snap.mtime = 0; snap.Position.Offset > 0 {
		info, err := os.Lstat(r.JournalPath())
		if err != nil {
			return err
		}
		snap.mtime = info.ModTime().UnixNano()
	}
	b := r.encodeProjection(snap)
	if err := r.sweep(); err != nil {
		return err
	}
	replace := lockfile.Replace
	if r.store.opts.Engine != nil { // it can be fetched again
		replace = lockfile.ReplaceUnsynced
	}
	err := replace(r.StatePath(), b, r.TempDir())
	if err != nil && r.removeObstacle(err) {
		err = replace(r.StatePath(), b, r.TempDir())
	}
	snap.fresh, snap.outdated = err == nil, false
	return err
}

// encodeProjection returns the content of a state.json that covers snap, which has the time of
// the journal.
func (r *Files[S]) encodeProjection(snap *Snapshot[S]) []byte {
	state := wire.Append(nil, snap.State)
	c := snap.coverage()
	p := projection{Format: r.rules.Format, Rules: r.rules.Version, Room: r.name, Journal: c, Sum: c.checksum(state), State: state}
	return append(wire.Append(make([]byte, 0, len(state)+192), &p), '\n')
}

// sweep empties tmp. The room is locked, so a file in it was left by a killed process.
func (r *Files[S]) sweep() error {
	if err := r.store.checkDirs(r.TempDir()); err != nil {
		return err
	}
	_, err := lockfile.Sweep(r.TempDir())
	return err
}

// draftProjection begins to write and sync the state.json that covers snap, in tmp, beside what
// the caller does. The journal is the one that was written, whatever has its name by now. The function that it returns waits for it, and returns nil if that failed.
func (r *Files[S]) draftProjection(snap *Snapshot[S], log *journal.Log) func() *lockfile.Draft {
	_, modified, err := log.Stat()
	snap.mtime = modified.UnixNano()
	b := r.encodeProjection(snap)
	done := make(chan *lockfile.Draft, 1)
	go func() {
		var draft *lockfile.Draft
		if err == nil && r.sweep() == nil {
			draft, _ = r.store.opts.Prepare(r.StatePath(), b, r.TempDir())
		}
		done <- draft
	}()
	return func() *lockfile.Draft { return <-done }
}

// removeObstacle removes the reason for which state.json could not be replaced, if it
// can: a missing directory for temporary files, or a directory named state.json.
func (r *Files[S]) removeObstacle(err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return MakeDir(r.TempDir()) == nil
	}
	info, err := os.Lstat(r.StatePath())
	return err == nil && info.IsDir() && r.MoveAside(r.StatePath()) == nil
}
