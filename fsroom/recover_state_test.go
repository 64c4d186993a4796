package fsroom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
)

// A stages keeps state.json as it was at several times of a room.
type stages struct {
	f           *fixture
	now         *snapshot
	state       []byte // as it is
	before      []byte // before the last change
	firstLife   []byte // while the first life was live
	betweenLife []byte // after it
}

func newStages(t *testing.T) *stages {
	f := newFixture(t)
	f.do(join("a"), turnOn("a"))
	s := &stages{f: f, firstLife: f.read(f.statePath())}
	f.do(leave("a"))
	s.betweenLife = f.read(f.statePath())
	f.do(join("b"), join("c"), turnOn("b"))
	s.before = f.read(f.statePath())
	s.now = f.do(say("c", "hello"))
	s.state = f.read(f.statePath())
	return s
}

// check puts b in the place of state.json: everything must be as it was, and
// the next change bring state.json in order.
func (s *stages) check(b []byte) {
	s.f.t.Helper()
	if b == nil {
		s.f.must(os.Remove(s.f.statePath()))
	} else {
		s.f.write(s.f.statePath(), b)
	}
	s.viewed()
	s.f.do(nothing)
	if got := s.f.read(s.f.statePath()); !bytes.Equal(got, s.state) {
		s.f.t.Errorf("state.json was not put in order:\n%s\n%s", got, s.state)
	}
}

func (s *stages) viewed() {
	s.f.t.Helper()
	snap := s.f.view()
	if !reflect.DeepEqual(snap.State, s.now.State) || snap.Position != s.now.Position {
		s.f.t.Errorf("%+v at %+v, want %+v at %+v", snap.State, snap.Position, s.now.State, s.now.Position)
	}
}

// edit returns state.json with one of its members changed.
func (s *stages) edit(change func(map[string]any)) []byte {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(s.state))
	d.UseNumber()
	s.f.must(d.Decode(&m))
	change(m)
	b, err := json.Marshal(m)
	s.f.must(err)
	return b
}

func setIn(part, key string, value any) func(map[string]any) {
	return func(m map[string]any) { m[part].(map[string]any)[key] = value }
}

// TestStateIsRebuilt: whatever becomes of state.json, the journal has it all.
func TestStateIsRebuilt(t *testing.T) {
	t.Parallel()
	s := newStages(t)
	otherRoom := newFixture(t)
	otherRoom.room = fsroom.At(openStore(t, otherRoom.dir, fsroom.Options{}), tallyRules, "other")
	otherRoom.populate()
	tests := map[string][]byte{
		"missing":             nil,
		"empty":               {},
		"garbage":             []byte("\x00\xff not JSON"),
		"null":                []byte("null"),
		"a list":              []byte("[]"),
		"an empty object":     []byte("{}"),
		"half":                s.state[:len(s.state)/2],
		"two":                 append(bytes.Clone(s.state), s.state...),
		"behind":              s.before,
		"of the first life":   s.firstLife,
		"between two lives":   s.betweenLife,
		"of another room":     otherRoom.read(otherRoom.statePath()),
		"format 0":            s.edit(func(m map[string]any) { m["format"] = 0 }),
		"no format":           s.edit(func(m map[string]any) { delete(m, "format") }),
		"no journal":          s.edit(func(m map[string]any) { delete(m, "journal") }),
		"another owner":       s.edit(setIn("state", "last", "goodbye")),
		"another event_seq":   s.edit(setIn("journal", "event_seq", 100)),
		"another offset":      s.edit(setIn("journal", "offset", 0)),
		"another turn":        s.edit(setIn("journal", "turn_id", 100)),
		"a negative offset":   s.edit(setIn("journal", "offset", -1)),
		"another time":        s.edit(setIn("journal", "mtime_ns", 1)),
		"a huge offset":       s.edit(setIn("journal", "offset", int64(1)<<62)),
		"state of wrong kind": s.edit(func(m map[string]any) { m["state"] = []int{1} }),
	}
	for name, b := range tests {
		t.Run(name, func(t *testing.T) {
			s.f.t = t
			s.check(b)
		})
	}
	s.f.t = t
}

// TestStateTruncatedAnywhere cuts state.json after each of its bytes.
func TestStateTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	s := newStages(t)
	for n := range len(s.state) - 1 { // the last byte is the newline
		s.check(s.state[:n])
	}
}

// TestStateDamagedAnywhere flips bits of each byte in turn. It cannot be told
// from a newer version when it is the format that is damaged.
func TestStateDamagedAnywhere(t *testing.T) {
	t.Parallel()
	s := newStages(t)
	format := bytes.IndexByte(s.state, ':') + 1
	for n := range s.state {
		for _, mask := range []byte{0x01, 0x02, 0x10, 0x80} {
			b := bytes.Clone(s.state)
			if b[n] ^= mask; n == format {
				continue
			}
			s.f.write(s.f.statePath(), b)
			s.viewed()
		}
		if n%16 == 0 {
			s.f.do(nothing)
			s.viewed()
		}
	}
	s.f.write(s.f.statePath(), s.state)
}

