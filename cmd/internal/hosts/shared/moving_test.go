package shared

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	mirrored "github.com/talking-stick/tt/cmd/internal/roomtypes/sharing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

type stickRoom = fsroom.Room[*turn.State]

// A world is hosts that share an engine, and the sharing of a program on them.
type world struct {
	t      testing.TB
	engine engine.Engine
	sharing
}

func newWorld(t testing.TB) (*world, *memory.Engine) {
	mirrored.Enable()
	e := memory.New("one", time.Now)
	t.Cleanup(func() { e.Close() })
	w := &world{t: t, engine: e}
	w.service = service
	w.open = func(*hosts.Service) (engine.Engine, error) { return open{w.engine}, nil }
	return w, e
}

// open is an engine that stays open.
type open struct{ engine.Engine }

func (open) Close() error { return nil }

var service = &hosts.Service{URL: "nats://host:1/ns"}

// store is a data directory, with the engine or without.
func (w *world) store(dir string, e engine.Engine) *fsroom.Store {
	w.t.Helper()
	o := fsroom.Options{Engine: e, NoWatch: true, Patience: time.Minute, Host: "host of " + filepath.Base(dir), SyncDir: func(string) error { return nil }}
	if e == nil {
		o.Host = ""
	}
	s, err := fsroom.Open(dir, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

func (w *world) room(dir string, e engine.Engine, name string) *stickRoom {
	return fsroom.At(w.store(dir, e), roomtypes.Stick(), name)
}

// say appends a message, and opens the room if need be.
func say(r *stickRoom, text string) error {
	_, _, err := r.Update(context.Background(), func(s *turn.State) (events []event.Event, err error) {
		if !s.Open {
			events = []event.Event{{
				Type: "room_opened", From: "a:1", Turn: s.Turn,
				Payload: []byte(`{"format":1,"canonical_path":"/x","workspace_root":"/x","policy":{"owner_lease_ttl_ms":1000}}`),
			}, {Type: "member_joined", From: "a:1", Turn: s.Turn, Payload: []byte(`{"display_name":"a"}`)}}
		}
		b, _ := json.Marshal(map[string]string{"body": text, "delivery_hint": "normal"})
		return append(events, event.Event{Type: "message_sent", From: "a:1", Turn: s.Turn, Payload: b}), nil
	})
	return err
}

func (w *world) say(r *stickRoom, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if err := say(r, text); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) lines(r *stickRoom) []byte {
	w.t.Helper()
	b, err := history.Lines(context.Background(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// move is how the room at from is moved to the name "shared".
func move(from *fsroom.Store, name string) hosts.Move {
	return hosts.Move{From: from, Room: name, To: "shared", Close: func(ctx context.Context, reason string, at int64) error {
		_, _, err := fsroom.At(from, roomtypes.Stick(), name).Update(ctx, func(s *turn.State) ([]event.Event, error) {
			events, _, err := turn.Close(s, turn.Facts{}, turn.CloseRequest{Agent: "human:x", Reason: reason, Human: true, MovedAt: at})
			return events, err
		})
		return err
	}}
}

func dirs(t testing.TB, n int) (all []string) {
	for i := range n {
		all = append(all, filepath.Join(t.TempDir(), fmt.Sprint("h", i)))
	}
	return all
}

func TestCopy(t *testing.T) {
	w, e := newWorld(t)
	d := dirs(t, 2)
	local := w.room(d[0], nil, "local")
	w.say(local, "one", "two")
	before := w.lines(local)
	ctx := context.Background()
	topic1 := questions.OfRoom(local.Store(), "local")
	if _, _, err := topic1.Update(ctx, func(*topic.State) ([]event.Event, error) { return topic.CreateNamed(nil, "local", nil), nil }); err != nil {
		t.Fatal(err)
	}
	for try := range 2 {
		moved, err := w.Copy(ctx, service, move(local.Store(), "local"))
		if err != nil || moved.Events != 4 || (moved.Added == 4) != (try == 0) || moved.Closed != (try == 0) {
			t.Errorf("%+v, %v", moved, err)
		}
	}
	// Here the room has ended, with the reason. There it goes on, with the same events.
	if local.Exists() || !bytes.Contains(w.lines(local), []byte(`"reason":"moved to nats://host:1/ns"`)) {
		t.Errorf("the room here: %s", w.lines(local))
	}
	there := w.room(d[1], e, "shared")
	if got := w.lines(there); !bytes.Equal(got, before) {
		t.Errorf("the room there: %s\nwant %s", got, before)
	}
	w.say(there, "three")
	snap, err := there.View()
	if err != nil || snap.State.RoomID != "shared" || snap.State.Seq != 5 {
		t.Errorf("%+v, %v", snap, err)
	}
	asked := questions.OfRoom(there.Store(), "shared")
	topic, err := asked.View()
	if err != nil || !topic.State.Exists() || topic.State.TopicID != asked.Name() {
		t.Errorf("the topic there: %+v, %v", topic, err)
	}
	// The copy is still what it was when others went on.
	if moved, err := w.Copy(ctx, service, move(local.Store(), "local")); err != nil || moved.Added != 0 {
		t.Errorf("again: %+v, %v", moved, err)
	}
	// To another engine it does not go.
	if _, err := w.Copy(ctx, &hosts.Service{URL: "nats://other/ns"}, move(local.Store(), "local")); code.Of(err) != code.RoomClosed {
		t.Errorf("elsewhere: %v", err)
	}
}

// A room that is there already with other events is refused, and nothing is closed.
func TestCopyToARoomThatIsThere(t *testing.T) {
	w, e := newWorld(t)
	d := dirs(t, 2)
	w.say(w.room(d[1], e, "shared"), "another")
	there := w.lines(w.room(d[1], e, "shared"))
	local := w.room(d[0], nil, "local")
	w.say(local, "one")
	if _, err := w.Copy(context.Background(), service, move(local.Store(), "local")); code.Of(err) != code.CorruptRoom {
		t.Errorf("%v", err)
	}
	if !local.Exists() || !bytes.Equal(w.lines(w.room(d[1], e, "shared")), there) {
		t.Error("something has changed")
	}
}

// An engine that is away closes nothing.
func TestCopyToAnEngineThatIsAway(t *testing.T) {
	w, e := newWorld(t)
	local := w.room(dirs(t, 1)[0], nil, "local")
	w.say(local, "one")
	e.SetAway(true)
	if _, err := w.Copy(context.Background(), service, move(local.Store(), "local")); code.Of(err) != code.EngineUnreachable {
		t.Errorf("%v", err)
	}
	if !local.Exists() {
		t.Error("the room was closed")
	}
}

// An engine that can be read and takes no changes closes nothing: it may be full, or a copy, or forbid them.
func TestCopyToAnEngineThatRefuses(t *testing.T) {
	w, e := newWorld(t)
	local := w.room(dirs(t, 1)[0], nil, "local")
	w.say(local, "one")
	e.SetFault(func() memory.Fault { return memory.Refused })
	if _, err := w.Copy(context.Background(), service, move(local.Store(), "local")); code.Of(err) != code.EngineUnreachable {
		t.Errorf("%v", err)
	}
	if !local.Exists() {
		t.Error("the room was closed")
	}
	e.SetFault(func() memory.Fault { return memory.None })
	if moved, err := w.Copy(context.Background(), service, move(local.Store(), "local")); err != nil || !moved.Closed {
		t.Errorf("afterwards: %+v, %v", moved, err)
	}
}

// A held turn is refused, and so is a room that goes on meanwhile until it was read again.
func TestCopyOfARoomAtWork(t *testing.T) {
	w, _ := newWorld(t)
	local := w.room(dirs(t, 1)[0], nil, "local")
	w.say(local, "one")
	m := move(local.Store(), "local")
	closed := 0
	end := m.Close
	m.Close = func(ctx context.Context, reason string, at int64) error {
		if closed++; closed == 1 {
			w.say(local, "two")
		}
		return end(ctx, reason, at)
	}
	if moved, err := w.Copy(context.Background(), service, m); err != nil || moved.Events != 4 || closed != 2 {
		t.Errorf("%+v after %d tries, %v", moved, closed, err)
	}
	_, _, err := turn.Close(&turn.State{Open: true, Seq: 4, Owner: "a:1"}, turn.Facts{}, turn.CloseRequest{Agent: "human:x", Reason: "r", Human: true, MovedAt: 4})
	if code.Of(err) != code.TurnMismatch {
		t.Errorf("a held turn: %v", err)
	}
}

// A faulty is an engine whose calls fail after so many, as for a process that is killed.
type faulty struct {
	engine.Engine
	left int
}

var errKilled = errors.New("killed")

func (f *faulty) Append(ctx context.Context, room string, after engine.Revision, e engine.Entry, keep time.Duration) (engine.Entry, error) {
	if f.left--; f.left < 0 {
		return engine.Entry{}, errKilled
	}
	entry, err := f.Engine.Append(ctx, room, after, e, keep)
	if f.left--; f.left < 0 { // after the commit
		return engine.Entry{}, errKilled
	}
	return entry, err
}

func (f *faulty) Close() error { return nil }

// A copy that is killed at any point, also between publishing and closing, goes on when it
// is run again. Meanwhile the room goes on at one place at most.
func TestKilledCopy(t *testing.T) {
	big := strings.Repeat("x", 200<<10) // several of them go into no single entry
	for kill := 0; ; kill++ {
		w, e := newWorld(t)
		d := dirs(t, 2)
		local := w.room(d[0], nil, "local")
		w.say(local, "one", big, big, big, big)
		before := w.lines(local)
		f := &faulty{e, kill}
		w.engine = f
		ctx := context.Background()
		_, err := w.Copy(ctx, service, move(local.Store(), "local"))
		w.engine = e
		there := w.room(d[1], e, "shared")
		if local.Exists() && there.Exists() {
			t.Errorf("killed at %d: the room is open in two places", kill)
		}
		if got := w.lines(there); !bytes.HasPrefix(before, got) {
			t.Errorf("killed at %d: there is %d bytes of something else", kill, len(got))
		} else if len(got) == len(before) {
			w.say(there, "others go on")
		}
		if _, err := w.Copy(ctx, service, move(local.Store(), "local")); err != nil {
			t.Errorf("after being killed at %d: %v", kill, err)
		}
		if got := w.lines(there); !bytes.HasPrefix(got, before) || local.Exists() {
			t.Errorf("after being killed at %d there are %d bytes", kill, len(got))
		}
		if err == nil {
			if kill < 5 {
				t.Errorf("it was killed at %d points only", kill)
			}
			return
		}
	}
}

// Of two hosts that move different rooms to one name at once one wins, and the room of the
// other one is not closed.
func TestTwoCopiesAtOnce(t *testing.T) {
	for range 20 {
		w, e := newWorld(t)
		d := dirs(t, 3)
		var rooms []*stickRoom
		errs := make(chan error, 2)
		for i, dir := range d[:2] {
			r := w.room(dir, nil, "local")
			w.say(r, fmt.Sprint("of host ", i))
			rooms = append(rooms, r)
		}
		for _, r := range rooms {
			go func() {
				_, err := w.Copy(context.Background(), service, move(r.Store(), "local"))
				errs <- err
			}()
		}
		one, two := <-errs, <-errs
		if (one == nil) == (two == nil) {
			t.Fatalf("%v, %v", one, two)
		}
		if c := code.Of(errors.Join(one, two)); c != code.LockTimeout && c != code.CorruptRoom {
			t.Errorf("%v, %v", one, two)
		}
		if rooms[0].Exists() == rooms[1].Exists() {
			t.Error("both rooms are open, or none")
		}
		if got := w.lines(w.room(d[2], e, "shared")); bytes.Count(got, []byte("of host")) != 1 {
			t.Errorf("%s", got)
		}
	}
}

// check is what doctor finds of a host, by code; "" for what is repaired.
func (w *world) check(dir string, e engine.Engine, repair bool) (codes []string) {
	h := w.Check(context.Background(), w.store(dir, e), nil, repair, false)
	for _, p := range h.Problems {
		if p.Repaired {
			p.Code = ""
		}
		codes = append(codes, p.Code)
	}
	return codes
}

func TestCheckTellsWhatTheEngineIsLike(t *testing.T) {
	w, e := newWorld(t)
	d := dirs(t, 1)
	w.say(w.room(d[0], e, "shared"), "one", "two")
	if got := w.check(d[0], e, false); len(got) != 0 {
		t.Errorf("%q", got)
	}
	e.SetAway(true)
	if got := fmt.Sprint(w.check(d[0], e, true)); got != "[engine_unreachable]" {
		t.Errorf("away: %s", got)
	}
	e.SetAway(false)
	e.Lose("rooms.shared", 1)
	if got := fmt.Sprint(w.check(d[0], e, false)); got != "[engine_rewound]" {
		t.Errorf("it has lost an entry: %s", got)
	}
	if err := say(w.room(d[0], e, "shared"), "three"); code.Of(err) != code.EngineRewound {
		t.Errorf("a write to it: %v", err)
	}
	if got := fmt.Sprint(w.check(d[0], e, true)); got != "[]" {
		t.Errorf("repaired: %s", got)
	}
	w.say(w.room(d[0], e, "shared"), "three")
	if got := w.check(d[0], e, false); len(got) != 0 {
		t.Errorf("afterwards: %q", got)
	}
}

// Two mirrors that differ in one event are for a person, and nothing is written.
func TestRepairOfMirrorsThatDiffer(t *testing.T) {
	w, e := newWorld(t)
	d := dirs(t, 2)
	a, b := w.room(d[0], e, "shared"), w.room(d[1], e, "shared")
	w.say(a, "one", "two")
	if _, err := b.View(); err != nil {
		t.Fatal(err)
	}
	w.say(a, "three")
	before := w.lines(a)
	e.Lose("rooms.shared", 1)
	w.say(b, "instead of three") // its mirror has no more than the engine
	there := w.lines(b)
	for _, want := range []string{"[corrupt_room]", "[corrupt_room engine_restored]"} { // the write has closed it
		if got := fmt.Sprint(w.check(d[0], e, true)); got != want {
			t.Errorf("%s", got)
		}
		if err := say(w.room(d[0], e, "shared"), "four"); code.Of(err) != code.EngineRewound {
			t.Errorf("a write: %v", err)
		}
	}
	local := w.room(d[0], nil, "shared")
	if !bytes.Equal(w.lines(local), before) || !bytes.Equal(w.lines(w.room(d[1], e, "shared")), there) {
		t.Error("something was written")
	}
}

// The model: hosts say something, the engine loses entries or is replaced by an empty one,
// and all hosts repair, in any order, killed at any call. What was acknowledged to a host
// whose mirror is the longest is there in the end, at every host.
func TestRepairModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, e := newWorld(t)
		d := dirs(t, 3)
		n := 0
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 6).Draw(rt, "messages") {
				n++
				host := rapid.IntRange(0, 2).Draw(rt, "host")
				if err := say(w.room(d[host], e, "shared"), fmt.Sprint("text ", n)); err != nil {
					rt.Fatal(err)
				}
			}
			longest := -1
			want := []byte(nil)
			for i := range d {
				if got := w.lines(w.room(d[i], nil, "shared")); longest < 0 || len(got) > len(want) {
					longest, want = i, got
				}
			}
			if rapid.Bool().Draw(rt, "another engine") {
				e = memory.New("another", time.Now)
				defer e.Close()
			} else {
				most := bytes.Count(want, []byte("message_sent"))
				if has := e.Entries("rooms.shared"); has < most {
					most = has
				}
				e.Lose("rooms.shared", rapid.IntRange(0, most).Draw(rt, "lost"))
			}
			for range rapid.IntRange(0, 6).Draw(rt, "repairs") {
				host := rapid.IntRange(0, 2).Draw(rt, "repairing")
				w.check(d[host], &faulty{e, rapid.IntRange(0, 4).Draw(rt, "killed")}, true)
			}
			order := rapid.Permutation([]int{0, 1, 2}).Draw(rt, "order")
			for _, host := range append(order, order...) {
				if got := strings.Join(w.check(d[host], e, true), ""); got != "" {
					rt.Fatalf("host %d finds %s", host, got)
				}
			}
			for i := range d {
				if got := w.lines(w.room(d[i], e, "shared")); !bytes.Equal(got, want) {
					rt.Fatalf("host %d has\n%s\nwant\n%s", i, got, want)
				}
				if found := w.check(d[i], e, false); len(found) != 0 {
					rt.Fatalf("host %d finds %q", i, found)
				}
			}
		}
	})
}

