package tools_test

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/topic/topictest"
)

func TestAskAndPoll(t *testing.T) {
	play(t, []scenario{
		{"36 queued", func(t *testing.T, s *stage) {
			b := s.ok("A", "ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":"0"}`, s.id))
			same(t, "queued", b, strings.NewReplacer("T", s.id, "Q", b["question_id"].(string)).Replace(
				`{"question_id":"Q","status":"queued","asked_by":"red",
				"next_action":{"tool":"ask_poll","args":{"topic_id":"T","question_id":"Q","wait_seconds":50}},
				"client_plan":{"max_attempts":3}}`))
		}},
		{"42 closed topic", func(t *testing.T, s *stage) {
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
			s.refused("TOPIC_CLOSED", "A", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
			equal(t, "offered", s.offered("B"), "")
		}},
		{"43 44 fresh, from anybody", func(t *testing.T, s *stage) {
			q := s.asks("A")
			same(t, "poll", s.poll(q), f(`{"question_id":%q,"status":"pending","question_status":"pending",
				"accepting_answers":true,"answers":[],"answers_count":0}`, q))
		}},
		{"45 46 97 no such question here", func(t *testing.T, s *stage) {
			q := s.asks("A")
			other := &stage{world: s.world, id: s.made("blue")}
			other.enters("A", other.id, "red")
			for _, tool := range strings.Fields("ask_poll ask_cancel question_mark_answered") {
				s.refused("QUESTION_NOT_FOUND", "A", tool, s.on("nope"))
				s.refused("TOPIC_MISMATCH", "A", tool, other.on(q))
			}
			s.refused("TOPIC_NOT_FOUND", "A", "ask_poll", `{"topic_id":"nope","question_id":"nope"}`)
		}},
		{"47 answered during the wait", func(t *testing.T, s *stage) {
			q := s.asks("A")
			equal(t, "settled", s.Topic(s.id).State.AskSettled(q, 1), false)
			s.ok("B", "answer", s.replies(q))
			equal(t, "settled", s.Topic(s.id).State.AskSettled(q, 1), true)
			r, err := s.waited(s.id, q)
			if err != nil {
				t.Fatal(err)
			}
			mentions(t, topictest.JSON(r), `"status":"answered"`, `"answers_count":1`, `"question_status":"pending"`, `"accepting_answers":true`, `"rendered":"---\nFOLLOW_UP_REQUIRED`)
		}},
		{"48 timeout", func(t *testing.T, s *stage) {
			b := s.ok("A", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
			same(t, "timeout", b, strings.NewReplacer("T", s.id, "Q", b["question_id"].(string)).Replace(
				`{"question_id":"Q","status":"timeout","question_status":"pending","listeners":0,
				"next_action":{"tool":"ask_poll","args":{"topic_id":"T","question_id":"Q","wait_seconds":50}},
				"client_plan":{"max_attempts":3}}`))
			equal(t, "status", s.poll(b["question_id"].(string))["status"], "pending")
		}},
		{"49 cancelled during the wait", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.enters("A2", s.id, "red")
			s.ok("A2", "ask_cancel", s.on(q, `"reason":"solved"`))
			equal(t, "settled", s.Topic(s.id).State.AskSettled(q, 1), true)
			r, err := s.waited(s.id, q)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "cancelled", r, f(`{"question_id":%q,"status":"cancelled","cancel_reason":"solved"}`, q))
		}},
		{"marked during the wait", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.ok("A", "question_mark_answered", s.on(q))
			equal(t, "settled", s.Topic(s.id).State.AskSettled(q, 1), true)
		}},
		{"53 any text comes through", func(t *testing.T, s *stage) {
			text := "# a\n\t<b>&'`\"\\ \u2028 \U0001F469\u200d\U0001F52C \x01\r\n```go\n```"
			s.ok("A", "ask", f(`{"topic_id":%q,"question":%s,"wait_seconds":0}`, s.id, topictest.JSON(text)))
			rows := s.ok("B", "pending_list", f(`{"topic_id":%q}`, s.id))["pending"].([]any)
			equal(t, "text", rows[0].(map[string]any)["question_text"], text)
		}},
		{"too many open", func(t *testing.T, s *stage) {
			s.Limits = settingsWith(t, map[string]string{"AGENT_BUS_MAX_OPEN_QUESTIONS": "2"}).Limits
			q := s.asks("A")
			s.asks("B")
			ask := f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, s.id)
			s.refused("TOPIC_FULL", "A", "ask", ask)
			s.ok("A", "ask_cancel", s.on(q))
			s.ok("A", "ask", ask)
		}},
	})
}

