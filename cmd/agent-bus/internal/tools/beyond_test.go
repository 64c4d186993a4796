package tools_test

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/topic/topictest"
)

func pendingIDs(body map[string]any) []string {
	ids := []string{}
	for _, q := range body["pending"].([]any) {
		ids = append(ids, q.(map[string]any)["question_id"].(string))
	}
	return ids
}

// TestTo: a question for one agent is offered to nobody else, but others may
// answer it.
func TestTo(t *testing.T) {
	play(t, []scenario{{"to", func(t *testing.T, s *stage) {
		ask := func(to string) string {
			b := s.ok("A", "ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0,"to":%q}`, s.id, to))
			equal(t, "to", b["to_agent_id"], to)
			return b["question_id"].(string)
		}
		forCat, forHuman := ask("cat"), ask("human")
		s.enters("H", s.id, "human:ann")
		list := func(session string) []string {
			return pendingIDs(s.ok(session, "pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id)))
		}
		equal(t, "cat", list("B"), []string{forCat})
		equal(t, "another", list("C"), []string{})
		equal(t, "a person", list("H"), []string{forHuman})
		r := s.call("B", "pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id))
		equal(t, "row", r.body["pending"].([]any)[0].(map[string]any)["to_agent_id"], "cat")
		mentions(t, r.text, " to cat, 0 answers")
		equal(t, "saved", s.ok("C", "answer", s.replies(forCat))["saved"], 1.0)
		equal(t, "still owed", list("B"), []string{forCat})
		equal(t, "poll", s.poll(forCat)["to_agent_id"], "cat")
		equal(t, "mine", pendingIDs(s.ok("A", "pending_list", f(`{"topic_id":%q,"mine":true}`, s.id))), []string{forHuman, forCat})
	}}})
}

// TestMine: the asker finds its own open questions again.
func TestMine(t *testing.T) {
	play(t, []scenario{{"mine", func(t *testing.T, s *stage) {
		first, second := s.asks("A"), s.asks("A")
		s.asks("B")
		s.ok("B", "answer", s.replies(first))
		args := f(`{"topic_id":%q,"mine":"true"}`, s.id)
		r := s.call("A", "pending_list", args)
		equal(t, "mine", pendingIDs(r.body), []string{second, first})
		equal(t, "answers", r.body["pending"].([]any)[1].(map[string]any)["answers_count"], 1.0)
		mentions(t, r.text, "2 of your own", first, second, "1 answer so far", "0 answers so far", "ask_poll")
		s.ok("A", "question_mark_answered", s.on(first))
		s.ok("A", "ask_cancel", s.on(second))
		b := s.ok("A", "pending_list", args)
		equal(t, "none", []any{b["status"], b["total"]}, []any{"empty", 0.0})
	}}})
}

// TestClosedIsSaid: every result about a closed topic says that it is closed, and
// the request to follow up asks for no call that would be refused.
func TestClosedIsSaid(t *testing.T) {
	play(t, []scenario{{"closed", func(t *testing.T, s *stage) {
		q, gone, done := s.asks("A"), s.asks("A"), s.asks("A")
		s.ok("A", "topic_close", f(`{"topic_id":%q}`, s.id))
		equal(t, "settled", s.Topic(s.id).State.AskSettled(q, 1), true)
		for _, c := range [][3]string{
			{"B", "pending_list", f(`{"topic_id":%q}`, s.id)}, {"B", "answer", s.replies(q)}, {"A", "ask_poll", s.on(q)},
			{"A", "ask_cancel", s.on(gone)}, {"A", "question_mark_answered", s.on(done)}, {"A", "pending_list", f(`{"topic_id":%q,"mine":true}`, s.id)},
			{"C", "pending_list", f(`{"topic_id":%q,"wait_seconds":60}`, s.id)},
		} {
			r := s.call(c[0], c[1], c[2])
			equal(t, c[1], r.body["topic_status"], "closed")
			mentions(t, r.text, "The topic is closed")
		}
		r := s.call("A", "ask_poll", s.on(q))
		if strings.Contains(r.text, "ask(topic_id") || strings.Contains(r.body["rendered"].(string), "FOLLOW_UP_REQUIRED") {
			t.Errorf("asks for a call that is refused: %s", r.text)
		}
		s.ok("C", "answer", s.replies(q))
		b := s.ok("C", "pending_list", f(`{"topic_id":%q,"wait_seconds":60}`, s.id))
		equal(t, "nothing left", []any{b["status"], b["topic_status"]}, []any{"empty", "closed"})
		waited, err := s.waited(s.id, q)
		if err != nil {
			t.Fatal(err)
		}
		mentions(t, tools.TextOf(waited), "The topic is closed")
	}}})
}

// TestLargeAnswers: no answer stands twice in a result, and those that do not fit
// are read with further calls.
func TestLargeAnswers(t *testing.T) {
	play(t, []scenario{{"large", func(t *testing.T, s *stage) {
		q := s.asks("A")
		for _, session := range []string{"B", "C", "D"} {
			if session == "D" {
				s.enters("D", s.id, "owl")
			}
			s.ok(session, "answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,"answer_markdown":%q,"suggested_followups":["x"]}]}`,
				s.id, q, session+strings.Repeat("x", 40_000)))
		}
		var by []string
		args := s.on(q)
		for args != "" {
			r := s.call("A", "ask_poll", args)
			if size := len(topictest.JSON(r.body)); size > tools.MaxResultChars+5000 || len(r.text) > tools.MaxResultChars+5000 {
				t.Errorf("%d and %d characters", size, len(r.text))
			}
			equal(t, "count", r.body["answers_count"], 3.0)
			for _, a := range r.body["answers"].([]any) {
				by = append(by, a.(map[string]any)["answered_by"].(string))
			}
			args = ""
			if r.body["has_more"] == true {
				next := r.body["next_action"].(map[string]any)
				equal(t, "tool", next["tool"], "ask_poll")
				args = topictest.JSON(next["args"])
				mentions(t, r.text, "Later answers are not shown", f("skip=%v", next["args"].(map[string]any)["skip"]))
			}
		}
		equal(t, "by", by, []string{"cat", "gecko", "owl"})
		equal(t, "beyond the last", s.ok("A", "ask_poll", s.on(q, `"skip":9`))["answers"], []any{})
	}}, {"many large questions", func(t *testing.T, s *stage) {
		for range 20 {
			s.ok("A", "ask", f(`{"topic_id":%q,"question":%q,"wait_seconds":0}`, s.id, strings.Repeat("?", 8000)))
		}
		r := s.call("B", "pending_list", f(`{"topic_id":%q}`, s.id))
		equal(t, "cut", []any{len(r.body["pending"].([]any)), r.body["total"], r.body["has_more"]}, []any{9, 20.0, true})
		mentions(t, r.text, "The oldest 9 of 20 are shown")
		mentions(t, s.call("A", "pending_list", f(`{"topic_id":%q,"mine":true}`, s.id)).text, "The newest 9 of 20 are shown")
		r = s.call("B", "pending_list", f(`{"topic_id":%q,"limit":2}`, s.id))
		equal(t, "limit", []any{len(r.body["pending"].([]any)), r.body["total"], r.body["has_more"]}, []any{2, 20.0, true})
	}}})
}

// TestBothHalves: what the JSON says the text says too.
func TestBothHalves(t *testing.T) {
	play(t, []scenario{{"pointers", func(t *testing.T, s *stage) {
		q := s.asks("A")
		s.ok("B", "answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,"answer_markdown":"y","repo_pointers":["a.go","b.go"],"suggested_followups":["x"]}]}`, s.id, q))
		r := s.call("A", "ask_poll", s.on(q))
		id := r.body["answers"].([]any)[0].(map[string]any)["answer_id"].(string)
		mentions(t, r.text, "Where to look:\n- a.go\n- b.go\n", "answers_count=1", "question_status=pending", "### cat (answer "+id+")")
		if strings.Contains(r.body["rendered"].(string), "### cat") {
			t.Errorf("an answer stands twice: %s", r.body["rendered"])
		}
	}}, {"why skipped", func(t *testing.T, s *stage) {
		gone, done := s.asks("A"), s.asks("A")
		s.ok("A", "ask_cancel", s.on(gone))
		s.ok("A", "question_mark_answered", s.on(done))
		r := s.call("B", "answer", s.replies(gone, done, "nope"))
		same(t, "reasons", r.body["skipped_questions"], f(`[{"question_id":%q,"reason":"cancelled"},{"question_id":%q,"reason":"answered"},{"question_id":"nope","reason":"not_on_topic"}]`, gone, done))
		mentions(t, r.text, gone+": cancelled", done+": answered", "nope: not_on_topic")
	}}, {"topics", func(t *testing.T, s *stage) {
		s.asks("A")
		s.ok("A", "topic_create", `{"name":"blue","metadata":{"a":1}}`)
		s.ok("A", "topic_close", f(`{"topic_id":%q,"reason":"over"}`, s.id))
		r := s.call("A", "topic_list", `{"status":"all"}`)
		equal(t, "counts", r.body["topics"].([]any)[1].(map[string]any)["counts"].(map[string]any)["pending"], 1.0)
		mentions(t, r.text, "1 pending", `metadata {"a":1}`, "closed 2023-", "over")
	}}, {"listeners", func(t *testing.T, s *stage) {
		s.listeners = 2
		r := s.call("A", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
		equal(t, "listeners", r.body["listeners"], 2.0)
		mentions(t, r.text, "stays open", "2 agents could hear of it")
	}}})
}

// TestOpenFence: a code block that an answer leaves open is closed, so that what
// follows is no part of it.
func TestOpenFence(t *testing.T) {
	for markdown, closed := range map[string]string{
		"```go\nx":                 "```go\nx\n```\n",
		"~~~~\nx\n~~~":             "~~~~\nx\n~~~\n~~~~\n",
		"````\n```\n":              "````\n```\n````\n",
		"```\nx\n```":              "```\nx\n```\n\n",
		"```\nx\n```\n```sh\ny":    "```\nx\n```\n```sh\ny\n```\n",
		"a ``` b":                  "a ``` b\n\n",
		"``` a`":                   "``` a`\n\n",
		"    ```\nan indented one": "    ```\nan indented one\n\n",
		"```\n``` x":               "```\n``` x\n```\n",
	} {
		mentions(t, tools.RenderAnswers([]topic.Answer{answer("cat", markdown)}), closed)
	}
}