// Two hosts repair at once.
func TestTwoRepairAtOnce(t *testing.T) {
	for range 10 {
		w, e := newWorld(t)
		d := dirs(t, 2)
		big := strings.Repeat("x", 300<<10)
		w.say(w.room(d[0], e, "shared"), "one", big, big, big, "five")
		want := w.lines(w.room(d[1], e, "shared"))
		other := memory.New("another", time.Now)
		defer other.Close()
		done := make(chan []string, 2)
		for _, dir := range d {
			go func() { done <- w.check(dir, other, true) }()
		}
		for range d {
			if got := strings.Join(<-done, ""); got != "" {
				t.Errorf("found %s", got)
			}
		}
		for _, dir := range append(d, filepath.Join(t.TempDir(), "new")) {
			if got := w.lines(w.room(dir, other, "shared")); !bytes.Equal(got, want) {
				t.Errorf("%s has %d bytes, want %d", dir, len(got), len(want))
			}
		}
	}
}

// A damaged mirror is fetched anew, if the engine has all of it, and left alone otherwise.
func TestDamagedMirror(t *testing.T) {
	for _, lost := range []int{0, 1} {
		w, e := newWorld(t)
		d := dirs(t, 1)
		r := w.room(d[0], e, "shared")
		w.say(r, "one", "two", "three")
		want := w.lines(r)
		damaged := bytes.Replace(want, []byte(`"body":"two"`), []byte(`"body":two"`), 1)
		if err := os.WriteFile(r.JournalPath(), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		e.Lose("rooms.shared", lost)
		got := w.check(d[0], e, true)
		b, err := os.ReadFile(r.JournalPath())
		if err != nil || strings.Join(got, "") != "" || (len(got) == 1) != (lost == 0) {
			t.Errorf("%q, %v", got, err)
		}
		if lost == 0 && !bytes.Equal(b, want) || lost > 0 && !bytes.Equal(b, damaged) {
			t.Errorf("with %d lost the journal is\n%s", lost, b)
		}
		if kept, _ := filepath.Glob(r.JournalPath() + ".aside-*"); (len(kept) == 1) != (lost == 0) {
			t.Errorf("kept: %q", kept)
		}
		if lost == 0 {
			w.say(w.room(d[0], e, "shared"), "four")
		}
	}
}
