package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAsk(t *testing.T)     { play(t, askScenarios()) }
func TestPending(t *testing.T) { play(t, pendingScenarios()) }

const waitLong = `"wait_seconds":50`

func askScenarios() []scenario {
	return []scenario{
		{"36 queued", func(s *stage) {
			red := s.as("red")
			b := red.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":"0"}`, s.id))
			same(s, "queued", b, strings.NewReplacer("T", s.id, "Q", b["question_id"].(string)).Replace(
				`{"question_id":"Q","status":"queued","asked_by":"red",
				"next_action":{"tool":"ask_poll","args":{"topic_id":"T","question_id":"Q","wait_seconds":50}},
				"client_plan":{"max_attempts":3}}`))
		}},
		{"37 44 who has not joined", func(s *stage) {
			q := s.as("red").asks()
			p := s.peer()
			p.refused("AGENT_NOT_JOINED", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
			p.refused("AGENT_NOT_JOINED", "pending_list", f(`{"topic_id":%q}`, s.id))
			p.refused("AGENT_NOT_JOINED", "answer", s.replies(q))
			p.refused("AGENT_NOT_JOINED", "ask_cancel", s.on(q))
			p.refused("AGENT_NOT_JOINED", "question_mark_answered", s.on(q))
			equal(s, "poll", p.poll(q)["status"], any("pending"))
		}},
		{"38 41 wrong arguments", func(s *stage) {
			red := s.as("red")
			for _, rest := range []string{`"question":""`, `"question":null`, `"question":7`, `"question":"why?","wait_seconds":-1`, `"question":"why?","wait_seconds":"soon"`} {
				red.refused("INVALID_ARGUMENT", "ask", f(`{"topic_id":%q,%s}`, s.id, rest))
			}
			red.refused("INVALID_ARGUMENT", "ask", `{"question":"why?"}`)
			r := red.refused("INVALID_ARGUMENT", "ask", f(`{"topic_id":%q,"text":"why?"}`, s.id))
			mentions(s, r.text, "question", "text was ignored")
			warnedOf(s, r.body, "UNKNOWN_ARGUMENT")
			equal(s, "asked", len(s.as("cat").offered()), 0)
		}},
		{"39 40 length", func(s *stage) {
			s.env["AGENT_BUS_MAX_QUESTION_CHARS"] = "3"
			red := s.as("red")
			ask := func(text string) string { return f(`{"topic_id":%q,"wait_seconds":0,"question":%q}`, s.id, text) }
			mentions(s, red.refused("INVALID_ARGUMENT", "ask", ask("hello")).text, "exceeds the maximum")
			red.ok("ask", ask("höh"))
			delete(s.env, "AGENT_BUS_MAX_QUESTION_CHARS")
			cat := s.as("cat")
			cat.ok("ask", ask(strings.Repeat("x", 8000)))
			cat.refused("INVALID_ARGUMENT", "ask", ask(strings.Repeat("x", 8001)))
		}},
		{"42 closed topic", func(s *stage) {
			red := s.as("red")
			red.ok("topic_close", f(`{"topic_id":%q}`, s.id))
			red.refused("TOPIC_CLOSED", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
			equal(s, "offered", len(s.as("cat").offered()), 0)
		}},
		{"43 a fresh question", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			same(s, "poll", red.poll(q), f(`{"question_id":%q,"status":"pending","question_status":"pending",
				"accepting_answers":true,"answers":[],"answers_count":0}`, q))
		}},
		{"45 46 97 no such question here", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			other := red.made("blue")
			red.join(other, "red")
			for _, tool := range strings.Fields("ask_poll ask_cancel question_mark_answered") {
				red.refused("QUESTION_NOT_FOUND", tool, s.on("nope"))
				red.refused("TOPIC_MISMATCH", tool, f(`{"topic_id":%q,"question_id":%q}`, other, q))
			}
			red.refused("TOPIC_NOT_FOUND", "ask_poll", `{"topic_id":"nope","question_id":"nope"}`)
			red.refused("INVALID_ARGUMENT", "ask_poll", `{"topic_id":"nope","question_id":"nope","wait_seconds":"soon"}`)
		}},
		{"47 92 answered during the wait", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			done := red.start(context.Background(), "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
			q := cat.waitForQuestion()
			var late time.Duration
			answered := time.Now()
			cat.answers(q)
			r := <-done
			late = time.Since(answered)
			equal(s, "status", []any{r.body["status"], r.body["question_status"], r.body["accepting_answers"], r.body["answers_count"]},
				[]any{"answered", "pending", true, 1.0})
			mentions(s, r.body["rendered"].(string), "FOLLOW_UP_REQUIRED")
			mentions(s, r.text, "### cat", "because")
			mentions(s, r.text, r.body["rendered"].(string))
			if s.virtual && late > time.Second {
				s.Errorf("the answer was noticed after %v", late)
			}
		}},
		{"48 62 nobody comes", func(s *stage) {
			red := s.as("red")
			var b map[string]any
			waited := took(func() { b = red.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":1}`, s.id)) })
			exactly(s, waited, time.Second)
			same(s, "timeout", b, strings.NewReplacer("T", s.id, "Q", b["question_id"].(string)).Replace(
				`{"question_id":"Q","status":"timeout","question_status":"pending","listeners":0,
				"next_action":{"tool":"ask_poll","args":{"topic_id":"T","question_id":"Q","wait_seconds":50}},
				"client_plan":{"max_attempts":3}}`))
			equal(s, "poll", red.poll(b["question_id"].(string))["status"], any("pending"))
			waited = took(func() { b = red.ok("pending_list", f(`{"topic_id":%q,"wait_seconds":1}`, s.id)) })
			exactly(s, waited, time.Second)
			same(s, "pending", b, `{"pending":[],"status":"timeout","total":0,"topic_status":"open"}`)
		}},
		{"no wait is longer than fifty seconds", func(s *stage) {
			if !s.virtual {
				return // which would take just that
			}
			red := s.as("red")
			for _, rest := range []string{``, `,"wait_seconds":60`, `,"wait_seconds":3600`} {
				exactly(s, took(func() { red.ok("ask", f(`{"topic_id":%q,"question":"why?"%s}`, s.id, rest)) }), 50*time.Second)
				exactly(s, took(func() { red.ok("pending_list", f(`{"topic_id":%q%s}`, s.id, rest)) }), 50*time.Second)
			}
		}},
		{"49 cancelled or marked during the wait", func(s *stage) {
			red, twin, cat := s.as("red"), s.as("red"), s.as("cat")
			ask := func() <-chan reply {
				return red.start(context.Background(), "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
			}
			done := ask()
			q := cat.waitForQuestion()
			twin.ok("ask_cancel", s.on(q, `"reason":"solved"`))
			same(s, "cancelled", any((<-done).body), f(`{"question_id":%q,"status":"cancelled","cancel_reason":"solved"}`, q))
			done = ask()
			twin.ok("question_mark_answered", s.on(cat.waitForQuestion()))
			r := <-done
			equal(s, "marked", []any{r.body["status"], r.body["answers_count"]}, []any{"answered", 0.0})
		}},
		{"50 other calls while one waits", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			done := red.start(context.Background(), "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
			q := cat.waitForQuestion()
			red.ok("ping", `{}`)
			red.ok("topic_list", `{}`)
			second := red.start(context.Background(), "pending_list", f(`{"topic_id":%q,%s}`, s.id, waitLong))
			cat.asks()
			equal(s, "second wait", (<-second).body["status"], any("ready"))
			cat.answers(q)
			equal(s, "first wait", (<-done).body["status"], any("answered"))
		}},
		{"51 the client gives up", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			ctx, giveUp := context.WithCancel(context.Background())
			done := red.start(ctx, "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
			q := cat.waitForQuestion()
			giveUp()
			if r := <-done; r.err == nil {
				s.Errorf("a result: %v", r.body)
			}
			equal(s, "poll", red.poll(q)["status"], any("pending"))
		}},
		{"52 the client dies during a wait", func(s *stage) {
			if s.virtual {
				return // nobody can die in memory
			}
			cat, r := s.as("cat"), s.raw()
			r.hello()
			r.result("topic_join", f(`{"topic_id":%q,"agent_name":"red"}`, s.id))
			r.call("1", "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
			q := cat.waitForQuestion()
			r.stdin.Close()
			status, _ := r.ends()
			equal(s, "exit status", status, 0)
			equal(s, "poll", cat.poll(q)["status"], any("pending"))
			cat.answers(q) // the lock is free
			warnedOf(s, s.peer().join(s.id, "red"))
		}},
		{"53 any text", func(s *stage) {
			text := "# head\n\n```go\nx := \"<a & b>\"\n```\r\n\té🦊\u202e\x01\x7f'$(id)"
			red, cat := s.as("red"), s.as("cat")
			red.ok("ask", f(`{"topic_id":%q,"wait_seconds":0,"question":%s}`, s.id, quoted(text)))
			got := cat.ok("pending_list", f(`{"topic_id":%q}`, s.id))["pending"].([]any)[0].(map[string]any)["question_text"]
			equal(s, "text", got, any(text))
		}},
		{"106 107 the admin command", adminScenario},
	}
}

// exactly checks how long a wait took: to the dot in virtual time, and in real
// time that it was not cut short.
func exactly(s *stage, got, want time.Duration) {
	s.Helper()
	if got < want || s.virtual && got > want+100*time.Millisecond {
		s.Errorf("it took %v, not %v", got, want)
	}
}

// waitForQuestion waits until there is one to answer and returns its id.
func (p *peer) waitForQuestion() string {
	p.Helper()
	questions := p.waitForQuestions()
	if len(questions) == 0 {
		p.Fatal("no question came")
	}
	return questions[0]
}

// waitForQuestions waits until there are questions for the peer: for minutes, lest a machine that stands
// still for one wait fails a test.
func (p *peer) waitForQuestions() (ids []string) {
	for start := time.Now(); len(ids) == 0 && time.Since(start) < 5*time.Minute; {
		r := p.call("pending_list", f(`{"topic_id":%q,%s}`, p.id, waitLong))
		questions, ok := r.body["pending"].([]any)
		if !ok {
			p.Errorf("pending_list: %v %s", r.err, r.text)
			return nil
		}
		for _, q := range questions {
			ids = append(ids, q.(map[string]any)["question_id"].(string))
		}
	}
	return ids
}

func adminScenario(s *stage) {
	red, cat := s.as("red"), s.as("cat")
	for range 3 {
		red.asks()
	}
	ids := cat.offered()
	red.ok("ask_cancel", s.on(ids[0]))
	red.ok("question_mark_answered", s.on(ids[1]))
	status, out, _ := s.cli("", "cli", "topics", "list", "--status", "all", "--json")
	equal(s, "status", status, 0)
	mentions(s, out, `"counts":{"total":3,"pending":1,"answered":1,"cancelled":1}`)
	if status, out, _ := s.cli("n\n", "cli", "db", "wipe"); status != 1 || out != "" {
		s.Errorf("declined: %d %q", status, out)
	}
	equal(s, "still there", len(cat.offered()), 1)
	rooms := filepath.Join(s.dir, "rooms")
	if err := os.Mkdir(rooms, 0o700); err != nil {
		s.Fatal(err)
	}
	for _, want := range []string{"Deleted ", "Nothing to delete"} {
		status, out, _ := s.cli("", "cli", "db", "wipe", "--yes")
		equal(s, "status", status, 0)
		mentions(s, out, want)
	}
	same(s, "topics", red.ok("topic_list", `{"status":"all"}`)["topics"], `[]`)
	if _, err := os.Stat(rooms); err != nil {
		s.Errorf("the rooms: %v", err)
	}
}

func pendingScenarios() []scenario {
	return []scenario{
		{"54 55 one's own and others'", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			q := red.asks()
			same(s, "own", any(red.ok("pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id))), `{"pending":[],"status":"empty","total":0,"topic_status":"open"}`)
			b := cat.ok("pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id))
			row := b["pending"].([]any)[0].(map[string]any)
			if row["asked_at"] == nil {
				s.Errorf("no asked_at: %v", row)
			}
			delete(row, "asked_at")
			same(s, "others", any(b), f(`{"pending":[{"question_id":%q,"question_text":"why?","asked_by":"red","answers_count":0}],"status":"ready","total":1,"topic_status":"open"}`, q))
		}},
		{"56 57 58 order and limit", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			var asked []string
			for range 26 {
				asked = append(asked, red.asks())
			}
			equal(s, "default", cat.offered(), asked[:20])
			equal(s, "five", cat.offered(`"limit":"5"`), asked[:5])
			equal(s, "all", cat.offered(`"limit":1000`), asked)
			for _, limit := range []string{"0", "-1", `"many"`, "1.5"} {
				mentions(s, cat.refused("INVALID_ARGUMENT", "pending_list", f(`{"topic_id":%q,"limit":%s}`, s.id, limit)).text, "limit")
			}
		}},
		{"59 60 61 what is offered no more", func(s *stage) {
			red, cat, gecko := s.as("red"), s.as("cat"), s.as("gecko")
			first, second, third := red.asks(), red.asks(), red.asks()
			cat.answers(first)
			equal(s, "cat", cat.offered(), []string{second, third})
			equal(s, "gecko", gecko.offered(), []string{first, second, third})
			red.ok("ask_cancel", s.on(second))
			red.ok("question_mark_answered", s.on(third))
			equal(s, "cat", cat.offered(), []string{})
			equal(s, "gecko", gecko.offered(), []string{first})
		}},
		{"63 a question comes", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			done := cat.start(context.Background(), "pending_list", f(`{"topic_id":%q,%s}`, s.id, waitLong))
			q := red.asks()
			r := <-done
			equal(s, "status", r.body["status"], any("ready"))
			equal(s, "question", r.body["pending"].([]any)[0].(map[string]any)["question_id"], any(q))
		}},
		{"64 65 other topics, and twins", func(s *stage) {
			red, twin, cat := s.as("red"), s.as("red"), s.as("cat")
			other := red.made("blue")
			red.join(other, "red")
			red.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, other))
			equal(s, "cat", cat.offered(), []string{})
			q := red.asks()
			equal(s, "twin", twin.offered(), []string{})
			twin.refused("FORBIDDEN_SELF_ANSWER", "answer", s.replies(q))
		}},
		{"the topic is closed during a wait", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			done := cat.start(context.Background(), "pending_list", f(`{"topic_id":%q,%s}`, s.id, waitLong))
			red.ok("topic_close", f(`{"topic_id":%q}`, s.id))
			same(s, "pending", any((<-done).body), `{"pending":[],"status":"empty","total":0,"topic_status":"closed"}`)
		}},
	}
}
