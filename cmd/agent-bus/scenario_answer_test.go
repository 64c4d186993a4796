package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestAnswer(t *testing.T) { play(t, answerScenarios()) }
func TestRender(t *testing.T) { play(t, renderScenarios()) }

func answerScenarios() []scenario {
	return []scenario{
		{"66 one", func(s *stage) {
			q := s.as("red").asks()
			same(s, "saved", any(s.as("cat").answers(q)), f(`{"saved":1,"skipped":0,
				"next_action":{"tool":"pending_list","args":{"topic_id":%q,"limit":20,"wait_seconds":60}},"client_plan":{"max_attempts":3}}`, s.id))
		}},
		{"67 68 one's own", func(s *stage) {
			red := s.as("red")
			first, second := red.asks(), red.asks()
			for _, own := range [][]string{{first}, {first, second}} {
				r := red.refused("FORBIDDEN_SELF_ANSWER", "answer", s.replies(own...))
				equal(s, "ids", r.body["forbidden_question_ids"], anys(own))
				mentions(s, r.text, own...)
			}
		}},
		{"69 twice", func(s *stage) {
			q, cat := s.as("red").asks(), s.as("cat")
			cat.answers(q)
			r := cat.refused("FORBIDDEN_ALREADY_ANSWERED", "answer", s.replies(q))
			equal(s, "ids", r.body["already_answered_question_ids"], anys([]string{q}))
			mentions(s, r.text, q)
		}},
		{"70 two peers", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			s.as("cat").answers(q)
			s.as("gecko").answers(q)
			b := red.poll(q)
			equal(s, "count", b["answers_count"], any(2.0))
			var by []any
			for _, a := range b["answers"].([]any) {
				by = append(by, a.(map[string]any)["answered_by"])
			}
			equal(s, "by", by, []any{"cat", "gecko"})
		}},
		{"71 72 all or nothing", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			a, b, own := red.asks(), red.asks(), cat.asks()
			r := cat.refused("FORBIDDEN_SELF_ANSWER", "answer", s.replies(a, own))
			equal(s, "ids", r.body["forbidden_question_ids"], anys([]string{own}))
			equal(s, "answers", red.poll(a)["answers_count"], any(0.0))
			cat.answers(b)
			cat.refused("FORBIDDEN_SELF_ANSWER", "answer", s.replies(a, b, own))
			equal(s, "answers", red.poll(a)["answers_count"], any(0.0))
		}},
		{"73 74 75 76 skipped", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			other := red.made("blue")
			red.join(other, "red")
			elsewhere := red.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, other))["question_id"].(string)
			q, gone, own := red.asks(), red.asks(), cat.asks()
			red.ok("ask_cancel", s.on(gone))
			cat.ok("question_mark_answered", s.on(own))
			b := cat.answers(q, "nope", elsewhere, gone, own)
			equal(s, "tally", []any{b["saved"], b["skipped"]}, []any{1.0, 4.0})
			b = cat.ok("answer", f(`{"topic_id":%q,"responses":[]}`, s.id))
			equal(s, "none", []any{b["saved"], b["skipped"]}, []any{0.0, 0.0})
		}},
		{"77 84 wrong items", func(s *stage) {
			q, cat := s.as("red").asks(), s.as("cat")
			for _, items := range []string{item(q, "", "") + "," + item(q, "", ""), `7`, `"text"`, `[]`, item("", "", "")} {
				mentions(s, cat.refused("INVALID_ARGUMENT", "answer", s.responses(items)).text, "responses[")
			}
			mentions(s, cat.refused("INVALID_ARGUMENT", "answer", f(`{"topic_id":%q}`, s.id)).text, "responses")
			cat.refused("INVALID_ARGUMENT", "answer", f(`{"topic_id":%q,"responses":{}}`, s.id))
			equal(s, "answers", cat.poll(q)["answers_count"], any(0.0))
			// What agents send and mean well.
			b := cat.ok("answer", f(`{"topic_id":%q,"responses":%s}`, s.id, quoted("["+item(q, `"[\"next?\"]"`, `,"note":1`)+"]")))
			warnedOf(s, b, "UNKNOWN_ARGUMENT")
		}},
		{"78 79 limits", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			many := func(n int) string {
				ids := make([]string, n)
				for i := range ids {
					ids[i] = fmt.Sprint("nope", i)
				}
				return s.replies(ids...)
			}
			cat.refused("INVALID_ARGUMENT", "answer", many(51))
			equal(s, "skipped", cat.ok("answer", many(50))["skipped"], any(50.0))
			text := func(n int) string {
				return s.responses(strings.Replace(item(red.asks(), "", ""), "because", strings.Repeat("é", n), 1))
			}
			cat.refused("INVALID_ARGUMENT", "answer", text(65537))
			cat.ok("answer", text(65536))
			cat.refused("INVALID_ARGUMENT", "answer", text(0))
			s.env["AGENT_BUS_MAX_PUBLISH_BATCH"] = "2"
			few := s.as("few")
			few.refused("INVALID_ARGUMENT", "answer", many(3))
			few.ok("answer", many(2))
		}},
		{"80 81 lists", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			q := red.asks()
			for _, followups := range []string{`[]`, `null`, `[1]`, `7`} {
				mentions(s, cat.refused("INVALID_ARGUMENT", "answer", s.responses(item(q, followups, ""))).text, "responses[0].suggested_followups")
			}
			mentions(s, cat.refused("INVALID_ARGUMENT", "answer", s.responses(item(q, "", `,"repo_pointers":"main.go"`))).text, "responses[0].repo_pointers")
			for _, more := range []string{"", `,"repo_pointers":null`} {
				q := red.asks()
				cat.ok("answer", s.responses(item(q, "", more)))
				same(s, "pointers", payloadOf(red.poll(q), 0)["repo_pointers"], `[]`)
			}
		}},
		{"82 83 lists that are too long", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			q, exact := red.asks(), red.asks()
			numbers := func(n int) string {
				list := make([]string, n)
				for i := range list {
					list[i] = fmt.Sprint(i)
				}
				return quoted(list)
			}
			b := cat.ok("answer", s.responses(item(q, numbers(7), `,"repo_pointers":`+numbers(15))))
			contexts := warnedOf(s, b, "REPO_POINTERS_TRUNCATED", "FOLLOWUPS_TRUNCATED")
			same(s, "pointers", any(contexts[0]), f(`{"question_id":%q,"original_count":15,"kept_count":10}`, q))
			same(s, "follow-ups", any(contexts[1]), f(`{"question_id":%q,"original_count":7,"kept_count":5}`, q))
			same(s, "kept", payloadOf(red.poll(q), 0)["repo_pointers"], numbers(10))
			same(s, "kept", payloadOf(red.poll(q), 0)["suggested_followups"], numbers(5))
			warnedOf(s, cat.ok("answer", s.responses(item(exact, numbers(5), `,"repo_pointers":`+numbers(10)))))
		}},
		{"85 eight at once under four names", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			codes := make([]string, 8)
			var answers []func()
			for i := range codes {
				p := s.as(f("cat%d", i%4))
				answers = append(answers, func() { codes[i] = string(p.call("answer", s.replies(q)).code) })
			}
			all(answers...)
			counts := map[string]int{}
			for _, c := range codes {
				counts[c]++
			}
			equal(s, "codes", counts, map[string]int{"": 4, "FORBIDDEN_ALREADY_ANSWERED": 4})
			equal(s, "answers", red.poll(q)["answers_count"], any(4.0))
		}},
		{"86 killed in the middle of a batch", killScenario},
		{"87 closed topic", func(s *stage) {
			q, cat := s.as("red").asks(), s.as("cat")
			cat.ok("topic_close", f(`{"topic_id":%q}`, s.id))
			equal(s, "saved", cat.answers(q)["saved"], any(1.0))
		}},
	}
}

