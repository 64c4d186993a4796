package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// Why a snapshot was taken.
const (
	WhyFirst    = "first" // a turn was asked for, and there was no snapshot yet
	WhyStart    = "start" // the beginning of a turn
	WhyEnd      = "end"   // the end of a turn
	WhyTakeover = "takeover"
	WhyGuard    = "guard" // before a tool of the holder wrote
	WhyTick     = "tick"  // during a turn, by time
	WhyPerson   = "person"
	WhyJob      = "job"  // a job's command begins or has succeeded, see [Verdict]
	WhyUndo     = "undo" // after one
	WhyRestore  = "restore"
	whyBefore   = "before_" // an undo or a restore
)

// A Snapshot is a line of the store: what the tree was at a moment.
type Snapshot struct {
	Number  int64     `json:"snapshot"`
	At      int64     `json:"at_ns"`  // the moment; of a plain scan, when it began
	End     int64     `json:"end_ns"` // when the scan ended; At if the tree is that of one moment
	Why     string    `json:"why"`
	Room    string    `json:"room_id,omitempty"` // of the turn
	Turn    int64     `json:"turn_id,omitempty"` // less than 0: of another room, see [Ledger.parseLines]
	Agent   string    `json:"agent_id,omitempty"`
	Tree    ID        `json:"tree"`
	Scan    ID        `json:"scan"`    // what the scan found, which may be later than the moment
	Ignored ID        `json:"ignored"` // paths that were there and are in no tree, see [scanner.ignored]
	Head    Head      `json:"head"`
	HeadLog int64     `json:"head_log,omitempty"` // bytes of the log of HEAD
	Files   int       `json:"files"`
	Perm    [2]uint32 `json:"perm"`               // most files have, and most programs
	Modes   modes     `json:"modes,omitempty"`    // of files that have another
	LeftOut []LeftOut `json:"left_out,omitempty"` // not in it, or as it was before
	Others  []string  `json:"others,omitempty"`   // where somebody else had a turn since the snapshot before
	Unsure  []string  `json:"unsure,omitempty"`   // whether changed before or after the moment
	Note    string    `json:"note,omitempty"`
	Boot    string    `json:"boot,omitempty"`     // of [Options]
	Lease   string    `json:"lease_id,omitempty"` // of a beginning: that of the turn, whose number was used before if the room was put back from a copy
}

// Begins reports whether s is the beginning of the turn with a lease, as far as both are known.
func (s *Snapshot) Begins(lease string) bool {
	return s != nil && (s.Lease == "" || lease == "" || s.Lease == lease)
}

// modes are permissions by path.
type modes map[string]uint32

// withPaths returns the snapshot as it is stored, or was, with its paths in another form, see [stored].
func (s Snapshot) withPaths(as func(string) string) *Snapshot {
	s.Turn = max(s.Turn, -s.Turn)
	s.LeftOut, s.Others, s.Unsure = slices.Clone(s.LeftOut), slices.Clone(s.Others), slices.Clone(s.Unsure)
	for i := range s.LeftOut {
		s.LeftOut[i].Path = as(s.LeftOut[i].Path)
	}
	for i := range s.Others {
		s.Others[i] = as(s.Others[i])
	}
	for i := range s.Unsure {
		s.Unsure[i] = as(s.Unsure[i])
	}
	was := s.Modes
	s.Modes = maps.Clone(was)
	for path, perm := range was {
		delete(s.Modes, path)
		s.Modes[as(path)] = perm
	}
	return &s
}

// Name returns the name of the snapshot for people: "s48", "" without a number.
func (s *Snapshot) Name() string {
	if s.Number == 0 {
		return ""
	}
	return "s" + strconv.FormatInt(s.Number, 10)
}

// Time returns the moment of the snapshot.
func (s *Snapshot) Time() time.Time { return time.Unix(0, s.At) }

// perm returns the permissions of a path.
func (s *Snapshot) perm(path string, mode uint32) uint32 {
	if p, ok := s.Modes[path]; ok {
		return p
	}
	if mode == modeExec {
		return cmp.Or(s.Perm[1], 0o755)
	}
	return cmp.Or(s.Perm[0], 0o644)
}

// state returns what stands at a path of the snapshot, with permissions.
func (s *Snapshot) state(path string, st State) State {
	if isRegular(st.Mode) {
		st.Perm = s.perm(path, st.Mode)
	}
	return st
}

// ParseName returns the number in the name of a snapshot.
func ParseName(name string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, "s")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0
}

// Snapshots returns the snapshots of the store, oldest first. What was lost in a power cut is left out.
func (l *Ledger) Snapshots() ([]*Snapshot, error) {
	all, err := l.Lines()
	v := l.view(all)
	v.Close()
	return v.All, err
}

// Lines is [Ledger.Snapshots] without a look at the trees, of which some may be lost. A line that is torn or damaged is left out.
func (l *Ledger) Lines() ([]*Snapshot, error) {
	all, _, _, err := l.lines()
	return all, err
}

