package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

func TestSend(t *testing.T) {
	people := steps{members("a", "codex:1=codex", "gemini:1=gemini", "gemini:2=gemini", "nameless")}
	for _, c := range []struct {
		name         string
		steps        steps
		by, to, body string
		want         string // the recipient, or the code of a refusal
	}{
		{"137 by display name", people, "a", "codex", "hello", "codex:1"},
		{"138 by id", people, "a", "gemini:2", "hello", "gemini:2"},
		{"138 to the room", people, "a", turn.Everyone, "hello", ""},
		{"to myself", people, "a", "a", "hello", "a"},
		{"140 an unknown name", people, "a", "claude", "hello", "unknown_recipient"},
		{"no name is nobody's", people, "a", "", "hello", "unknown_recipient"},
		{"140 a name of two", people, "a", "gemini", "hello", "ambiguous_recipient"},
		{"a name of two, one gone", append(people, gone("gemini:1")), "a", "gemini", "hello", "gemini:2"},
		{"by id, gone", append(people, gone("codex:1")), "a", "codex:1", "hello", "codex:1"},
		{"by display name, gone", append(people, gone("codex:1")), "a", "codex", "hello", "unknown_recipient"},
		{"142 by a stranger", people, "x", "codex", "hello", "not_joined"},
		{"143 closed", steps{members("a"), left("a")}, "a", "a", "hello", "room_closed"},
		{"142 empty", people, "a", "codex", "", "invalid_body"},
		{"142 blank", people, "a", "codex", " \n\t", "invalid_body"},
		{"bad UTF-8", people, "a", "codex", "a\xffb", "invalid_body"},
		{"142 4096 bytes", people, "a", "codex", strings.Repeat("é", 2048), "codex:1"},
		{"142 4097 bytes", people, "a", "codex", strings.Repeat("x", 4097), "message_too_large"},
		{"the body comes first", people, "x", "nobody", "", "invalid_body"},
		{"then the membership", people, "x", "nobody", "hello", "not_joined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			before := len(w.events)
			if err := w.send(c.by, c.to, c.body); err != nil {
				equal(t, "code", string(code.Of(err)), c.want)
				equal(t, "events", len(w.events), before)
				return
			}
			e := w.events[before]
			equal(t, "event", words(e.Type, e.From, e.To), words("message_sent", c.by, c.want))
			equal(t, "turn", e.Turn, w.state.Turn)
		})
	}
}

func TestSendRefused(t *testing.T) {
	w := room(t, members("a", "gemini:1=gemini", "gemini:2=gemini"))
	equal(t, "candidates", mustJSON(detail(t, w.send("a", "gemini", "hello"), "candidates")), `["gemini:1","gemini:2"]`)
	err := w.send("a", "gemino", "hello")
	equal(t, "to", detail(t, err, "to_agent_id"), any("gemino"))
	equal(t, "hint", err.(*code.Error).Hint, "did you mean gemini:1?")
	equal(t, "supplied", detail(t, w.send("a", "gemini:1", strings.Repeat("x", 5000)), "supplied"), any(5000))
	err = w.send("a", "somebody-else", "hello")
	equal(t, "hint", err.(*code.Error).Hint, "active members: gemini:1, gemini:2")
	gone("gemini:1", "gemini:2")(w)
	err = w.send("a", "gemini", "hello")
	equal(t, "hint", err.(*code.Error).Hint, "nobody else is active in the room")
	equal(t, "candidates", detail(t, err, "candidates"), nil)
}

func TestMessagePayload(t *testing.T) {
	w := room(t, members("a", "b"))
	for interrupt, want := range map[bool]string{
		false: `{"body":" <b> \"hi\"\n ","delivery_hint":"normal"}`, true: `{"body":" <b> \"hi\"\n ","delivery_hint":"interrupt"}`,
	} {
		events, err := turn.Send(w.state, w.facts(), turn.MessageRequest{Agent: "a", To: "b", Body: " <b> \"hi\"\n ", Interrupt: interrupt})
		e := w.commit(events, err)
		equal(t, "payload", string(e.Payload), want)
	}
}

