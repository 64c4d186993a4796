package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// settlesMany asks and cancels so many questions on pink, as one change.
func (s *stage) settlesMany(n int) {
	s.Helper()
	var events []event.Event
	for i := range n {
		id := fmt.Sprint("q", i)
		events = append(events,
			event.Event{Type: topic.EventAsked, From: "owl", Payload: []byte(f(`{"question_id":%q,"question_text":"why?"}`, id))},
			event.Event{Type: topic.EventCancelled, From: "owl", Payload: []byte(f(`{"question_id":%q}`, id))})
	}
	store, err := fsroom.Open(s.dir, fsroom.Options{})
	if err != nil {
		s.Fatal(err)
	}
	_, _, err = fsroom.At(store, roomtypes.Topics(), s.id).Update(s.context(), func(*topic.State) ([]event.Event, error) { return events, nil })
	if err != nil {
		s.Fatal(err)
	}
}

// TestOldQuestionsAreFound, though the state has forgotten them, also after it was
// lost.
func TestOldQuestionsAreFound(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat := s.as("red"), s.as("cat")
	old, gone := red.asks(), red.asks()
	cat.answers(old)
	red.ok("question_mark_answered", s.on(old))
	red.ok("ask_cancel", s.on(gone, `"reason":"too late"`))
	s.settlesMany(2 * topic.KeptSettled)
	state := filepath.Join(s.dir, "topics", s.id, "state.json")
	for range 2 {
		body := red.poll(old)
		equal(t, "old", []any{body["question_status"], body["answers_count"], len(body["answers"].([]any))}, []any{"answered", 1.0, 1})
		body = red.poll(gone)
		equal(t, "gone", []any{body["status"], body["cancel_reason"]}, []any{"cancelled", "too late"})
		warnedOf(s, red.ok("question_mark_answered", s.on(old)), "ALREADY_ANSWERED")
		warnedOf(s, red.ok("ask_cancel", s.on(gone)), "ALREADY_CANCELLED")
		mentions(t, red.refused("INVALID_ARGUMENT", "ask_cancel", s.on(old)).text, "answered already")
		cat.refused("FORBIDDEN_NOT_ASKER", "ask_cancel", s.on(gone))
		red.refused("QUESTION_NOT_FOUND", "ask_poll", s.on("never-asked"))
		red.refused("QUESTION_NOT_FOUND", "ask_cancel", s.on("never-asked"))
		skipped := cat.ok("answer", s.replies(old, "never-asked", gone))
		same(t, "skipped", skipped["skipped_questions"], f(
			`[{"question_id":%q,"reason":"answered"},{"question_id":"never-asked","reason":"not_on_topic"},{"question_id":%q,"reason":"cancelled"}]`, old, gone))
		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}
	}
	other := red.made("blue")
	red.join(other, "red")
	red.refused("TOPIC_MISMATCH", "ask_poll", f(`{"topic_id":%q,"question_id":%q}`, other, old))
	var exported struct {
		Questions []any
		Counts    topic.Counts
	}
	_, out, _ := s.cli("", "cli", "export", s.id, "--json")
	if err := json.Unmarshal([]byte(out), &exported); err != nil {
		t.Fatal(err)
	}
	all := 2*topic.KeptSettled + 2
	equal(t, "exported", []any{len(exported.Questions), exported.Counts.Total, exported.Counts.Answered}, []any{all, all, 1})
	status, out, errs := s.cli("", "cli", "close", gone, "--agent", "red")
	equal(t, "close "+errs, []any{status, out}, []any{0, gone + " is cancelled.\n"})
	_, _, errs = s.cli("", "cli", "answer", old, "because", "--agent", "cat")
	mentions(t, errs, "answered already", "INVALID_ARGUMENT")
	red.asks() // writes state.json again
	if info, err := os.Stat(state); err != nil || info.Size() > 300*topic.KeptSettled {
		t.Errorf("state.json: %v, %v", info.Size(), err)
	}
}

// TestNoNameIsNoCandidate: who answered a question that is closed is forgotten.
func TestNoNameIsNoCandidate(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat := s.as("red"), s.as("cat")
	q := red.asks()
	cat.answers(q)
	red.ok("question_mark_answered", s.on(q))
	b := red.ok("ask", f(`{"topic_id":%q,"question":"there?","to":"nobody","wait_seconds":0}`, s.id))
	equal(t, "candidates", warnedOf(s, b, "UNKNOWN_RECIPIENT")[0]["candidates"], any([]any{"cat"}))
}

// TestExportOfLost: what the journal has lost has no made-up time, and no empty name.
func TestExportOfLost(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat := s.as("red"), s.as("cat")
	q := red.asks()
	cat.answers(q)
	red.ok("question_mark_answered", s.on(q))
	path := filepath.Join(s.dir, "topics", s.id, "journal.jsonl")
	journal, err := os.ReadFile(path)
	if first, _, found := bytes.Cut(journal, []byte("\n")); err != nil || !found || os.WriteFile(path, append(first, '\n'), 0o600) != nil {
		t.Fatal(err)
	}
	red.asks() // writes what was lost into the journal
	_, out, _ := s.cli("", "cli", "export", "pink", "--text")
	mentions(t, out, "answered)\n\n—\n", "### (lost) answers\n\n—\n", topic.LostText)
	if _, out, _ = s.cli("", "cli", "export", "pink", "--json"); strings.Contains(out, "0001-01-01") {
		t.Error(out)
	}
}
