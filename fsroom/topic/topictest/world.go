// Package topictest keeps topics in memory, for tests.
package topictest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A T is what testing.T and rapid.T have in common.
type T interface {
	Helper()
	Fatalf(string, ...any)
}

// A World has topics, ids, and a clock that two changes in a row may read alike.
type World struct {
	T       T
	Limits  topic.Limits
	Topics  map[string]*Topic
	IDs     int // how many ids were made
	Commits int // how many changes were made
}

// A Topic is the state of a topic and its journal.
type Topic struct {
	State *topic.State
	Log   []event.Event
}

// New returns a world without topics and with the default limits.
func New(t T) *World {
	return &World{T: t, Limits: topic.DefaultLimits(), Topics: map[string]*Topic{}}
}

// NewID returns an id that was not used before.
func (w *World) NewID() string {
	w.IDs++
	return fmt.Sprintf("id%08d", w.IDs)
}

// Topic returns the topic with the id, which need not exist.
func (w *World) Topic(id string) *Topic {
	if m := w.Topics[id]; m != nil {
		return m
	}
	return &Topic{State: topic.New(id)}
}

// States returns the topics in no order.
func (w *World) States() []*topic.State {
	var all []*topic.State
	for _, m := range w.Topics {
		all = append(all, m.State)
	}
	return all
}

// Create makes a topic, or returns the one that is to be reused.
func (w *World) Create(r topic.CreateRequest) *topic.State {
	w.T.Helper()
	id := w.NewID()
	reused, events := topic.Create(w.States(), r, id)
	if reused != nil {
		return reused
	}
	return w.Commit(id, events)
}

// Commit does what storage does with a decision, and checks what always holds: the
// state is the fold of the journal, survives being written, and shares no memory
// with the state before.
func (w *World) Commit(id string, events []event.Event) *topic.State {
	w.T.Helper()
	m := w.Topic(id)
	w.Commits++
	next := m.State.Clone()
	before := JSON(m.State)
	for _, e := range events {
		e.Seq, e.ID, e.RoomID = next.Seq+1, w.NewID(), id
		e.CreatedAt = event.NewTime(time.UnixMilli(1_700_000_000_000 + int64(w.Commits/2)))
		if err := next.Apply(&e); err != nil {
			w.T.Fatalf("apply %s: %v", e.Type, err)
		}
		m.Log = append(m.Log, e)
	}
	if after := JSON(m.State); after != before {
		w.T.Fatalf("a clone shares memory:\n%s\n%s", before, after)
	}
	m.State = next
	w.Topics[id] = m
	m.check(w.T, id)
	return next
}

func (m *Topic) check(t T, id string) {
	t.Helper()
	folded, read := topic.New(id), topic.New(id)
	for i := range m.Log {
		if err := folded.Apply(&m.Log[i]); err != nil {
			t.Fatalf("replay: %v", err)
		}
	}
	if err := wire.Decode([]byte(JSON(m.State)), read); err != nil {
		t.Fatalf("state: %v", err)
	}
	for _, other := range []*topic.State{folded, read} {
		if !reflect.DeepEqual(other.Clone(), m.State.Clone()) {
			t.Fatalf("fold(journal) != state:\n%s\n%s", JSON(other), JSON(m.State))
		}
	}
}

// Lookup is the [topic.Lookup] of the topic.
func (m *Topic) Lookup(seq int64) (*event.Event, error) {
	if seq < 1 || seq > int64(len(m.Log)) {
		return nil, fmt.Errorf("no event %d", seq)
	}
	return &m.Log[seq-1], nil
}

// JSON returns the JSON of a value that has one.
func JSON(v any) string {
	switch v.(type) {
	case *topic.State, topic.State:
		return string(wire.Append(nil, v))
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