// TestStateOfALifeOfTheSameLength: the journal of the next life can be as long to
// the byte, and with a torn tail behind it no event tells the two apart.
func TestStateOfALifeOfTheSameLength(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("b"))
	old, length := f.read(f.statePath()), len(f.read(f.room.JournalPath()))
	f.do(leave("b"))
	now := f.do(join("a"))
	if again := len(f.read(f.room.JournalPath())); again != length {
		t.Fatalf("the lives have %d and %d bytes", length, again)
	}
	f.write(f.statePath(), old)
	f.tear()
	if got := f.view(); !reflect.DeepEqual(got.State, now.State) || got.Position != now.Position {
		t.Errorf("%+v at %+v, want %+v at %+v", got.State, got.Position, now.State, now.Position)
	}
	f.do(say("a", "hello"))
}

// TestStateOfOtherRules: a state.json without "rules", or with another number, was written
// by a program that may not know all of the state. It is folded anew, is no problem, and
// still says how much of the journal was committed.
func TestStateOfOtherRules(t *testing.T) {
	t.Parallel()
	s := newStages(t)
	var now struct{ Journal cover }
	s.f.must(json.Unmarshal(s.state, &now))
	older := now.Journal.seal([]byte(`{"room":"` + s.now.State.Room + `","open":true,"seq":1,"turn":1}`))
	for name, written := range map[string]string{"none": `{"format":3`, "an older number": `{"format":3,"rules":1`, "a newer number": `{"format":3,"rules":3`} {
		t.Run(name, func(t *testing.T) {
			s.f.t = t
			b := bytes.Replace(older, []byte(`{"format":1,"rules":2`), []byte(written), 1)
			s.f.write(s.f.statePath(), b)
			s.f.expect()
			s.check(b)
			s.f.write(s.f.statePath(), b)
			s.f.do(say("b", name))
			s.now, s.state = s.f.view(), s.f.read(s.f.statePath())
			s.f.must(json.Unmarshal(s.state, &now))
			older = now.Journal.seal([]byte(`{"room":"x","open":true}`))
		})
	}
	s.f.t = t
	journal := s.f.read(s.f.room.JournalPath())
	harmed := bytes.Clone(journal)
	harmed[len(harmed)-3] = 0
	s.f.write(s.f.statePath(), bytes.Replace(now.Journal.seal([]byte(`{"room":"x"}`)), []byte(`"rules":2`), []byte(`"rules":1`), 1))
	s.f.write(s.f.room.JournalPath(), harmed)
	if _, err := s.f.room.View(); code.Of(err) != code.CorruptRoom {
		t.Errorf("an event that an older program has acknowledged is cut off: %v", err)
	}
	s.f.write(s.f.room.JournalPath(), journal)
	s.f.do(say("b", "the end"))
}

// TestNewerStateIsRefused and left as it is.
func TestNewerStateIsRefused(t *testing.T) {
	t.Parallel()
	s := newStages(t)
	newer := s.edit(func(m map[string]any) { m["format"] = 4 })
	s.f.write(s.f.statePath(), newer)
	files := s.f.files()
	_, viewErr := s.f.room.View()
	_, _, updateErr := s.f.room.Update(context.Background(), say("b", "hello"))
	awaitErr := s.f.room.Await(context.Background(), func(*snapshot) (bool, fsroom.Sleep, error) {
		t.Error("looked at")
		return true, fsroom.Sleep{}, nil
	})
	for name, err := range map[string]error{"View": viewErr, "Update": updateErr, "Await": awaitErr} {
		if code.Of(err) != code.UnsupportedFormat {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := s.f.files(); !reflect.DeepEqual(now, files) {
		t.Errorf("files were changed:\n%v\n%v", files, now)
	}
	s.f.expect("newer version")
}

// TestDataDirectoryFormat: a layout that is not known is refused at once.
func TestDataDirectoryFormat(t *testing.T) {
	t.Parallel()
	tests := map[string]code.Code{
		"1\n": "", "1": "", " 1 \n": "",
		"2\n": code.UnsupportedFormat, "0": code.UnsupportedFormat, "-1": code.UnsupportedFormat,
		"": code.DataDirUnusable, "\x00\x00": code.DataDirUnusable, "one": code.UnsupportedFormat, "1.5": code.UnsupportedFormat,
	}
	for content, want := range tests {
		dir := tempDir(t)
		file := filepath.Join(dir, "format")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := fsroom.Open(dir, fsroom.Options{})
		if code.Of(err) != want {
			t.Errorf("format %q: %v", content, err)
		}
		if b, _ := os.ReadFile(file); string(b) != content {
			t.Errorf("format %q was changed to %q", content, b)
		}
	}
}

// TestFormatComesBeforeTheRoom: a data directory that holds a room says what
// format it has, wherever its making was cut off.
func TestFormatComesBeforeTheRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	failing := &fault{nth: 3, err: syscall.EACCES}
	_, _, err := f.at(fsroom.Options{Fault: failing.hit}).Update(context.Background(), join("a"))
	if code.Of(err) != code.DataDirUnusable || failing.fired != fsroom.StepPrepare {
		t.Fatalf("Update: %v at %s", err, failing.fired)
	}
	if _, err := os.Lstat(f.room.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a room: %v", err)
	}
	if got := f.read(filepath.Join(f.dir, "format")); string(got) != "1\n" {
		t.Errorf("format %q", got)
	}
	f.do(join("a"))
}
