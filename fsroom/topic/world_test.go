package topic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// A world is what the rules need around them: topics kept in memory, a clock
// that two changes in a row may read alike, ids, and sessions with their names.
type world struct {
	t      fataler
	limits topic.Limits
	topics map[string]*memory
	names  map[[2]string]string   // agent_name by session and topic
	asked  map[[2]string][]string // questions likewise
	// What the machine knows.
	harness   string
	listeners int
	ids       int
	clock     int
}

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

type memory struct {
	state *topic.State
	log   []event.Event
}

func newWorld(t fataler) *world {
	t.Helper()
	return &world{t: t, limits: limitsWith(t, nil), topics: map[string]*memory{}, names: map[[2]string]string{}, asked: map[[2]string][]string{}}
}

func limitsWith(t fataler, env map[string]string) topic.Limits {
	t.Helper()
	l, err := topic.LimitsFrom(func(name string) string { return env[name] })
	if err != nil {
		t.Fatalf("limits: %v", err)
	}
	return l
}

func (w *world) newID() string {
	w.ids++
	return fmt.Sprintf("id%08d", w.ids)
}

func (w *world) topic(id string) *memory {
	if m := w.topics[id]; m != nil {
		return m
	}
	return &memory{state: topic.New(id)}
}

func (w *world) infos() []topic.Info {
	var infos []topic.Info
	for _, m := range w.topics {
		infos = append(infos, m.state.Info())
	}
	return infos
}

// commit does what storage does with a decision, and checks what must always
// hold: the state is the fold of the journal, and survives being written.
func (w *world) commit(id string, events []event.Event) *topic.State {
	w.t.Helper()
	m := w.topic(id)
	w.clock++
	next := m.state.Clone()
	before := mustJSON(m.state)
	for _, e := range events {
		e.Seq, e.ID, e.RoomID = next.Seq+1, w.newID(), id
		e.CreatedAt = event.NewTime(time.UnixMilli(1_700_000_000_000 + int64(w.clock/2)))
		if err := next.Apply(&e); err != nil {
			w.t.Fatalf("apply %s: %v", e.Type, err)
		}
		m.log = append(m.log, e)
	}
	if after := mustJSON(m.state); after != before {
		w.t.Fatalf("a clone shares memory:\n%s\n%s", before, after)
	}
	m.state = next
	w.topics[id] = m
	m.check(w.t, id)
	return next
}

func (m *memory) check(t fataler, id string) {
	t.Helper()
	folded, read := topic.New(id), topic.New(id)
	for i := range m.log {
		if err := folded.Apply(&m.log[i]); err != nil {
			t.Fatalf("replay: %v", err)
		}
	}
	if err := json.Unmarshal([]byte(mustJSON(m.state)), read); err != nil {
		t.Fatalf("state: %v", err)
	}
	for _, other := range []*topic.State{folded, read} {
		if !reflect.DeepEqual(other.Clone(), m.state.Clone()) {
			t.Fatalf("fold(journal) != state:\n%s\n%s", mustJSON(other), mustJSON(m.state))
		}
	}
}

func (m *memory) lookup(seq int64) (*event.Event, error) {
	if seq < 1 || seq > int64(len(m.log)) {
		return nil, fmt.Errorf("no event %d", seq)
	}
	return &m.log[seq-1], nil
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A reply is what an agent sees of a call.
type reply struct {
	code code.Code // "" for a success
	text string
	body map[string]any
}

// call makes a call of a tool in a session, with arguments as the agent writes
// them. Nothing waits: an ask or pending_list with wait_seconds answers as if
// nothing had happened until its end.
func (w *world) call(session, tool, args string) reply {
	w.t.Helper()
	result, err := w.run(session, tool, json.RawMessage(args))
	r := reply{code: code.Of(err)}
	body := ""
	if err != nil {
		text, structured := topic.ErrorResult(err)
		r.text, body = text, string(structured)
	} else {
		r.text, body = topic.TextOf(result), mustJSON(result)
	}
	if err := json.Unmarshal([]byte(body), &r.body); err != nil {
		w.t.Fatalf("%s: %v in %s", tool, err, body)
	}
	if r.text == "" {
		w.t.Fatalf("%s: no text", tool)
	}
	warnings, _ := r.body["warnings"].([]any)
	for _, warning := range warnings {
		if c := warning.(map[string]any)["code"].(string); !strings.Contains(r.text, "warning "+c) {
			w.t.Fatalf("%s: warning %s is not in the text: %s", tool, c, r.text)
		}
	}
	return r
}

// ok is a call that must succeed.
func (w *world) ok(session, tool, args string) map[string]any {
	w.t.Helper()
	r := w.call(session, tool, args)
	if r.code != "" {
		w.t.Fatalf("%s %s: %s", tool, args, r.text)
	}
	return r.body
}

// refused is a call that must fail with the code.
func (w *world) refused(c code.Code, session, tool, args string) reply {
	w.t.Helper()
	r := w.call(session, tool, args)
	if r.code != c {
		w.t.Fatalf("%s %s: code %q, not %q: %s", tool, args, r.code, c, r.text)
	}
	return r
}

// same compares a value with its JSON.
func same(t testing.TB, what string, got any, want string) {
	t.Helper()
	var g, w any
	if err := errors.Join(json.Unmarshal([]byte(mustJSON(got)), &g), json.Unmarshal([]byte(want), &w)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s: got %s, want %s", what, mustJSON(g), mustJSON(w))
	}
}