// lines returns the snapshots, how many lines are damaged, and the bytes of the file. One that is gone had a line.
func (l *Ledger) lines() (all []*Snapshot, bad int, b []byte, err error) {
	b, _, err = readEnd(l.linesFile(), math.MaxInt64)
	if all, bad = l.parseLines(b); len(b) == 0 && exists(l.cacheFile()) {
		bad++
	}
	return all, bad, b, err
}

// Damaged returns how many lines are damaged, or were dropped because they were, until a repair has said so.
func (l *Ledger) Damaged() int {
	_, bad, _, _ := l.lines()
	return bad + l.dropped()
}

// Recent is [Ledger.Lines] for the end of a turn, which costs the same however long the store is. Older
// snapshots than the last one of an earlier turn are left out if the beginning of the turn comes after it.
func (l *Ledger) Recent(turn int64) ([]*Snapshot, error) {
	return l.linesFrom(func(all []*Snapshot) int {
		start := lastIndex(all, func(s *Snapshot) bool { return s.Turn == turn && s.Why == WhyStart })
		return lastIndex(all[:max(start, 0)], func(s *Snapshot) bool { return s.Turn < turn && s.IsOfTurn() })
	})
}

// linesFrom returns the lines from one on, all if first returns a number below 0. It reads no more than it has to.
func (l *Ledger) linesFrom(first func([]*Snapshot) int) ([]*Snapshot, error) {
	for most := int64(8 << 10); ; most *= 8 {
		b, whole, err := readEnd(l.linesFile(), most)
		if err != nil {
			return nil, err
		}
		all, _ := l.parseLines(b)
		if i := first(all); i >= 0 || whole {
			return all[max(i, 0):], nil
		}
	}
}

// lastIndex returns the number of the last snapshot of which f is true, -1 if it is of none.
func lastIndex(all []*Snapshot, f func(*Snapshot) bool) int {
	for i, s := range slices.Backward(all) {
		if f(s) {
			return i
		}
	}
	return -1
}

// readEnd returns the last bytes of a file, from the beginning of a line on, and whether they are all.
func readEnd(path string, most int64) (b []byte, whole bool, err error) {
	f, err := lockfile.OpenRegular(path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	from := max(0, info.Size()-most)
	b = make([]byte, info.Size()-from)
	if _, err := f.ReadAt(b, from); err != nil {
		return nil, false, err
	}
	if from > 0 {
		b = b[bytes.IndexByte(b, '\n')+1:]
	}
	return b, from == 0, nil
}

// IsOfTurn reports whether a snapshot is that of the beginning or the end of a turn of the room.
func (s *Snapshot) IsOfTurn() bool {
	return s.Turn > 0 && (s.Why == WhyStart || s.Why == WhyEnd || s.Why == WhyTakeover)
}

// parseLines returns the snapshots, and how many lines are damaged. The turns of another room have negative numbers.
func (l *Ledger) parseLines(b []byte) (all []*Snapshot, bad int) {
	for line := range bytes.Lines(b) {
		s := new(Snapshot)
		if wire.Decode(line, s) != nil || s.Number < 1 {
			bad++
			continue
		}
		if bytes.Contains(line, []byte(`\u0000`)) {
			s = s.withPaths(unstored)
		}
		if n := len(all); n > 0 && all[n-1].isLast() {
			all = all[:n-1]
		}
		all = append(all, s)
	}
	own := map[string]bool{"": true, l.opts.Room: true}
	for _, s := range all {
		if _, known := own[s.Room]; !known {
			own[s.Room] = l.opts.Room == "" || l.opts.IsOwn(s.Room)
		}
		if !own[s.Room] {
			s.Turn = -s.Turn
		}
	}
	return all, bad
}

// isLast reports whether the line stands for no snapshot: it has the last number that was given.
func (s *Snapshot) isLast() bool { return s.Tree == (ID{}) }

// Find returns the snapshot with the number, nil if there is none.
func Find(all []*Snapshot, number int64) *Snapshot {
	if i := lastIndex(all, func(s *Snapshot) bool { return s.Number == number }); i >= 0 {
		return all[i]
	}
	return nil
}

// TurnOf returns the snapshots of the beginning and the end of a turn, nil for what is not recorded. Of two turns with
// the number it is the later one. A turn that was given to the same agent twice has its first beginning and its last end.
func TurnOf(all []*Snapshot, turn int64) (start, end *Snapshot) {
	for _, s := range all {
		switch {
		case s.Turn != turn:
		case s.Why == WhyStart && !start.Begins(s.Lease):
			start, end = s, nil
		case s.Why == WhyEnd, s.Why == WhyTakeover:
			end = s
		}
	}
	return start, end
}

// appendLine adds a line. A torn last line is ended first.
func (l *Ledger) appendLine(s *Snapshot) error {
	if err := l.opts.Fault("line"); err != nil {
		return err
	}
	f, err := os.OpenFile(l.linesFile(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	line := append(wire.Append(nil, s.withPaths(stored)), '\n')
	if n := info.Size(); n == 0 {
		lockfile.Adopt(l.linesFile())
	} else {
		var last [1]byte
		if _, err := f.ReadAt(last[:], n-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	if _, err = f.Write(line); err != nil {
		_ = f.Truncate(info.Size())
	}
	return err
}
