package tools_test

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func names(body map[string]any) string {
	var n []string
	for _, t := range body["topics"].([]any) {
		n = append(n, t.(map[string]any)["name"].(string))
	}
	return strings.Join(n, " ")
}

func TestTopics(t *testing.T) {
	play(t, []scenario{
		{"2 newer format", func(t *testing.T, s *stage) {
			err := topic.New("x").Apply(&event.Event{Type: topic.EventCreated, Payload: []byte(`{"format":99}`)})
			equal(t, "code", tools.Translate(err).Code, tools.SchemaMismatch)
			err = code.New(code.UnsupportedFormat, "room t1 was written by a newer version")
			equal(t, "message", tools.Translate(err).Message, "topic t1 was written by a newer version")
			err = code.New(code.LockTimeout, "the room's lock was not had")
			equal(t, "code", tools.Translate(err).Code, tools.Busy)
			equal(t, "message", tools.Translate(err).Message, "the topic's lock was not had")
		}},
		{"an argument of a tool that has none", func(t *testing.T, s *stage) {
			var a tools.None
			unknown, err := tools.Read([]byte(`{"x":1}`), tools.Schema(&a, topic.DefaultLimits()), &a)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "warning", unknown[0].Message, "x was ignored; the tool takes no arguments")
		}},
		{"5 no empty warnings", func(t *testing.T, s *stage) { warned(t, s.ok("A", "topic_list", `{}`)) }},
		{"6 create", func(t *testing.T, s *stage) {
			b := s.ok("A", "topic_create", `{"name":"blue"}`)
			same(t, "topic", b, f(`{"topic_id":%q,"name":"blue","status":"open"}`, b["topic_id"]))
		}},
		{"7 reuse", func(t *testing.T, s *stage) {
			equal(t, "id", s.ok("B", "topic_create", `{"name":"pink"}`)["topic_id"], s.id)
		}},
		{"8 reuse keeps the metadata", func(t *testing.T, s *stage) {
			first := s.ok("A", "topic_create", `{"name":"m","metadata":{"a":1}}`)
			again := s.ok("A", "topic_create", `{"name":"m","metadata":{"a":2}}`)
			equal(t, "id", again["topic_id"], first["topic_id"])
			rows := s.ok("A", "topic_list", `{}`)["topics"].([]any)
			same(t, "metadata", rows[0].(map[string]any)["metadata"], `{"a":1}`)
		}},
		{"9 new makes another", func(t *testing.T, s *stage) {
			second := s.made("pink")
			third := s.made("pink")
			if second == s.id || third == second {
				t.Fatalf("one id twice")
			}
			equal(t, "resolved", s.ok("A", "topic_resolve", `{"name":"pink"}`)["topic_id"], third)
		}},
		{"10 11 generated name", func(t *testing.T, s *stage) {
			for _, args := range []string{``, `{}`, `{"name":""}`, `{"name":null}`} {
				b := s.ok("A", "topic_create", args)
				equal(t, "name", b["name"], "topic-"+b["topic_id"].(string))
			}
		}},
		{"14 list newest first", func(t *testing.T, s *stage) {
			for _, n := range strings.Fields("a b c d") {
				s.made(n)
			}
			b := s.ok("A", "topic_list", `{"status":"open"}`)
			equal(t, "order", names(b), "d c b a pink")
			same(t, "row", b["topics"].([]any)[4], f(`{"topic_id":%q,"name":"pink","status":"open",
				"created_at":"2023-11-14T22:13:20.000Z","closed_at":null,"close_reason":null,"metadata":null,"counts":{"total":0,"pending":0,"answered":0,"cancelled":0}}`, s.id))
		}},
		{"15 list by status", func(t *testing.T, s *stage) {
			s.made("blue")
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
			equal(t, "open", names(s.ok("A", "topic_list", `{}`)), "blue")
			equal(t, "closed", names(s.ok("A", "topic_list", `{"status":"closed"}`)), "pink")
			equal(t, "all", names(s.ok("A", "topic_list", `{"status":"all"}`)), "blue pink")
		}},
		{"16 17 close twice", func(t *testing.T, s *stage) {
			first := s.ok("nobody", "topic_close", f(`{"topic_id":%q,"reason":"first"}`, s.id))
			warned(t, first)
			equal(t, "status", first["status"], "closed")
			equal(t, "reason", first["close_reason"], "first")
			again := s.ok("B", "topic_close", f(`{"topic_id":%q,"reason":"second"}`, s.id))
			equal(t, "context", warned(t, again, "ALREADY_CLOSED")[0]["topic_id"], s.id)
			equal(t, "reason", again["close_reason"], "first")
			if first["closed_at"] == nil || first["closed_at"] != again["closed_at"] {
				t.Errorf("closed_at %v, then %v", first["closed_at"], again["closed_at"])
			}
		}},
		{"18 a reason that comes late", func(t *testing.T, s *stage) {
			s.ok("A", "topic_close", f(`{"topic_id":%q,"reason":""}`, s.id))
			again := s.ok("A", "topic_close", f(`{"topic_id":%q,"reason":"late"}`, s.id))
			warned(t, again, "ALREADY_CLOSED")
			equal(t, "reason", again["close_reason"], nil)
		}},
		{"19 close unknown", func(t *testing.T, s *stage) {
			s.refused("TOPIC_NOT_FOUND", "A", "topic_close", `{"topic_id":"nope"}`)
		}},
		{"20 resolve closed", func(t *testing.T, s *stage) {
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
			s.refused("TOPIC_NOT_FOUND", "A", "topic_resolve", `{"name":"pink"}`)
			b := s.ok("A", "topic_resolve", `{"name":"pink","allow_closed":"true"}`)
			same(t, "resolved", b, f(`{"topic_id":%q,"name":"pink","status":"closed"}`, s.id))
		}},
		{"21 open beats closed", func(t *testing.T, s *stage) {
			newer := s.made("pink")
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, newer))
			equal(t, "id", s.ok("A", "topic_resolve", `{"name":"pink","allow_closed":true}`)["topic_id"], s.id)
		}},
		{"22 resolve unknown", func(t *testing.T, s *stage) {
			s.refused("TOPIC_NOT_FOUND", "A", "topic_resolve", `{"name":"Pink"}`)
		}},
		{"23 reuse of a closed name", func(t *testing.T, s *stage) {
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
			if s.ok("A", "topic_create", `{"name":"pink"}`)["topic_id"] == s.id {
				t.Errorf("a closed topic was reused")
			}
		}},
	})
}

