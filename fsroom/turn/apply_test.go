package turn_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// eventful is a room in which every kind of event has happened.
func eventful(t testing.TB) *world {
	w := room(t, members("a", "b", "c"), held("a"), assigned("b"), held("b"), later(grace), released("kept for c"), taken("a"),
		policy(func(p *turn.Policy) { p.ClaimTTL = 5000 }), kicked("a", "c"))
	w.send("a", "b", "hello")
	w.addNote(turn.NoteRequest{Agent: "a", Body: "remember"})
	changed(1, "a")(w)
	w.resolve("a", w.state.Notes[0].ID)
	w.endJob("b", 3, talk.JobFailed)
	w.loses()
	released("kept for b")(w)
	for _, s := range (steps{later(grace), held("b"), taken("a"), left("b"), left("a")}) {
		s(w)
	}
	return w
}

// loses tells that the last two events are lost, and what the room was after them.
func (w *world) loses() {
	seq := w.state.Seq
	w.commit([]event.Event{{Type: turn.JournalDamaged, Turn: w.state.Turn,
		Payload: wire.Append(nil, &event.Loss{Lost: event.Lost{From: seq - 1, To: seq}, State: json.RawMessage(mustJSON(w.state))})}}, nil)
}

// TestApplyLoss: a journal without the events folds to the same room.
func TestApplyLoss(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), released("reserved for b"), held("b"))
	kept := len(w.events) - 2
	w.loses()
	s := turn.New(roomID)
	for i := range w.events {
		if e := w.events[i]; i < kept || i > kept+1 {
			if err := s.Apply(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.alike("the room", s)
	equal(t, "owner", words(s.Owner, s.Turn, s.Seq), words("b", 2, w.state.Seq))
	bad := event.Event{Seq: 99, Type: turn.JournalDamaged, Payload: json.RawMessage(`{"state":[]}`)}
	if err := s.Apply(&bad); err == nil {
		t.Error("a state that cannot be read is believed")
	}
	w.alike("the room after that", s)
	moved := turn.New("elsewhere") // an import
	for i := range w.events {
		if err := moved.Apply(&w.events[i]); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "room", moved.RoomID, "elsewhere")
}

// TestEventTypes: the list is complete, and every kind was there.
func TestEventTypes(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range eventful(t).events {
		seen[e.Type] = true
		if !turn.KnownEventType(e.Type) {
			t.Errorf("%s is not known", e.Type)
		}
	}
	for _, name := range turn.EventTypes() {
		if !seen[name] {
			t.Errorf("%s did not happen", name)
		}
	}
	equal(t, "types", strings.Join(turn.EventTypes(), " "), "room_opened member_joined member_left claim release pass takeover kick "+
		"message_sent note_added note_resolved policy_changed close tree_changed job_ended journal_damaged")
	equal(t, "unknown", turn.KnownEventType("Claim"), false)
}

// TestPublic: what agents see of an event carries no lease, and nothing else
// that is meant for replay, but all the rest.
func TestPublic(t *testing.T) {
	w := eventful(t)
	leases := w.fences
	for _, e := range w.events {
		shown := turn.Public(e)
		line := string(shown.Append(nil))
		for _, word := range []string{"lease_id", "clock", "boot_id", "mono_ms", `"more"`} {
			if strings.Contains(line, word) {
				t.Errorf("%s shows %s", line, word)
			}
		}
		for _, f := range leases {
			if strings.Contains(line, f.Lease) {
				t.Errorf("%s shows a lease", line)
			}
		}
		shown.Payload, shown.More = e.Payload, e.More
		equal(t, "the rest", mustJSON(shown), mustJSON(e))
	}
	equal(t, "claim", string(turn.Public(find(w, turn.Claim, 1)).Payload), `{"handoff_event_seq":6,"kind":"direct_pass","waited_ms":0}`)
	equal(t, "release", string(turn.Public(find(w, turn.Released, 0)).Payload), `{"preferred":"c"}`)
	equal(t, "loss", string(turn.Public(find(w, turn.JournalDamaged, 0)).Payload), `{"lost_from":15,"lost_to":16}`)
	equal(t, "pass", string(turn.Public(find(w, turn.Passed, 0)).Payload), "")
	odd := event.Event{Type: turn.Claim, Payload: json.RawMessage(`{"lease_id":`)}
	equal(t, "damaged", string(turn.Public(odd).Payload), "")
}

// find returns the nth event of a type.
func find(w *world, name string, n int) event.Event {
	for _, e := range w.events {
		if e.Type != name {
			continue
		}
		if n--; n < 0 {
			return e
		}
	}
	w.t.Fatalf("no %s", name)
	return event.Event{}
}

// TestViewsHideTheLease: a lease is in its holder's results only.
func TestViewsHideTheLease(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	lease := w.fence().Lease
	res, _ := w.try("b")
	view := w.state.Room(w.facts())
	shown := []string{mustJSON(&res), mustJSON(&view), mustJSON(w.state.MemberViews(w.facts()))}
	_, err := w.release(turn.Fence{Agent: "b", Turn: 1, Lease: "x"})
	shown = append(shown, err.Error(), mustJSON(err.(*code.Error).Details))
	for _, s := range shown {
		if strings.Contains(s, lease) {
			t.Errorf("%s shows the lease", s)
		}
	}
}

func TestApplyUnknown(t *testing.T) {
	w := eventful(t)
	s := w.state.Clone()
	e := event.Event{Seq: s.Seq + 1, Type: "frobnicated", From: "a", To: "b", Turn: 99, CreatedAt: w.now().Wall, Payload: json.RawMessage(`[1]`)}
	if err := s.Apply(&e); err != nil {
		t.Fatal(err)
	}
	equal(t, "counted", s.Seq, w.state.Seq+1)
	s.Seq, s.UpdatedAt = w.state.Seq, w.state.UpdatedAt
	w.alike("the room after an event nobody knows", s)
}

// TestApplyWithoutGrant: the number of a turn whose grant was lost is not granted again.
func TestApplyWithoutGrant(t *testing.T) {
	w := eventful(t)
	for _, kind := range []string{event.Damaged, turn.Released, turn.TreeChanged} {
		s := w.state.Clone()
		e := event.Event{Seq: s.Seq + 1, Type: kind, From: "a", Turn: s.Turn + 1, CreatedAt: w.now().Wall, Payload: json.RawMessage(`{}`)}
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
		equal(t, kind, s.Turn, w.state.Turn+1)
	}
}

// TestApplyDamaged: an event that cannot be understood is refused as a whole.
func TestApplyDamaged(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	for _, name := range []string{turn.RoomOpened, turn.MemberJoined, turn.Claim, turn.Takeover, turn.Released, turn.Passed, turn.NoteAdded, turn.NoteResolved, turn.PolicyChanged} {
		s := w.state.Clone()
		e := event.Event{Seq: s.Seq + 1, Type: name, From: "b", To: "b", Turn: 2, Payload: json.RawMessage(`"no object"`)}
		err := s.Apply(&e)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "5") {
			t.Errorf("%s: %v", name, err)
		}
		w.alike("the room after a damaged "+name, s)
	}
}

func TestApplyNewerFormat(t *testing.T) {
	w := room(t)
	e := turn.Join(w.state, turn.JoinRequest{Agent: "a", CanonicalPath: path})[0]
	e.Seq, e.Payload = 1, json.RawMessage(strings.Replace(string(e.Payload), `"format":1`, `"format":2`, 1))
	err := w.state.Apply(&e)
	equal(t, "code", code.Of(err), code.UnsupportedFormat)
	w.alike("the room", turn.New(roomID))
}

// TestApplyIsTotal: the journal has decided. What makes no sense changes what
// it can and is not refused.
func TestApplyIsTotal(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	for _, e := range []event.Event{
		{Type: turn.MemberJoined, From: "a"},
		{Type: turn.MemberLeft, From: "nobody"},
		{Type: turn.Kicked, From: "a", To: "nobody"},
		{Type: turn.MessageSent, From: "nobody", To: "nobody"},
		{Type: turn.NoteResolved, From: "a", Payload: json.RawMessage(`{"note_id":"none"}`)},
	} {
		s := w.state.Clone()
		e.Seq, e.Turn = s.Seq+1, s.Turn
		if err := s.Apply(&e); err != nil {
			t.Errorf("%s: %v", e.Type, err)
		}
		equal(t, e.Type, words(s.Owner, s.Turn, len(s.Members), s.Seq), words("a", 1, 2, w.state.Seq+1))
	}
}

// TestCloneIsACopy: whatever is applied to a clone leaves the original alone.
// That it does so for every other change is checked by every commit.
func TestCloneIsACopy(t *testing.T) {
	w := room(t, members("a", "b", "c", "d"), held("b", "c"), left("b"))
	w.addNote(turn.NoteRequest{Agent: "a", Body: "one"})
	w.addNote(turn.NoteRequest{Agent: "a", Body: "two"})
	before := mustJSON(w.state)
	c := w.state.Clone()
	for _, e := range []event.Event{
		{Type: turn.MemberLeft, From: "c"}, {Type: turn.MemberJoined, From: "e"}, {Type: turn.MemberJoined, From: "b"},
		{Type: turn.MessageSent, From: "a", To: "d"}, {Type: turn.NoteResolved, Payload: json.RawMessage(`{"note_id":"` + c.Notes[0].ID + `"}`)},
	} {
		if err := c.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "original", mustJSON(w.state), before)
	equal(t, "same", slices.Equal(c.Members, w.state.Members), false)
}

// TestFormerHolders: the list is bounded, and forgets the first to leave first.
func TestFormerHolders(t *testing.T) {
	w := room(t, members("a", "b"))
	for i := range 70 {
		id := fmt.Sprint("guest:", i)
		members(id)(w)
		if got := w.orders(id); !strings.HasPrefix(got, turn.YourTurn) {
			t.Fatal(got)
		}
		left(id)(w)
	}
	equal(t, "kept", len(w.state.Former), 64)
	members("guest:5", "guest:6")(w)
	equal(t, "forgotten", w.state.Member("guest:5").LastHeld, 0)
	equal(t, "remembered", w.state.Member("guest:6").LastHeld > 0, true)
	equal(t, "left", len(w.state.Former), 63)
}

// TestJSON: on its own and within something larger a result reads the same.
func TestJSON(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), released("reserved for b"))
	res, _ := w.try("b")
	res.Handoff, res.GuardianPID = json.RawMessage(note), 7
	room, member, released := w.state.Room(w.facts()), w.state.MemberViews(w.facts())[0], turn.ReleaseResult{Status: "released", EventSeq: 1}
	for _, pair := range [][2]any{
		{res, &res}, {room, &room}, {member, &member}, {released, &released}, {w.state.Policy, &w.state.Policy}, {*w.state, w.state},
	} {
		equal(t, "JSON", string(wire.Append(nil, []any{pair[0]})), "["+mustJSON(pair[1])+"]")
	}
	var back turn.State
	if err := wire.Decode([]byte(mustJSON(w.state)), &back); err != nil {
		t.Fatal(err)
	}
	w.alike("the state when read", &back)
	closed := turn.WaitResult{Status: turn.WaitClosed, RoomID: "r"}
	equal(t, "closed", mustJSON(&closed), `{"status":"closed","room_id":"r"}`)
}
