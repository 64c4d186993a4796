package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// Why a snapshot was taken.
const (
	WhyFirst    = "first" // a turn was asked for, and there was no snapshot yet
	WhyStart    = "start" // the beginning of a turn
	WhyEnd      = "end"   // the end of a turn
	WhyTakeover = "takeover"
	WhyTick     = "tick" // while a turn lasts
	WhyGuard    = "guard"
	WhyPerson   = "person"
	WhyUndo     = "undo" // after one
	WhyRestore  = "restore"
	whyBefore   = "before_" // an undo or a restore
)

// A Snapshot is a line of the store: what the tree was at a moment.
type Snapshot struct {
	Number  int64     `json:"snapshot"`
	At      int64     `json:"at_ns"`                // the moment; of a plain scan, when it began
	End     int64     `json:"end_ns"`               // when the scan ended; At if the tree is that of one moment
	Settled int64     `json:"scanned_ns,omitempty"` // when the scan ended, if End is an earlier moment
	Why     string    `json:"why"`
	Turn    int64     `json:"turn_id,omitempty"`
	Agent   string    `json:"agent_id,omitempty"`
	Tree    ID        `json:"tree"`
	Scan    ID        `json:"scan"` // what the scan found, which may be later than the moment
	Head    Head      `json:"head"`
	Files   int       `json:"files"`
	Perm    [2]uint32 `json:"perm"`               // most files have, and most programs
	Modes   modes     `json:"modes,omitempty"`    // of files that have another
	LeftOut []LeftOut `json:"left_out,omitempty"` // not in it, or as it was before
	Unsure  []string  `json:"unsure,omitempty"`   // whether changed before or after the moment
	Note    string    `json:"note,omitempty"`
}

// modes are permissions by path.
type modes map[string]uint32

// Name returns the name of the snapshot for people: "s48".
func (s *Snapshot) Name() string { return "s" + strconv.FormatInt(s.Number, 10) }

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

// Snapshots returns the snapshots of the store, oldest first. What was lost in a power cut is
// left out.
func (l *Ledger) Snapshots() ([]*Snapshot, error) {
	all, err := l.lines()
	if len(all) == 0 {
		return nil, err
	}
	v := l.view(all)
	v.Close()
	return v.all, nil
}

// lines returns the lines of the store. A line that is torn or damaged is left out.
func (l *Ledger) lines() ([]*Snapshot, error) {
	b, err := os.ReadFile(l.linesFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !bytes.Equal(b, l.read) { // the end of a turn reads them several times
		l.read, l.parsed = b, parseLines(b)
	}
	return slices.Clone(l.parsed), nil
}

func parseLines(b []byte) (all []*Snapshot) {
	for line := range bytes.Lines(b) {
		s := new(Snapshot)
		if json.Unmarshal(line, s) == nil && s.Number > 0 {
			all = append(all, s)
		}
	}
	return all
}

// Find returns the snapshot with the number, nil if there is none.
func Find(all []*Snapshot, number int64) *Snapshot {
	i := slices.IndexFunc(all, func(s *Snapshot) bool { return s.Number == number })
	if i < 0 {
		return nil
	}
	return all[i]
}

// TurnOf returns the snapshots of the beginning and the end of a turn, nil for what is not
// recorded. A turn that was given to the same agent twice has its first beginning and its last
// end.
func TurnOf(all []*Snapshot, turn int64) (start, end *Snapshot) {
	for _, s := range all {
		if s.Turn != turn {
			continue
		}
		switch s.Why {
		case WhyStart:
			if start == nil {
				start = s
			}
		case WhyEnd, WhyTakeover:
			end = s
		}
	}
	return start, end
}

// appendLine adds a line. A torn last line is ended first. The line is durable after done(true, nil).
// It is taken back if that fails, or if what it needs could not be made durable.
func (l *Ledger) appendLine(s *Snapshot) (done func(sync bool, needs error) error, err error) {
	line, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if err := l.opts.Fault("line"); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.linesFile(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	line = append(line, '\n')
	if n := info.Size(); n == 0 {
		lockfile.Adopt(l.linesFile())
	} else {
		var last [1]byte
		if _, err := f.ReadAt(last[:], n-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	done = func(sync bool, err error) error {
		defer f.Close()
		if err == nil && sync {
			if err = l.opts.Fault("line-sync"); err == nil {
				err = f.Sync()
			}
		}
		if err != nil {
			_ = f.Truncate(info.Size())
		}
		return err
	}
	if _, err := f.Write(line); err != nil {
		return nil, done(false, err)
	}
	return done, nil
}