// TestMail: the state knows the last message that a reader of the journal finds.
func TestMail(t *testing.T) {
	w := room(t, members("a", "b"))
	joined := map[string]int64{"a": w.state.Seq, "b": w.state.Seq, "c": 0}
	check := func() {
		t.Helper()
		for id, since := range joined {
			m := w.state.Member(id)
			if m == nil {
				continue
			}
			var want int64
			for _, e := range w.events {
				if e.Seq > since && talk.IsMail(&e, id) {
					want = e.Seq
				}
			}
			equal(t, id, m.LastMail, want)
		}
	}
	talk := func() {
		for _, m := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", turn.Everyone}, {"b", turn.Everyone}, {"a", "a"}, {"a", turn.Everyone}} {
			_ = w.send(m[0], m[1], "hello")
			check()
		}
	}
	talk()
	members("c")(w)
	joined["c"] = w.state.Seq
	talk()
	kicked("a", "b")(w)
	members("b")(w)
	joined["b"] = w.state.Seq
	check()
	talk()
}

func TestMeantFor(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"me", "me", true}, {"other", "me", true}, {"me", "other", false}, {"other", "third", false},
		{"me", "", false}, {"other", "", true}, {"", "", true},
	} {
		equal(t, c.from+">"+c.to, talk.MeantFor(&event.Event{From: c.from, To: c.to}, "me"), c.want)
	}
}

func TestWhoIs(t *testing.T) {
	w := room(t, members("a", "codex:1=codex", "gemini:1=gemini", "gemini:2=gemini", "b", "c"), left("b"), held("c"), left("c"))
	for name, want := range map[string]string{
		"a": "a", "codex": "codex:1", "codex:1": "codex:1", "claude:77": "claude:77",
		"gemini": "ambiguous_recipient", "claude": "unknown_recipient", "b": "unknown_recipient", "c": "c", "": "unknown_recipient",
	} {
		got, err := turn.WhoIs(w.state, w.facts(), "a", name)
		if err != nil {
			got = string(code.Of(err))
		}
		equal(t, name, got, want)
	}
}

func TestSuggestions(t *testing.T) {
	w := room(t, members("me", "claude:1f2e3d4c=claude", "codex:99=codex", "x"))
	for name, want := range map[string]string{
		"claud": "did you mean claude:1f2e3d4c?", "claude:1f2e3d4d": "did you mean claude:1f2e3d4c?", "cdex": "did you mean codex:99?",
		"y": "did you mean x?", "me2": "active members: claude:1f2e3d4c, codex:99, x", "something": "active members: claude:1f2e3d4c, codex:99, x",
	} {
		err := w.send("me", name, "hello")
		equal(t, name, err.(*code.Error).Hint, want)
	}
	equal(t, "no person", w.send("me", "human", "hello").(*code.Error).Hint[:20], "a person is no membe")
	w = room(t, members("me", "human:ann=ann"))
	equal(t, "a person", w.send("me", "human", "hello").(*code.Error).Hint, "active members: human:ann")
}

func TestAddNote(t *testing.T) {
	people := steps{members("a", "codex:1=codex"), held("a"), assigned("codex:1"), held("codex:1")}
	note := func(n turn.NoteRequest) turn.NoteRequest { n.Body = "b"; return n }
	for _, c := range []struct {
		name  string
		steps steps
		note  turn.NoteRequest
		want  string // target, turn and severity, or the code of a refusal
	}{
		{"173 by one that does not own", people, note(turn.NoteRequest{Agent: "a"}), " 0 info"},
		{"for one", people, note(turn.NoteRequest{Agent: "a", Target: "codex", Severity: talk.SeverityPage}), "codex:1 0 page"},
		{"about a turn", people, note(turn.NoteRequest{Agent: "a", Turn: 2, HasTurn: true}), " 2 info"},
		{"about turn 0", people, note(turn.NoteRequest{Agent: "a", HasTurn: true}), "invalid_turn_id"},
		{"176 about a turn to come", people, note(turn.NoteRequest{Agent: "a", Turn: 3, HasTurn: true}), "invalid_turn_id"},
		{"176 about a negative turn", people, note(turn.NoteRequest{Agent: "a", Turn: -1, HasTurn: true}), "invalid_turn_id"},
		{"177 by a stranger", people, note(turn.NoteRequest{Agent: "x"}), "not_joined"},
		{"for a stranger", people, note(turn.NoteRequest{Agent: "a", Target: "claude"}), "unknown_recipient"},
		{"180 closed", steps{members("a"), left("a")}, note(turn.NoteRequest{Agent: "a"}), "room_closed"},
		{"175 empty", people, turn.NoteRequest{Agent: "a"}, "invalid_body"},
		{"175 blank", people, turn.NoteRequest{Agent: "a", Body: " \n\t\u00a0"}, "invalid_body"},
		{"bad UTF-8", people, turn.NoteRequest{Agent: "a", Body: "\xff"}, "invalid_body"},
		{"175 16384 bytes and blanks", people, turn.NoteRequest{Agent: "a", Body: "\n" + strings.Repeat("x", 16384) + "  "}, " 0 info"},
		{"175 16385 bytes", people, turn.NoteRequest{Agent: "a", Body: strings.Repeat("x", 16385)}, "body_too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			before := len(w.events)
			id, err := w.addNote(c.note)
			if err != nil {
				equal(t, "code", string(code.Of(err)), c.want)
				equal(t, "events", len(w.events), before)
				return
			}
			n := w.state.Notes[0]
			equal(t, "note", strings.Join([]string{n.Target, words(n.Turn), n.Severity}, " "), c.want)
			equal(t, "rest", words(n.ID, n.Seq, n.Author, n.CreatedAt), words(id, before+1, c.note.Agent, w.events[before].CreatedAt))
			equal(t, "event", words(w.events[before].Type, w.events[before].To), words(turn.NoteAdded, n.Target))
		})
	}
}