func TestJoins(t *testing.T) {
	play(t, []scenario{
		{"25 29 join echoes", func(t *testing.T, s *stage) {
			same(t, "join", s.ok("D", "topic_join", f(`{"topic_id":%q,"agent_name":"  owl\n"}`, s.id)),
				f(`{"topic_id":%q,"name":"pink","status":"open","agent_name":"owl","data_dir":"/data"}`, s.id))
		}},
		{"26 by name", func(t *testing.T, s *stage) {
			equal(t, "id", s.ok("D", "topic_join", `{"name":"pink","agent_name":"owl","topic_id":""}`)["topic_id"], s.id)
		}},
		{"a blank topic_id is none", func(t *testing.T, s *stage) {
			s.refused("INVALID_ARGUMENT", "D", "topic_join", `{"topic_id":"  ","agent_name":"owl"}`)
		}},
		{"31 unknown", func(t *testing.T, s *stage) {
			s.refused("TOPIC_NOT_FOUND", "D", "topic_join", `{"topic_id":"nope","agent_name":"owl"}`)
			s.refused("TOPIC_NOT_FOUND", "D", "topic_join", `{"name":"nope","agent_name":"owl"}`)
		}},
		{"32 33 closed", func(t *testing.T, s *stage) {
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
			s.refused("TOPIC_NOT_FOUND", "D", "topic_join", `{"name":"pink","agent_name":"owl"}`)
			equal(t, "status", s.ok("D", "topic_join", `{"name":"pink","agent_name":"owl","allow_closed":true}`)["status"], "closed")
			s.enters("E", s.id, "bat")
		}},
		{"34 37 not joined", func(t *testing.T, s *stage) {
			other := s.made("blue")
			for _, tool := range strings.Fields("ask pending_list answer ask_cancel question_mark_answered") {
				r := s.refused("AGENT_NOT_JOINED", "A", tool, f(`{"topic_id":%q,"question_id":"q","question":"?"}`, other))
				mentions(t, r.text, "AGENT_NOT_JOINED: ", "topic_join")
			}
		}},
		{"35 ownership by name", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.enters("A after a restart", s.id, "red")
			s.ok("A after a restart", "ask_cancel", s.on(q))
		}},
		{"another name with questions open", func(t *testing.T, s *stage) {
			q := s.asks("A")
			rename := f(`{"topic_id":%q,"agent_name":"blue"}`, s.id)
			r := s.refused("INVALID_ARGUMENT", "A", "topic_join", rename)
			mentions(t, r.text, "agent_name", "red", "blue", q)
			equal(t, "ids", r.body["open_question_ids"], []any{q})
			s.enters("A", s.id, "red")
			s.ok("A", "question_mark_answered", s.on(q))
			s.ok("A", "topic_join", rename)
		}},
	})
}

