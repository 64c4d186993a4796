package turn_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

const (
	roomID = "demo-0123456789abcdef"
	path   = "/home/demo"
	note   = `{"status":"done","next_action":"go on"}`
)

// began is when every test begins.
var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A world is what the rules need around them: one room with its journal, two
// clocks, and what the machine knows of the agents.
type world struct {
	t      fataler
	state  *turn.State
	lines  []byte        // the journal as it would stand on disk, of all lives
	events []event.Event // the same
	wall   time.Time
	mono   time.Duration
	boots  int
	here   map[string]*present
	hears  map[string]turn.Hearing
	does   map[string]turn.Activity
	lease  turn.Lease // as it was renewed last
	ids    int
	policy turn.Policy // of a room that is opened
	fences []turn.Fence
}

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func newWorld(t fataler) *world {
	return &world{
		t: t, state: turn.New(roomID), wall: began, mono: time.Hour,
		here: map[string]*present{}, hears: map[string]turn.Hearing{}, does: map[string]turn.Activity{}, policy: turn.DefaultPolicy(),
	}
}

// later lets time pass on both clocks.
func (w *world) later(d time.Duration) { w.wall, w.mono = w.wall.Add(d), w.mono+d }

// set puts the wall clock forward or back, as a person or NTP does.
func (w *world) set(d time.Duration) { w.wall = w.wall.Add(d) }

// reboot starts the machine anew after it was off for d.
func (w *world) reboot(d time.Duration) {
	w.wall, w.mono, w.boots = w.wall.Add(d), 10*time.Second, w.boots+1
}

func (w *world) now() turn.Instant { return turn.At(w.wall, "boot"+strconv.Itoa(w.boots), w.mono) }

// A present is what is known of an agent here.
type present = turn.Presence

// presence is what is known of an agent, to be changed in place.
func (w *world) presence(id string) *present {
	if w.here[id] == nil {
		w.here[id] = &present{}
	}
	return w.here[id]
}

// seen notes that the agent ran a command.
func (w *world) seen(id string) { w.presence(id).Seen = w.wall }

func (w *world) facts() turn.Facts {
	hearing := func(id string) turn.Hearing { return w.hears[id] }
	activity := func(id string) turn.Activity { return w.does[id] }
	return turn.Facts{Now: w.now(), Lease: w.lease, Hearing: hearing, Activity: activity, Presence: func(id string) turn.Presence {
		if p := w.here[id]; p != nil {
			return *p
		}
		return turn.Presence{}
	}}
}

func (w *world) newID(kind string) string {
	w.ids++
	return fmt.Sprintf("%s-%04d", kind, w.ids)
}

// commit does what storage does with a decision, if it was not a refusal. It
// returns the first event as it was written.
func (w *world) commit(events []event.Event, err error) event.Event {
	w.t.Helper()
	if err != nil && len(events) != 0 {
		w.t.Fatalf("a refusal with %d events: %v", len(events), err)
	}
	if len(events) == 0 {
		return event.Event{}
	}
	before, next := mustJSON(w.state), w.state.Clone()
	for i := range events {
		e := &events[i]
		e.Seq, e.ID, e.RoomID, e.CreatedAt, e.More = next.Seq+1, w.newID("event"), roomID, event.NewTime(w.wall), i < len(events)-1
		if err := next.Apply(e); err != nil {
			w.t.Fatalf("apply %s: %v", e.Type, err)
		}
		w.lines = e.Append(w.lines)
		w.events = append(w.events, *e)
	}
	if after := mustJSON(w.state); after != before {
		w.t.Fatalf("a clone shares memory:\n%s\n%s", before, after)
	}
	if next.Turn != w.state.Turn {
		w.lease = turn.Lease{} // it belonged to the turn before
	}
	w.state = next
	return events[0]
}

// check fails unless the state is the fold of the journal as it stands on disk,
// and survives being written and read.
func (w *world) check() {
	w.t.Helper()
	folded, read := turn.New(roomID), turn.New(roomID)
	for _, e := range w.onDisk() {
		if err := folded.Apply(&e); err != nil {
			w.t.Fatalf("replay: %v", err)
		}
	}
	w.alike("fold(journal)", folded)
	if err := wire.Decode([]byte(mustJSON(w.state)), read); err != nil {
		w.t.Fatalf("state: %v", err)
	}
	w.alike("the state when written and read", read)
}

func (w *world) alike(what string, other *turn.State) {
	w.t.Helper()
	if !reflect.DeepEqual(other.Clone(), w.state.Clone()) {
		w.t.Fatalf("%s is not the state:\n%+v\n%+v", what, other, w.state)
	}
}

// onDisk are the events as a reader of the journal gets them.
func (w *world) onDisk() []event.Event {
	w.t.Helper()
	var events []event.Event
	start := 0
	for i, c := range w.lines {
		if c != '\n' {
			continue
		}
		e, err := event.Decode(w.lines[start:i])
		if err != nil {
			w.t.Fatalf("decode: %v", err)
		}
		events, start = append(events, e), i+1
	}
	return events
}

// mustJSON is v as it goes to disk or to the user.
func mustJSON(v any) string {
	if t := reflect.TypeOf(v); t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		return string(wire.Append(nil, v))
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// detail is one detail of a refusal as its reader gets it, nil if it has none.
func detail(t testing.TB, err error, key string) any {
	t.Helper()
	e, ok := err.(*code.Error)
	if !ok {
		t.Fatalf("%v is no refusal", err)
	}
	return e.Details[key]
}

func equal[V comparable](t testing.TB, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// words joins values for a comparison at one glance.
func words(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }
