package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/fsroom"
)

func TestSettle(t *testing.T) { play(t, settleScenarios()) }
func TestFlows(t *testing.T)  { play(t, flowScenarios()) }

func settleScenarios() []scenario {
	return []scenario{
		{"93 not the asker", func(s *stage) {
			q, cat := s.as("red").asks(), s.as("cat")
			cat.refused("FORBIDDEN_NOT_ASKER", "ask_cancel", s.on(q))
			cat.refused("FORBIDDEN_NOT_ASKER", "question_mark_answered", s.on(q))
		}},
		{"94 95 cancel", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			want := f(`{"topic_id":%q,"question_id":%q,"status":"cancelled","cancel_reason":"why"}`, s.id, q)
			same(s, "cancelled", any(red.ok("ask_cancel", s.on(q, `"reason":"why"`))), want)
			b := red.poll(q)
			equal(s, "poll", []any{b["status"], b["cancel_reason"], b["accepting_answers"]}, []any{"cancelled", "why", false})
			again := red.ok("ask_cancel", s.on(q, `"reason":"other"`))
			equal(s, "context", warnedOf(s, again, "ALREADY_CANCELLED")[0]["question_id"], any(q))
			delete(again, "warnings")
			same(s, "again", any(again), want)
		}},
		{"96 cancel without a reason", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			for _, b := range []map[string]any{red.ok("ask_cancel", s.on(q, `"reason":""`)), red.poll(q)} {
				if _, has := b["cancel_reason"]; has {
					s.Errorf("a reason: %v", b)
				}
			}
		}},
		{"98 99 100 mark", func(s *stage) {
			red := s.as("red")
			q, gone := red.asks(), red.asks()
			same(s, "marked", any(red.ok("question_mark_answered", s.on(q))), f(`{"topic_id":%q,"question_id":%q,"status":"answered"}`, s.id, q))
			warnedOf(s, red.ok("question_mark_answered", s.on(q)), "ALREADY_ANSWERED")
			same(s, "poll", any(red.poll(q)), f(`{"question_id":%q,"status":"answered","question_status":"answered",
				"accepting_answers":false,"answers":[],"answers_count":0}`, q))
			red.refused("INVALID_ARGUMENT", "ask_cancel", s.on(q))
			red.ok("ask_cancel", s.on(gone))
			red.refused("INVALID_ARGUMENT", "question_mark_answered", s.on(gone))
		}},
		{"101 cancel with an answer", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			s.as("cat").answers(q)
			red.ok("ask_cancel", s.on(q))
			b := red.poll(q)
			equal(s, "poll", []any{b["status"], b["answers_count"]}, []any{"cancelled", 1.0})
		}},
		{"102 closed topic", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			first, second := red.asks(), red.asks()
			red.ok("topic_close", f(`{"topic_id":%q}`, s.id))
			equal(s, "offered", cat.offered(), []string{first, second})
			cat.answers(first)
			equal(s, "poll", red.poll(first)["answers_count"], any(1.0))
			red.ok("question_mark_answered", s.on(first))
			red.ok("ask_cancel", s.on(second))
			red.refused("TOPIC_CLOSED", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
		}},
	}
}

func flowScenarios() []scenario {
	return []scenario{
		{"103 three peers", func(s *stage) {
			red, cat, gecko := s.as("red"), s.as("cat"), s.as("gecko")
			q := red.asks()
			cat.answers(q)
			gecko.answers(q)
			equal(s, "answers", red.poll(q)["answers_count"], any(2.0))
			red.ok("question_mark_answered", s.on(q))
			equal(s, "offered", cat.offered(), []string{})
		}},
		{"104 two ask each other at once", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			meet := func(me *peer) func() {
				return func() {
					asked := me.start(context.Background(), "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
					me.call("answer", s.replies(me.waitForQuestion()))
					equal(s, "status", (<-asked).body["status"], any("answered"))
				}
			}
			all(meet(red), meet(cat))
		}},
		{"105 twenty questions", func(s *stage) {
			red, cat := s.as("red"), s.as("cat")
			all(func() {
				for i := range 20 {
					r := <-red.start(context.Background(), "ask", f(`{"topic_id":%q,"question":"%d",%s}`, s.id, i, waitLong))
					equal(s, "answers", r.body["answers_count"], any(1.0))
					equal(s, "text", payloadOf(r.body, 0)["answer_markdown"], any(fmt.Sprint(i)))
				}
			}, func() {
				for range 20 {
					r := <-cat.start(context.Background(), "pending_list", f(`{"topic_id":%q,%s}`, s.id, waitLong))
					q := r.body["pending"].([]any)[0].(map[string]any)
					cat.call("answer", s.responses(strings.Replace(item(q["question_id"].(string), "", ""), "because", q["question_text"].(string), 1)))
				}
			})
		}},
		{"108 the data directory disappears", func(s *stage) {
			red := s.as("red")
			done := red.start(context.Background(), "pending_list", f(`{"topic_id":%q,%s}`, s.id, waitLong))
			if err := os.RemoveAll(s.dir); err != nil {
				s.Fatal(err)
			}
			if r := <-done; r.code != "TOPIC_NOT_FOUND" {
				s.Errorf("a wait in a topic that is gone: %v", r.body)
			}
			red.refused("TOPIC_NOT_FOUND", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
			red.join(red.made("pink"), "red")
		}},
		{"109 a disk that is read-only", readOnlyScenario},
		{"110 ten ask, ten answer twenty questions", loadScenario},
	}
}

// readOnlyScenario: in memory the disk refuses; a process meets directories that
// may not be written, which does not stop the superuser.
func readOnlyScenario(s *stage) {
	q := s.as("red").asks()
	if s.virtual {
		s.fault = func(step fsroom.Step) error {
			if step == fsroom.StepLoad {
				return nil
			}
			return &fs.PathError{Op: "open", Path: s.dir, Err: syscall.EROFS}
		}
	} else {
		if os.Getuid() == 0 {
			return
		}
		s.chmod(0o500, 0o400)
		s.Cleanup(func() { s.chmod(0o700, 0o600) })
	}
	p := s.peer()
	equal(s, "topics", len(p.ok("topic_list", `{}`)["topics"].([]any)), 1)
	equal(s, "poll", p.poll(q)["status"], any("pending"))
	p.join(s.id, "cat")
	equal(s, "offered", p.offered(), []string{q})
	mentions(s, p.refused("DATA_DIR_UNUSABLE", "answer", s.replies(q)).text, s.dir, envDataDir)
	mentions(s, p.refused("DATA_DIR_UNUSABLE", "topic_create", `{}`).text, s.dir)
}

func (s *stage) chmod(dirs, files fs.FileMode) {
	var paths []string
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		mode := files
		if d.IsDir() {
			mode = dirs | 0o700 // until it has been walked
			paths = append(paths, path)
		}
		return os.Chmod(path, mode)
	})
	for _, path := range slices.Backward(paths) {
		if err := os.Chmod(path, dirs); err != nil {
			s.Fatal(err)
		}
	}
}

func loadScenario(s *stage) {
	const each = 2
	var doings []func()
	var mu sync.Mutex
	var questions []string
	for i := range 10 {
		asker := s.as(f("asker%d", i))
		doings = append(doings, func() {
			for range each {
				q, _ := asker.call("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, s.id)).body["question_id"].(string)
				mu.Lock()
				questions = append(questions, q)
				mu.Unlock()
			}
		})
		answerer := s.as(f("cat%d", i))
		doings = append(doings, func() {
			for done := 0; done < 10*each; {
				ids := answerer.waitForQuestions()
				saved, _ := answerer.call("answer", s.replies(ids...)).body["saved"].(float64)
				if len(ids) == 0 || saved == 0 {
					s.Errorf("nothing to answer after %d", done)
					return
				}
				done += int(saved)
			}
		})
	}
	all(doings...)
	reader := s.peer()
	for _, q := range questions {
		names := map[any]bool{}
		b := reader.poll(q)
		for _, a := range b["answers"].([]any) {
			names[a.(map[string]any)["answered_by"]] = true
		}
		if len(names) != 10 || b["answers_count"] != 10.0 {
			s.Errorf("%s has %v answers of %d names", q, b["answers_count"], len(names))
		}
	}
}

func callParams(tool, args string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}
}

func (s *stage) context() context.Context { return context.Background() }

// grows waits until the topic's journal is longer than it was, or for a few milliseconds more
// each round: it is a kill at some moment, and any will do.
func (s *stage) grows(rounds int) {
	path := filepath.Join(s.dir, "topics", s.id, "journal.jsonl")
	before, err := os.Stat(path)
	if err != nil {
		s.Fatal(err)
	}
	for range rounds * 20 {
		if now, err := os.Stat(path); err == nil && now.Size() > before.Size() {
			return
		}
		time.Sleep(200 * time.Microsecond)
	}
}