func TestOthersQuestionsAreNoReasonToKeepAName(t *testing.T) {
	play(t, []scenario{{"two sessions of one name", func(t *testing.T, s *stage) {
		s.asks("A")
		s.enters("D", s.id, "red")
		s.enters("D", s.id, "red-2")
		q := s.asks("D")
		s.enters("E", s.id, "red-2")
		s.enters("E", s.id, "owl")
		mentions(t, s.refused("INVALID_ARGUMENT", "D", "topic_join", f(`{"topic_id":%q,"agent_name":"owl"}`, s.id)).text, q)
	}}})
}

func TestJoinWithoutAName(t *testing.T) {
	play(t, []scenario{{"the harness's name", func(t *testing.T, s *stage) {
		args := f(`{"topic_id":%q}`, s.id)
		mentions(t, s.refused("INVALID_ARGUMENT", "D", "topic_join", args).text, "agent_name is required")
		s.harness = "claude:5b56fb07"
		equal(t, "name", s.ok("D", "topic_join", args)["agent_name"], "claude:5b56fb07")
		equal(t, "name", s.ok("E", "topic_join", f(`{"topic_id":%q,"agent_name":"owl"}`, s.id))["agent_name"], "owl")
		s.refused("INVALID_ARGUMENT", "E", "topic_join", f(`{"topic_id":%q,"agent_name":""}`, s.id))
	}}})
}

// TestLongListsAreCut: what does not fit into a result is counted, and the text
// says so.
func TestLongListsAreCut(t *testing.T) {
	play(t, []scenario{{"topics", func(t *testing.T, s *stage) {
		metadata := f(`{"a":%q}`, strings.Repeat("m", 30_000))
		for range 5 {
			s.ok("A", "topic_create", f(`{"name":"big","mode":"new","metadata":%s}`, metadata))
		}
		r := s.call("A", "topic_list", `{}`)
		equal(t, "cut", []any{len(r.body["topics"].([]any)), r.body["total"], r.body["has_more"]}, []any{2, 6.0, true})
		mentions(t, r.text, "topics: 6", "4 older ones are not shown", metadata)
	}}})
}

func TestNameInUse(t *testing.T) {
	w := tools.NameInUse("t", "red")
	same(t, "context", w.Context, `{"topic_id":"t","agent_name":"red"}`)
	equal(t, "code", w.Code, "AGENT_NAME_IN_USE")
}