func TestNotesCome(t *testing.T) {
	w := room(t, members("a", "b"))
	first, _ := w.addNote(turn.NoteRequest{Agent: "a", Body: "one"})
	w.later(time.Second)
	second, _ := w.addNote(turn.NoteRequest{Agent: "b", Body: "  two\nlines "})
	w.send("a", "b", "in between")
	third, _ := w.addNote(turn.NoteRequest{Agent: "b", Body: "three"})
	open := func(want ...string) {
		t.Helper()
		var ids []string
		for _, n := range w.state.Notes {
			ids = append(ids, n.ID)
		}
		equal(t, "open", strings.Join(ids, " "), strings.Join(want, " "))
	}
	open(first, second, third)
	equal(t, "payload", string(w.events[4].Payload), `{"note_id":"`+second+`","severity":"info","body_preview":"two","body":"two\nlines"}`)
	whole, err := w.resolve("a", second)
	equal(t, "resolved", words(whole, err), words(second, nil))
	open(first, third)
	equal(t, "payload", string(w.events[7].Payload), `{"note_id":"`+second+`"}`)
	whole, err = w.resolve("b", second)
	equal(t, "resolved again", words(whole, err, len(w.events)), words(second, nil, 8))
}

func TestResolve(t *testing.T) {
	w := room(t, members("a", "b"))
	id, _ := w.addNote(turn.NoteRequest{Agent: "a", Body: "one"})
	other, _ := w.addNote(turn.NoteRequest{Agent: "a", Body: "two"})
	for _, c := range []struct{ name, by, id, want string }{
		{"by a stranger", "x", id, "not_joined"},
		{"no such note", "a", "note-none", "unknown_target"},
		{"no note at all", "a", "", "unknown_target"},
		{"the beginning of two", "a", "note", "ambiguous"},
		{"too short a beginning", "a", "not", "unknown_target"},
		{"by its beginning", "b", id[:len(id)-1], "ambiguous"},
		{"in full", "b", id, id},
	} {
		whole, err := w.resolve(c.by, c.id)
		if c.want == "ambiguous" { // ids count up, so all but the last digit is the same
			equal(t, c.name, code.Of(err), code.UnknownTarget)
			equal(t, c.name, mustJSON(detail(t, err, "candidates")), mustJSON([]string{id, other}))
			continue
		}
		if err != nil {
			whole = string(code.Of(err))
		}
		equal(t, c.name, whole, c.want)
	}
	rest := w.state.Notes[0].ID
	whole, err := w.resolve("b", rest[:len(rest)-1])
	equal(t, "by its beginning", words(whole, err), words(rest, nil))
	whole, err = w.resolve("b", rest[:len(rest)-1])
	equal(t, "again, by its beginning", words(strings.HasPrefix(whole, rest[:len(rest)-1]), err), words(true, nil))
	left("a")(w)
	left("b")(w)
	_, err = w.resolve("a", id)
	equal(t, "closed", code.Of(err), code.RoomClosed)
}

func TestPreview(t *testing.T) {
	w := room(t, members("a"))
	for body, want := range map[string]string{
		"short":                  "short",
		"two\nlines":             "two",
		"two\r\nlines":           "two",
		strings.Repeat("é", 120): strings.Repeat("é", 120),
		strings.Repeat("é", 121): strings.Repeat("é", 119) + "…",
	} {
		w.addNote(turn.NoteRequest{Agent: "a", Body: body})
		e := w.events[len(w.events)-1]
		if !strings.Contains(string(e.Payload), `"body_preview":"`+want+`"`) {
			t.Errorf("%q is shown as %s", body, e.Payload)
		}
	}
}