func TestPendingList(t *testing.T) {
	play(t, []scenario{
		{"54 62 own questions", func(t *testing.T, s *stage) {
			s.asks("A")
			same(t, "empty", s.ok("A", "pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id)), `{"pending":[],"status":"empty","total":0,"topic_status":"open"}`)
			same(t, "timeout", s.ok("A", "pending_list", f(`{"topic_id":%q,"wait_seconds":1}`, s.id)), `{"pending":[],"status":"timeout","total":0,"topic_status":"open"}`)
		}},
		{"55 63 another's", func(t *testing.T, s *stage) {
			equal(t, "settled", s.Topic(s.id).State.OfferSettled("cat"), false)
			q := s.asks("A")
			equal(t, "settled", s.Topic(s.id).State.OfferSettled("cat"), true)
			same(t, "ready", s.ok("B", "pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id)),
				f(`{"pending":[{"question_id":%q,"question_text":"why?","asked_at":"2023-11-14T22:13:20.001Z","asked_by":"red","answers_count":0}],"status":"ready","total":1,"topic_status":"open"}`, q))
		}},
		{"56 57 oldest first, limited", func(t *testing.T, s *stage) {
			var all []string
			for range 26 {
				all = append(all, s.asks("A"))
			}
			equal(t, "default", s.offered("B"), strings.Join(all[:20], " "))
			b := s.ok("B", "pending_list", f(`{"topic_id":%q,"limit":"5"}`, s.id))
			equal(t, "limit 5", len(b["pending"].([]any)), 5)
		}},
		{"59 answered by me", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.ok("B", "answer", s.replies(q))
			equal(t, "cat", s.offered("B"), "")
			equal(t, "gecko", s.offered("C"), q)
		}},
		{"60 cancelled", func(t *testing.T, s *stage) {
			s.ok("A", "ask_cancel", s.on(s.asks("A")))
			equal(t, "offered", s.offered("B")+s.offered("C"), "")
		}},
		{"61 marked", func(t *testing.T, s *stage) {
			s.ok("A", "question_mark_answered", s.on(s.asks("A")))
			equal(t, "offered", s.offered("B")+s.offered("C"), "")
		}},
		{"64 another topic's", func(t *testing.T, s *stage) {
			other := &stage{world: s.world, id: s.made("blue")}
			other.enters("A", other.id, "red")
			other.asks("A")
			equal(t, "offered", s.offered("B"), "")
		}},
		{"65 the same name twice", func(t *testing.T, s *stage) {
			s.enters("B2", s.id, "cat")
			s.asks("B")
			equal(t, "offered", s.offered("B2"), "")
		}},
		{"closed topic has nothing to wait for", func(t *testing.T, s *stage) {
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
			equal(t, "settled", s.Topic(s.id).State.OfferSettled("cat"), true)
			equal(t, "status", s.ok("B", "pending_list", f(`{"topic_id":%q}`, s.id))["status"], "empty")
		}},
	})
}

func TestCancelAndMark(t *testing.T) {
	play(t, []scenario{
		{"93 not the asker", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.refused("FORBIDDEN_NOT_ASKER", "B", "ask_cancel", s.on(q))
			s.refused("FORBIDDEN_NOT_ASKER", "B", "question_mark_answered", s.on(q))
		}},
		{"94 95 cancel twice", func(t *testing.T, s *stage) {
			q := s.asks("A")
			want := f(`{"topic_id":%q,"question_id":%q,"status":"cancelled","cancel_reason":"why"}`, s.id, q)
			same(t, "first", s.ok("A", "ask_cancel", s.on(q, `"reason":"why"`)), want)
			same(t, "poll", s.poll(q), f(`{"question_id":%q,"status":"cancelled","question_status":"cancelled",
				"accepting_answers":false,"answers":[],"answers_count":0,"cancel_reason":"why"}`, q))
			again := s.ok("A", "ask_cancel", s.on(q, `"reason":"other"`))
			equal(t, "context", warned(t, again, "ALREADY_CANCELLED")[0]["question_id"], q)
			delete(again, "warnings")
			same(t, "again", again, want)
		}},
		{"96 without reason", func(t *testing.T, s *stage) {
			q := s.asks("A")
			for _, b := range []map[string]any{s.ok("A", "ask_cancel", s.on(q, `"reason":""`)), s.poll(q)} {
				if _, has := b["cancel_reason"]; has {
					t.Errorf("cancel_reason in %v", b)
				}
			}
		}},
		{"98 mark twice", func(t *testing.T, s *stage) {
			q := s.asks("A")
			want := f(`{"topic_id":%q,"question_id":%q,"status":"answered"}`, s.id, q)
			same(t, "first", s.ok("A", "question_mark_answered", s.on(q)), want)
			again := s.ok("A", "question_mark_answered", s.on(q))
			equal(t, "context", warned(t, again, "ALREADY_ANSWERED")[0]["question_id"], q)
		}},
		{"99 one after the other", func(t *testing.T, s *stage) {
			cancelled, marked := s.asks("A"), s.asks("A")
			s.ok("A", "ask_cancel", s.on(cancelled))
			s.ok("A", "question_mark_answered", s.on(marked))
			s.refused("INVALID_ARGUMENT", "A", "question_mark_answered", s.on(cancelled))
			s.refused("INVALID_ARGUMENT", "A", "ask_cancel", s.on(marked))
		}},
		{"100 mark without answers", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.ok("A", "question_mark_answered", s.on(q))
			same(t, "poll", s.poll(q), f(`{"question_id":%q,"status":"answered","question_status":"answered",
				"accepting_answers":false,"answers":[],"answers_count":0}`, q))
		}},
		{"101 cancel with an answer", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.ok("B", "answer", s.replies(q))
			s.ok("A", "ask_cancel", s.on(q))
			b := s.poll(q)
			equal(t, "status", b["status"], "cancelled")
			equal(t, "answers", b["answers_count"], 1.0)
			equal(t, "by", b["answers"].([]any)[0].(map[string]any)["answered_by"], "cat")
		}},
		{"87 102 on a closed topic", func(t *testing.T, s *stage) {
			q, marked, cancelled := s.asks("A"), s.asks("A"), s.asks("A")
			s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
			equal(t, "offered", s.offered("B"), strings.Join([]string{q, marked, cancelled}, " "))
			equal(t, "saved", s.ok("B", "answer", s.replies(q))["saved"], 1.0)
			s.ok("A", "question_mark_answered", s.on(marked))
			s.ok("A", "ask_cancel", s.on(cancelled))
			equal(t, "status", s.poll(q)["status"], "answered")
		}},
		{"103 104 106 whole flow", func(t *testing.T, s *stage) {
			a, b := s.asks("A"), s.asks("B")
			equal(t, "offered to A", s.offered("A"), b)
			equal(t, "offered to B", s.offered("B"), a)
			s.ok("B", "answer", s.replies(a))
			s.ok("C", "answer", s.replies(a, b))
			equal(t, "answers", s.poll(a)["answers_count"], 2.0)
			s.ok("A", "question_mark_answered", s.on(a))
			s.ok("B", "ask_cancel", s.on(b))
			s.asks("C")
			same(t, "counts", s.Topic(s.id).State.Counts(), `{"total":3,"pending":1,"answered":1,"cancelled":1}`)
		}},
	})
}
