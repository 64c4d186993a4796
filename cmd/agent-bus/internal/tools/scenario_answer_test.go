package tools_test

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/topic/topictest"
)

func TestAnswers(t *testing.T) {
	play(t, []scenario{
		{"66 one answer", func(t *testing.T, s *stage) {
			same(t, "saved", s.ok("B", "answer", s.replies(s.asks("A"))), f(`{"saved":1,"skipped":0,
				"next_action":{"tool":"pending_list","args":{"topic_id":%q,"limit":20,"wait_seconds":60}},
				"client_plan":{"max_attempts":3}}`, s.id))
		}},
		{"67 68 own questions", func(t *testing.T, s *stage) {
			p, q := s.asks("A"), s.asks("A")
			r := s.refused("FORBIDDEN_SELF_ANSWER", "A", "answer", s.replies(p, q))
			same(t, "ids", r.body["forbidden_question_ids"], f(`[%q,%q]`, p, q))
			mentions(t, r.text, "FORBIDDEN_SELF_ANSWER: ", p, q)
			equal(t, "code", r.body["error"].(map[string]any)["code"], "FORBIDDEN_SELF_ANSWER")
		}},
		{"69 85 twice", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.enters("B2", s.id, "cat")
			s.ok("B", "answer", s.replies(q))
			r := s.refused("FORBIDDEN_ALREADY_ANSWERED", "B2", "answer", s.replies(q))
			same(t, "ids", r.body["already_answered_question_ids"], f(`[%q]`, q))
			mentions(t, r.text, q)
			equal(t, "answers", s.poll(q)["answers_count"], 1.0)
		}},
		{"70 90 two peers", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.ok("B", "answer", s.replies(q))
			s.ok("C", "answer", s.replies(q))
			b := s.poll(q)
			equal(t, "count", b["answers_count"], 2.0)
			equal(t, "first", b["answers"].([]any)[0].(map[string]any)["answered_by"], "cat")
			equal(t, "second", b["answers"].([]any)[1].(map[string]any)["answered_by"], "gecko")
			same(t, "payload", b["answers"].([]any)[0].(map[string]any)["payload"],
				`{"answer_markdown":"because","repo_pointers":[],"suggested_followups":["and then?"]}`)
		}},
		{"71 all or nothing", func(t *testing.T, s *stage) {
			a, b := s.asks("A"), s.asks("B")
			r := s.refused("FORBIDDEN_SELF_ANSWER", "B", "answer", s.replies(a, b))
			same(t, "ids", r.body["forbidden_question_ids"], f(`[%q]`, b))
			equal(t, "answers", s.poll(a)["answers_count"], 0.0)
		}},
		{"72 self wins", func(t *testing.T, s *stage) {
			a, b := s.asks("A"), s.asks("B")
			s.ok("B", "answer", s.replies(a))
			r := s.refused("FORBIDDEN_SELF_ANSWER", "B", "answer", s.replies(a, b))
			if _, has := r.body["already_answered_question_ids"]; has {
				t.Errorf("both codes at once: %v", r.body)
			}
		}},
		{"73 74 75 76 skipped", func(t *testing.T, s *stage) {
			q, cancelled, marked, own := s.asks("A"), s.asks("A"), s.asks("A"), s.asks("B")
			other := &stage{world: s.world, id: s.made("blue")}
			other.enters("A", other.id, "red")
			elsewhere := other.asks("A")
			s.ok("B", "answer", s.replies(marked))
			s.ok("A", "ask_cancel", s.on(cancelled))
			s.ok("A", "question_mark_answered", s.on(marked))
			s.ok("B", "ask_cancel", s.on(own))
			b := s.ok("B", "answer", s.replies(q, "unknown", elsewhere, cancelled, marked, own))
			equal(t, "saved", b["saved"], 1.0)
			equal(t, "skipped", b["skipped"], 5.0)
			equal(t, "elsewhere", other.poll(elsewhere)["answers_count"], 0.0)
			equal(t, "nothing", s.ok("B", "answer", s.responses())["saved"], 0.0)
		}},
		{"77 twice in a batch", func(t *testing.T, s *stage) {
			q := s.asks("A")
			mentions(t, s.refused("INVALID_ARGUMENT", "B", "answer", s.replies(q, "x", q)).text, "responses[2].question_id", "responses[0]", q)
			s.refused("INVALID_ARGUMENT", "B", "answer", s.replies("x", "x"))
			equal(t, "answers", s.poll(q)["answers_count"], 0.0)
		}},
		{"78 batch size", func(t *testing.T, s *stage) {
			questions := make([]string, 51)
			for i := range questions {
				questions[i] = s.asks("A")
			}
			mentions(t, s.refused("INVALID_ARGUMENT", "B", "answer", s.replies(questions...)).text, "responses", "51", "50")
			equal(t, "saved", s.ok("B", "answer", s.replies(questions[:50]...))["saved"], 50.0)
			s.Limits = settingsWith(t, map[string]string{"AGENT_BUS_MAX_PUBLISH_BATCH": "1"}).Limits
			s.refused("INVALID_ARGUMENT", "C", "answer", s.replies(questions[:2]...))
		}},
		{"82 83 91 long lists", func(t *testing.T, s *stage) {
			list := func(n int) string { return topictest.JSON(strings.Fields(strings.Repeat("x ", n))) }
			p, q := s.asks("A"), s.asks("A")
			warned(t, s.ok("B", "answer", s.responses(item(p, list(5), `,"repo_pointers":`+list(10)))))
			b := s.ok("B", "answer", s.responses(item(q, list(7), `,"repo_pointers":`+list(15))))
			contexts := warned(t, b, "REPO_POINTERS_TRUNCATED", "FOLLOWUPS_TRUNCATED")
			same(t, "pointers", contexts[0], f(`{"question_id":%q,"original_count":15,"kept_count":10}`, q))
			same(t, "followups", contexts[1], f(`{"question_id":%q,"original_count":7,"kept_count":5}`, q))
			r := s.call("A", "ask_poll", s.on(q))
			payload := r.body["answers"].([]any)[0].(map[string]any)["payload"].(map[string]any)
			equal(t, "pointers", len(payload["repo_pointers"].([]any)), 10)
			equal(t, "followups", len(payload["suggested_followups"].([]any)), 5)
			if strings.Contains(r.text, "TRUNCATED") {
				t.Errorf("a warning in the asker's text: %s", r.text)
			}
		}},
		{"86 a batch is one change", func(t *testing.T, s *stage) {
			p, q := s.asks("A"), s.asks("A")
			commits := s.Commits
			s.ok("B", "answer", s.replies(p, q))
			equal(t, "commits", s.Commits-commits, 1)
		}},
		{"as agents write it", func(t *testing.T, s *stage) {
			q := s.asks("A")
			one := f(`{"question_id":%q,"answer_markdown":"y","repo_pointers":null,"suggested_followups":"[\"x\"]","mood":"good"}`, q)
			quoted := topictest.JSON("[" + topictest.JSON(one) + "]") // a list in a string, whose element is an object in a string
			b := s.ok("B", "answer", f(`{"topic_id":%q,"responses":%s}`, s.id, quoted))
			equal(t, "argument", warned(t, b, "UNKNOWN_ARGUMENT")[0]["argument"], "responses[].mood")
			equal(t, "saved", b["saved"], 1.0)
		}},
		{"88 92 rendered", func(t *testing.T, s *stage) {
			q := s.asks("A")
			s.ok("B", "answer", s.replies(q))
			r := s.call("A", "ask_poll", s.on(q))
			for _, text := range []string{r.text, r.body["rendered"].(string)} {
				mentions(t, text, "FOLLOW_UP_REQUIRED", f(`ask(topic_id=%q`, s.id), "1) and then?", "NO_FOLLOWUP_NEEDED")
			}
		}},
	})
}
