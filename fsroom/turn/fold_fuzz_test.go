package turn_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// lifeOf is a journal with an event of every kind.
func lifeOf(f *testing.F) []byte {
	must := func(err error) {
		if err != nil {
			f.Fatal(err)
		}
	}
	w := newWorld(f)
	w.join("a")
	w.join("b")
	w.tries("a")
	must(w.send("a", turn.Everyone, "hello"))
	id, err := w.addNote(turn.NoteRequest{Agent: "a", Body: "mind the gap", Target: "b"})
	must(err)
	_, err = w.resolve("b", id)
	must(err)
	w.releases()
	w.orders("b")
	w.assigns("a")
	w.setPolicy("a", func(p *turn.Policy) { p.ClaimTTL = 7 })
	_, err = w.kick("a", "b", true)
	must(err)
	_, err = w.leave("a")
	must(err)
	return w.lines
}

// FuzzFold: a journal that reads is folded or refused, whatever is in its
// events, and the state it gives survives being written and read. Whoever looks
// at that state or acts on it gets an answer, and what it decides folds as well.
func FuzzFold(f *testing.F) {
	life := lifeOf(f)
	f.Add(life)
	for _, edit := range []struct{ old, new string }{
		{`"payload":{`, `"payload":[{`}, {`"format":1`, `"format":2`}, {`"mono_ms":`, `"mono_ms":-9`}, {`"created_at"`, `"created"`}, {`"from_agent_id":"a"`, `"from_agent_id":""`},
		{`"owner_lease_ttl_ms":`, `"owner_lease_ttl_ms":9223372036854775807,"x":`}, {`"waiter_grace_ms":`, `"waiter_grace_ms":-`}, {`2026`, `0001`}, {`2026`, `9999`},
		{`"lease_id":"`, `"lease_id":"\u0000\u001b[2J`}, {`"kind":"`, `"kind":null,"x":"`}, {`"to_agent_id":"b"`, `"to_agent_id":"nobody"`}, {`"turn_id":1`, `"turn_id":-1`},
		{`"note_id":"`, `"note_id":"","x":"`}, {`"payload":`, `"ignored":`},
	} {
		f.Add(bytes.ReplaceAll(life, []byte(edit.old), []byte(edit.new)))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		w := newWorld(t)
		for line := range bytes.Lines(lines) {
			e, err := event.Decode(line)
			if err != nil {
				continue
			}
			before := w.state.Clone()
			if err := w.state.Apply(&e); err != nil {
				alike(t, line, w.state, before)
				continue
			}
			read := turn.New(roomID)
			if err := wire.Decode([]byte(mustJSON(w.state)), read); err != nil {
				t.Fatalf("%s: %v", mustJSON(w.state), err)
			}
			alike(t, line, read, w.state)
		}
		actsOn(t, w)
	})
}

func alike(t *testing.T, line []byte, got, want *turn.State) {
	t.Helper()
	if !reflect.DeepEqual(got.Clone(), want.Clone()) {
		t.Fatalf("after %q:\n%+v\nwant\n%+v", line, got, want)
	}
}

// actsOn lets a member, the owner and a stranger look at the room and try what
// can be tried. Nothing of it is kept.
func actsOn(t *testing.T, w *world) {
	t.Helper()
	s, now := w.state, w.facts()
	view := s.Room(now)
	mustJSON(&view)
	for _, id := range []string{"a", s.Owner, "stranger"} {
		s.MemberViews(now)
		s.Idle(now)
		if next := s.NextDeadline(now, id); next < 0 {
			t.Fatalf("%s looks again in %v: %s", id, next, mustJSON(s))
		}
		fence := turn.Fence{Agent: id, Turn: s.Turn, Lease: s.Grant.Lease}
		handoff := turn.ReleaseRequest{Fence: fence, Handoff: []byte(note)}
		for what, decide := range map[string]func() ([]event.Event, error){
			"join": func() ([]event.Event, error) {
				return turn.Join(s, turn.JoinRequest{Agent: id, Policy: w.policy}), nil
			},
			"try": func() ([]event.Event, error) {
				return first(turn.Try(s, now, turn.TryRequest{Agent: id, Lease: "new"}))
			},
			"take": func() ([]event.Event, error) {
				return first(turn.Take(s, now, turn.TakeRequest{TryRequest: turn.TryRequest{Agent: id, Lease: "new"}, Reason: "r", Operator: true}))
			},
			"release": func() ([]event.Event, error) { return first(turn.Release(s, now, handoff)) },
			"assign":  func() ([]event.Event, error) { return first(turn.Assign(s, now, handoff, turn.TargetNext)) },
			"leave":   func() ([]event.Event, error) { return first(turn.Leave(s, now, id)) },
			"kick": func() ([]event.Event, error) {
				return first(turn.Kick(s, now, turn.KickRequest{Agent: id, Target: "b", Force: true}))
			},
			"send": func() ([]event.Event, error) {
				return turn.Send(s, now, turn.MessageRequest{Agent: id, To: turn.Everyone, Body: "x"})
			},
			"note": func() ([]event.Event, error) {
				return turn.AddNote(s, now, turn.NoteRequest{Agent: id, ID: "n", Body: "x", Target: "b"})
			},
		} {
			events, err := decide()
			if err != nil && code.Of(err) == code.Internal {
				t.Fatalf("%s by %q: %v: %s", what, id, err, mustJSON(s))
			}
			next := s.Clone()
			for i := range events {
				if err := next.Apply(&events[i]); err != nil {
					t.Fatalf("%s by %q does not fold: %v: %s", what, id, err, mustJSON(s))
				}
			}
		}
	}
}

// first drops the result of a decision.
func first[R any](events []event.Event, _ R, err error) ([]event.Event, error) {
	return events, err
}