func anys(list []string) []any {
	var as []any
	for _, text := range list {
		as = append(as, text)
	}
	return as
}

func payloadOf(poll map[string]any, i int) map[string]any {
	return poll["answers"].([]any)[i].(map[string]any)["payload"].(map[string]any)
}

// killScenario kills a server that is storing a batch, whenever it is at it.
func killScenario(s *stage) {
	if s.virtual {
		return // nothing in memory can be killed
	}
	red := s.as("red")
	var questions []string
	for range 50 {
		questions = append(questions, red.asks())
	}
	batch := strings.ReplaceAll(s.replies(questions...), "because", strings.Repeat("because ", 1000))
	for round := range 6 {
		name := f("cat%d", round)
		cat := s.as(name)
		started := make(chan struct{})
		go func() {
			close(started)
			cat.client.CallTool(s.context(), callParams("answer", batch))
		}()
		<-started
		s.grows(round) // let it get further each time
		if err := cat.server.Command.Process.Kill(); err != nil {
			s.Fatal(err)
		}
		_ = cat.client.Close()
		saved := 0
		for _, q := range []string{questions[0], questions[25], questions[49]} {
			saved += strings.Count(quoted(red.poll(q)["answers"]), f(`"answered_by":%q`, name))
		}
		if saved != 0 && saved != 3 {
			s.Errorf("round %d: %d of 3 answers", round, saved)
		}
	}
}

func renderScenarios() []scenario {
	return []scenario{
		{"88 89 90 the follow-up block", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			s.as("cat").ok("answer", s.responses(item(q, `["a?","b?","c?"]`, "")))
			s.as("gecko").ok("answer", s.responses(strings.Replace(item(q, `["b?","d?","e?","f?"]`, ""), "because", "therefore", 1)))
			r := red.call("ask_poll", s.on(q))
			mentions(s, r.text, ")\n\nbecause", ")\n\ntherefore", "### cat (answer ", "### gecko (answer ", "FOLLOW_UP_REQUIRED", f(`ask(topic_id=%q`, s.id),
				"1) a?\n2) b?\n3) c?\n4) d?\n5) e?\n", "NO_FOLLOWUP_NEEDED")
			mentions(s, r.text, r.body["rendered"].(string))
			if strings.Contains(r.text, "\n6)") {
				s.Errorf("more than five: %s", r.text)
			}
		}},
		{"91 warnings are not the asker's business", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			warnedOf(s, s.as("cat").ok("answer", s.responses(item(q, `["1","2","3","4","5","6"]`, ""))), "FOLLOWUPS_TRUNCATED")
			r := red.call("ask_poll", s.on(q))
			warnedOf(s, r.body)
			if strings.Contains(r.text, "TRUNCATED") {
				s.Error(r.text)
			}
		}},
	}
}
