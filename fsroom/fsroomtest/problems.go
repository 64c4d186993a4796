// Package fsroomtest verifies a data directory in tests: after whatever a test
// has done, the files must tell one story.
//
// It reads the files by itself and shares only the journal's line format and the
// rules with the storage, so that both cannot be wrong in the same way. [Main] is for the
// TestMain of a package with such tests.
package fsroomtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// Problems returns what is wrong in the data directory with the rooms of one
// kind; nothing for one that is in order and at rest:
//
//   - files are 0600 and directories 0700, and no temporary file is left,
//   - over all lives of a room, event_seq counts from 1 without a gap but for what an
//     event says is lost, turn_id never goes back and no event_id comes twice,
//   - archived lives have ended and the one in the room has not,
//   - state.json covers the journal to its end and is what the journal folds to.
//
// A state.json may be missing. Nobody may change the directory meanwhile.
func Problems[S any](dir string, rules *fsroom.Rules[S]) []string {
	v := &verifier[S]{dir: dir, rules: rules}
	v.modes()
	rooms, _ := filepath.Glob(filepath.Join(dir, rules.Folder, "*"))
	for _, path := range rooms { // one that has ended keeps its directory
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			v.room(filepath.Base(path))
		}
	}
	return v.problems
}

type verifier[S any] struct {
	dir      string
	rules    *fsroom.Rules[S]
	problems []string
}

func (v *verifier[S]) found(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

func (v *verifier[S]) modes() {
	_ = filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			v.found("%v", err)
			return nil
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if info, err := d.Info(); err == nil && path != v.dir && info.Mode() != want {
			v.found("%s: mode %v, want %v", path, info.Mode(), want)
		}
		if name := d.Name(); !d.IsDir() && (strings.HasPrefix(name, ".") || filepath.Base(filepath.Dir(path)) == "tmp") {
			v.found("%s: a temporary file is left", path)
		}
		return nil
	})
}

// A covered is the part of state.json that names the journal it was made of.
type covered struct {
	Journal struct {
		Offset int64 `json:"offset"`
		Seq    int64 `json:"event_seq"`
	} `json:"journal"`
	State json.RawMessage `json:"state"`
}

func (v *verifier[S]) room(name string) {
	h := &history[S]{verifier: v, name: name, ids: map[string]bool{}}
	archived, _ := filepath.Glob(filepath.Join(v.dir, "archive", name, "*.jsonl"))
	slices.Sort(archived)
	for _, path := range archived {
		if s, ok := h.read(path); ok && v.rules.Live(s) {
			v.found("%s: archived, but has not ended", path)
		}
	}
	dir := filepath.Join(v.dir, v.rules.Folder, name)
	h.end.Offset = 0 // where a room stands that has no journal
	current := filepath.Join(dir, "journal.jsonl")
	var live S
	var folds bool
	if info, err := os.Lstat(current); err == nil && info.Size() > 0 {
		if live, folds = h.read(current); folds && !v.rules.Live(live) {
			v.found("%s: has ended, but is not archived", current)
		}
	}
	v.projection(filepath.Join(dir, "state.json"), h.end, live, folds)
}

func (v *verifier[S]) projection(path string, end journal.Position, live S, folds bool) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var p covered
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		v.found("%s: %v", path, err)
		return
	}
	if have := journal.Position(p.Journal); have != end {
		v.found("%s: covers %+v of a journal that ends at %+v", path, have, end)
	}
	if folds && !sameJSON(p.State, wire.Append(nil, live)) {
		v.found("%s: is not what the journal folds to:\n%s\n%s", path, p.State, wire.Append(nil, live))
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// A history is one room's events over all its lives.
type history[S any] struct {
	*verifier[S]
	name string
	ids  map[string]bool
	end  journal.Position // of the journal last read
	turn int64
}

// read goes on with the next journal and returns the state that it folds to; ok is
// false if it does not fold.
func (h *history[S]) read(path string) (s S, ok bool) {
	log, err := journal.Open(path)
	if err != nil {
		h.found("%v", err)
		return s, false
	}
	defer log.Close()
	s = h.rules.New(h.name)
	seq := h.end.Seq
	end, tail, err := log.Scan(journal.Position{}, func(e *event.Event, _ int64) error {
		seq++
		h.event(path, seq, e)
		seq = e.Seq
		return h.rules.Apply(s, e)
	})
	if err != nil {
		h.found("%v", err)
		return s, false
	}
	if tail.Torn > 0 {
		h.found("%s: %d bytes of an unfinished change", path, tail.Torn)
	}
	h.end = end
	return s, true
}

// tellsOfLoss reports whether e says that all events from the one that is due up to itself are lost.
func tellsOfLoss(e *event.Event, due int64) bool {
	var loss event.Lost
	return e.Type == event.JournalDamaged && json.Unmarshal(e.Payload, &loss) == nil && loss.From == due && loss.To == e.Seq-1
}

func (h *history[S]) event(path string, due int64, e *event.Event) {
	if e.Seq != due && !tellsOfLoss(e, due) {
		h.found("%s: event_seq %d where %d is due", path, e.Seq, due)
	}
	if e.Turn < h.turn {
		h.found("%s: event %d: turn_id goes back from %d to %d", path, e.Seq, h.turn, e.Turn)
	}
	h.turn = e.Turn
	if e.RoomID != h.name {
		h.found("%s: event %d: room_id %q", path, e.Seq, e.RoomID)
	}
	if h.ids[e.ID] {
		h.found("%s: event %d: event_id %q for the second time", path, e.Seq, e.ID)
	}
	h.ids[e.ID] = true
	if e.CreatedAt.IsZero() {
		h.found("%s: event %d has no time", path, e.Seq)
	}
}

// Stride is how many steps or bytes a test that tries all of them goes at a time: one, or a few
// in short mode.
func Stride() int {
	if testing.Short() {
		return 9
	}
	return 1
}
