package shared

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
