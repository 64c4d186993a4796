package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBeyond(t *testing.T) { play(t, beyondScenarios()) }

// beyondScenarios are about what the tools do beyond their specification.
func beyondScenarios() []scenario {
	return []scenario{
		{"another session's questions are no reason to keep a name", func(s *stage) {
			q := s.as("red").asks()
			other := s.peer()
			warnedOf(s, other.join(s.id, "red"), "AGENT_NAME_IN_USE")
			other.join(s.id, "red-2")
			equal(s, "offered", other.offered(), []string{q})
			own := other.asks()
			r := other.refused("INVALID_ARGUMENT", "topic_join", f(`{"topic_id":%q,"agent_name":"red-3"}`, s.id))
			equal(s, "ids", r.body["open_question_ids"], anys([]string{own}))
			mentions(s, r.text, own)
			other.join(s.id, "red-2")
			other.refused("INVALID_ARGUMENT", "topic_join", f(`{"topic_id":%q,"agent_name":"red-3"}`, s.id))
		}},
		{"an interrupted ask is found again", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			ctx, interrupt := context.WithCancel(s.context())
			done := red.start(ctx, "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
			q := cat.waitForQuestion()
			interrupt()
			<-done
			b := red.ok("pending_list", f(`{"topic_id":%q,"mine":true}`, s.id))
			equal(s, "mine", b["pending"].([]any)[0].(map[string]any)["question_id"], any(q))
			equal(s, "cat's own", cat.offered(`"mine":true`), []string{})
		}},
		{"ask_poll waits for as many answers as are wanted", func(s *stage) {
			red, cat, gecko := s.as("red"), s.as("cat"), s.as("gecko")
			q := red.asks()
			cat.answers(q)
			equal(s, "one at once", red.ok("ask_poll", s.on(q, waitLong))["answers_count"], any(1.0))
			done := red.start(s.context(), "ask_poll", s.on(q, waitLong, `"min_answers":2`))
			gecko.answers(q)
			equal(s, "two", (<-done).body["answers_count"], any(2.0))
			if s.virtual {
				exactly(s, took(func() {
					equal(s, "missing", red.ok("ask_poll", s.on(q, `"wait_seconds":7,"min_answers":4`))["missing_answers"], any(2.0))
				}), 7*time.Second)
			}
		}},
		{"nobody is there to be meant", func(s *stage) {
			b := s.as("red").ok("ask", f(`{"topic_id":%q,"question":"why?","to":"nobody","wait_seconds":0}`, s.id))
			equal(s, "candidates", warnedOf(s, b, "UNKNOWN_RECIPIENT")[0]["candidates"], any([]any{}))
		}},
		{"a wait that a closed topic ends is not said to have lasted", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			red.ok("topic_close", f(`{"topic_id":%q}`, s.id))
			mentions(s, red.call("ask_poll", s.on(q, waitLong, `"min_answers":2`)).text, "missing_answers=2: the wait ended before")
		}},
		{"text of others is visible", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			red.ok("ask", f(`{"topic_id":%q,"question":"a\u001b[2Jb\u202ec\nd","wait_seconds":0}`, s.id))
			mentions(s, cat.call("pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id)).text, "a\\x1b[2Jb\\u202ec\nd")
		}},
		{"a wait ends when the topic is closed", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			asking := red.start(s.context(), "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
			q := cat.waitForQuestion()
			polling := cat.start(s.context(), "ask_poll", s.on(q, waitLong))
			listing := s.as("red").start(s.context(), "pending_list", f(`{"topic_id":%q,%s}`, s.id, waitLong))
			closed := time.Now()
			cat.ok("topic_close", f(`{"topic_id":%q}`, s.id))
			for what, done := range map[string]<-chan reply{"timeout": asking, "pending": polling, "empty": listing} {
				r := <-done
				equal(s, what, []any{r.body["status"], r.body["topic_status"]}, []any{what, "closed"})
				mentions(s, r.text, "The topic is closed")
			}
			if late := time.Since(closed); s.virtual && late > 2*time.Second {
				s.Errorf("the end was noticed after %v", late)
			}
		}},
		{"an ask without an answer counts who could give one", func(s *stage) {
			red := s.as("red")
			ask := f(`{"topic_id":%q,"question":"why?","wait_seconds":1}`, s.id)
			equal(s, "alone", red.ok("ask", ask)["listeners"], any(0.0))
			s.as("cat")
			s.as("gecko")
			s.as("red")
			equal(s, "with two", red.ok("ask", ask)["listeners"], any(2.0))
		}},
		{"who is there", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			cat := s.peer()
			look := func() reply {
				return cat.call("topic_join", f(`{"topic_id":%q,"agent_name":"cat","agents":true}`, s.id))
			}
			b := look().body
			there := b["agents"].([]any)
			equal(s, "others", []any{len(there), b["agents_total"]}, []any{1, 1.0})
			one := there[0].(map[string]any)
			equal(s, "red", []any{one["agent_name"], one["connected"]}, []any{"red", true})
			since := seenAt(s, one)
			mentions(s, look().text, "other agents connected: 1", "- red, last seen "+one["last_seen_at"].(string))
			if s.virtual {
				time.Sleep(time.Second) // of virtual time
			}
			red.offered()
			if again := seenAt(s, look().body["agents"].([]any)[0].(map[string]any)); s.virtual && again.Sub(since) < time.Second || again.Before(since) {
				s.Errorf("seen %v, then %v: a call is no sign", since, again)
			}
			cat.answers(q)
			equal(s, "not asked for", cat.join(s.id, "cat")["agents"], nil)
			nobody := s.peer().ok("topic_join", f(`{"topic_id":%q,"agent_name":"gecko","agents":true}`, s.peer().made("blue")))
			equal(s, "nobody else", []any{nobody["agents"], nobody["agents_total"]}, []any{[]any{}, 0.0})
			cat.end()
			states := map[string]any{}
			for _, a := range s.admin("", "topics", "show", s.id)["agents"].([]any) {
				states[a.(map[string]any)["agent_name"].(string)] = a.(map[string]any)["connected"]
			}
			equal(s, "shown", states, map[string]any{"red": true})
			_, text, _ := s.cli("", "cli", "topics", "show", s.id)
			mentions(s, text, "red  connected  seen ")
		}},
		{"a question for one agent", func(s *stage) {
			red, cat, gecko := s.as("red"), s.as("cat"), s.as("gecko")
			q := red.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0,"to":"cat"}`, s.id))["question_id"].(string)
			equal(s, "gecko", gecko.offered(), []string{})
			equal(s, "cat", cat.offered(), []string{q})
			equal(s, "saved", gecko.answers(q)["saved"], any(1.0))
		}},
		{"names of sessions that have ended are forgotten", func(s *stage) {
			red := s.as("red")
			s.as("cat").end()
			gecko := s.as("gecko")
			names, err := os.ReadDir(filepath.Join(s.dir, "topics", s.id, "agents"))
			if err != nil || len(names) != 2 {
				s.Errorf("agents: %v %v", names, err)
			}
			equal(s, "listeners", gecko.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":1}`, s.id))["listeners"], any(1.0))
			warnedOf(s, s.peer().join(s.id, "red"), "AGENT_NAME_IN_USE")
			_ = red
		}},
		{"sessions are there after the topics were put back from a copy", func(s *stage) {
			red := s.as("red")
			topics, kept := filepath.Join(s.dir, "topics"), filepath.Join(s.dir, "kept")
			cat := s.as("cat")
			check := func(err error) {
				if err != nil {
					s.Error(err)
				}
			}
			check(os.CopyFS(kept, os.DirFS(topics)))
			check(os.RemoveAll(topics))
			check(os.Rename(kept, topics))
			cat.offered()
			equal(s, "listeners", red.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":1}`, s.id))["listeners"], any(1.0))
			warnedOf(s, s.peer().join(s.id, "cat"), "AGENT_NAME_IN_USE")
			warnedOf(s, s.peer().join(s.id, "red"), "AGENT_NAME_IN_USE")
		}},
		{"one topic of a newer format", func(s *stage) {
			p := s.peer()
			s.pink()
			dir := filepath.Join(s.dir, "topics", s.id)
			s.rewrite(filepath.Join(dir, "journal.jsonl"), `"format":1`, `"format":9`)
			if err := os.Remove(filepath.Join(dir, "state.json")); err != nil {
				s.Fatal(err)
			}
			equal(s, "name", warnedOf(s, p.ok("topic_list", `{}`), "TOPIC_SCHEMA_MISMATCH")[0]["name"], any("pink"))
			warnedOf(s, p.ok("topic_create", `{"name":"blue"}`))
			mentions(s, p.refused("DB_SCHEMA_MISMATCH", "topic_join", `{"agent_name":"red","name":"pink"}`).text, "pink", "update agent-bus")
			p.refused("DB_SCHEMA_MISMATCH", "topic_create", `{"name":"pink"}`)
			warnedOf(s, p.ok("topic_create", `{"name":"pink","mode":"new"}`), "TOPIC_SCHEMA_MISMATCH")
		}},
		{"a damaged topic is not made a second time", func(s *stage) {
			red := s.as("red")
			red.asks()
			red.asks()
			s.damage()
			for _, call := range [][2]string{{"topic_resolve", `{"name":"pink"}`}, {"topic_join", `{"agent_name":"red","name":"pink"}`}, {"topic_create", `{"name":"pink"}`}} {
				r := red.refused("CORRUPT_ROOM", call[0], call[1])
				equal(s, "topic", r.body["topic_id"], any(s.id))
				mentions(s, r.text, "pink", "TALKING_STICK_DATA_DIR="+s.dir+" tt doctor", `mode "new"`)
			}
			red.refused("TOPIC_NOT_FOUND", "topic_resolve", `{"name":"blue"}`)
			red.ok("topic_create", `{"name":"pink","mode":"new"}`)
			warnedOf(s, red.ok("topic_resolve", `{"name":"pink"}`), "TOPIC_DAMAGED")
		}},
		{"a damaged topic whose name is lost", func(s *stage) {
			red := s.as("red")
			red.asks()
			path := filepath.Join(s.dir, "topics", s.id, "journal.jsonl")
			s.rewrite(path, `{"event_seq":1,`, `{"event_seq`)
			_ = os.Remove(filepath.Join(filepath.Dir(path), "state.json"))
			warnedOf(s, red.refused("TOPIC_NOT_FOUND", "topic_resolve", `{"name":"pink"}`).body, "TOPIC_DAMAGED")
			warnedOf(s, red.ok("topic_create", `{"name":"pink"}`), "TOPIC_DAMAGED")
		}},
		{"a topic whose first event is gone is not made a second time", func(s *stage) {
			path := filepath.Join(s.dir, "topics", s.pink(), "journal.jsonl")
			whole, _ := os.ReadFile(path)
			p := s.peer()
			for _, left := range []string{"x" + string(whole[1:]), strings.Replace(string(whole), "topic_created", "topic_foreseen", 1)} {
				if err := os.WriteFile(path, []byte(left), 0o600); err != nil {
					s.Fatal(err)
				}
				equal(s, left, warnedOf(s, p.ok("topic_list", `{}`), "TOPIC_DAMAGED")[0]["name"], any("pink"))
				for _, call := range []string{"topic_resolve", "topic_create"} {
					p.refused("CORRUPT_ROOM", call, `{"name":"pink"}`)
				}
			}
			_ = os.Remove(filepath.Join(filepath.Dir(path), "state.json"))
			warnedOf(s, p.ok("topic_create", `{"name":"pink"}`), "TOPIC_DAMAGED")
		}},
		{"a topic whose journal has no whole line", func(s *stage) {
			path := filepath.Join(s.dir, "topics", s.pink(), "journal.jsonl")
			if err := os.Truncate(path, 60); err != nil {
				s.Fatal(err)
			}
			s.peer().ok("topic_join", f(`{"agent_name":"red","topic_id":%q}`, s.id)) // state.json knows what the journal had
			if err := os.Truncate(path, 60); err != nil {
				s.Fatal(err)
			}
			_ = os.Remove(filepath.Join(filepath.Dir(path), "state.json"))
			s.peer().refused("TOPIC_NOT_FOUND", "topic_join", f(`{"agent_name":"red","topic_id":%q}`, s.id))
			if status, _, errs := s.cli("", "cli", "topics", "show", s.id); status != 1 || !strings.Contains(errs, "TOPIC_NOT_FOUND") {
				s.Errorf("show: %d %s", status, errs)
			}
		}},
	}
}

// rewrite replaces a text in a file, which must have it.
func (s *stage) rewrite(path, old, new string) {
	s.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		s.Fatalf("%s is not in %s", old, data)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o600); err != nil {
		s.Fatal(err)
	}
}

func seenAt(s *stage, agent map[string]any) time.Time {
	s.Helper()
	at, err := time.Parse(time.RFC3339, agent["last_seen_at"].(string))
	if err != nil {
		s.Fatal(err)
	}
	return at
}
