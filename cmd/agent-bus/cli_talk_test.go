package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// admin is an admin command that must succeed, with its JSON.
func (s *stage) admin(stdin string, args ...string) map[string]any {
	s.Helper()
	status, out, errs := s.cli(stdin, append([]string{"cli", "--json"}, args...)...)
	if status != 0 {
		s.Fatalf("%q: %d %s", args, status, errs)
	}
	var result map[string]any
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		s.Fatalf("%q: %v in %s", args, err, out)
	}
	return result
}

// declined is an admin command that must fail with the code.
func (s *stage) declined(c string, args ...string) string {
	s.Helper()
	status, _, errs := s.cli("", append([]string{"cli"}, args...)...)
	if status != 1 || !strings.Contains(errs, c) {
		s.Fatalf("%q: %d %s", args, status, errs)
	}
	return errs
}

func TestAPersonAsksAndAnAgentAnswers(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	cat := s.as("cat")
	asked := s.admin("", "ask", "pink", "why", "so?", "--agent", "human:ann", "--to", "cat")
	q := asked["question_id"].(string)
	equal(t, "asked", []any{asked["status"], asked["asked_by"], asked["to_agent_id"]}, []any{"queued", "human:ann", "cat"})
	equal(t, "offered", cat.offered(), []string{q})
	done := make(chan string, 1)
	go func() {
		_, out, errs := s.cli("", "cli", "ask", s.id, "--wait", "--agent", "human:ann", "and then?")
		done <- out + errs
	}()
	second := cat.waitForQuestion()
	for second == q {
		cat.answers(q)
		second = cat.waitForQuestion()
	}
	cat.answers(second)
	mentions(t, <-done, "### cat (answer ", "because")
	_, out, _ := s.cli("", "cli", "ask", "pink", "--wait", "--timeout", "10ms", "anybody?")
	mentions(t, out, "Nobody has answered", "1 agent")
	_, out, _ = s.cli("", "cli", "topics", "show", "pink", "--json")
	mentions(t, out, `"question":"why so?"`)
}

func TestAnAgentAsksAndAPersonAnswers(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red := s.as("red")
	q, gone := red.asks(), red.asks()
	red.ok("ask_cancel", s.on(gone))
	answered := s.admin("two\nlines\n", "answer", q, "--stdin", "--agent", "human:ann", "--pointer", "main.go")
	equal(t, "answered", []any{answered["status"], answered["asked_by"]}, []any{"saved", "red"})
	b := red.poll(q)
	same(t, "payload", any(payloadOf(b, 0)), `{"answer_markdown":"two\nlines","repo_pointers":["main.go"],"suggested_followups":[]}`)
	s.declined("FORBIDDEN_ALREADY_ANSWERED", "answer", q, "again", "--agent", "human:ann")
	s.declined("FORBIDDEN_SELF_ANSWER", "answer", q, "mine", "--agent", "red")
	s.declined("cancelled already", "answer", gone, "late")
	s.declined("QUESTION_NOT_FOUND", "answer", "q00000000000", "what?")
	s.declined("must not be blank", "answer", q, " ")
	s.declined("is not UTF-8", "answer", q, "a\xffb")
	s.declined("exceeds the maximum", "ask", "pink", strings.Repeat("x", 8001))
	if status, _, _ := s.cli("", "cli", "answer", q); status != 2 {
		t.Errorf("no text: status %d", status)
	}
}

func TestCloseATopicOrAQuestion(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	cat := s.as("cat")
	ask := func() string { return s.admin("", "ask", "pink", "why?", "--agent", "ann")["question_id"].(string) }
	first, second := ask(), ask()
	cat.answers(first)
	equal(t, "with an answer", s.admin("", "close", first, "--agent", "ann")["status"], any("answered"))
	equal(t, "without", s.admin("", "close", second, "--agent", "ann", "--reason", "done")["status"], any("cancelled"))
	equal(t, "reason", cat.poll(second)["cancel_reason"], any("done"))
	s.declined("FORBIDDEN_NOT_ASKER", "close", ask(), "--agent", "cat")
	equal(t, "topic", s.admin("", "close", "pink", "--reason", "over")["close_reason"], any("over"))
	s.declined("TOPIC_CLOSED", "ask", s.id, "why?")
	s.declined("TOPIC_NOT_FOUND", "close", "nope")
}

// An archived topic is out of use, and as it was when it is moved back.
func TestArchive(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat := s.as("red"), s.as("cat")
	waiting := red.start(s.context(), "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
	q := cat.waitForQuestion()
	path := s.admin("", "archive", "pink")["path"].(string)
	if r := <-waiting; r.code != "TOPIC_NOT_FOUND" {
		t.Errorf("a wait: %v", r.body)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "topics", s.id)); err == nil {
		t.Error("a wait has made the directory anew")
	}
	red.refused("TOPIC_NOT_FOUND", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
	same(t, "topics", red.ok("topic_list", `{"status":"all"}`)["topics"], `[]`)
	s.declined("TOPIC_NOT_FOUND", "archive", "pink")
	// Who asked for it meanwhile may have left an empty directory.
	_ = os.RemoveAll(filepath.Join(s.dir, "topics", s.id))
	if err := os.Rename(path, filepath.Join(s.dir, "topics", s.id)); err != nil {
		t.Fatal(err)
	}
	equal(t, "poll", s.peer().poll(q)["status"], any("pending"))
	s.as("red").asks()
	s.damage()
	if err := os.Mkdir(path, 0o700); err != nil { // archived before, as the topic of a room can be
		t.Fatal(err)
	}
	equal(t, "archived again", s.admin("", "archive", s.id)["path"].(string), path+".2")
	warnedOf(t, s.peer().ok("topic_create", `{"name":"pink"}`))
}

// A followed is a running cli follow.
type followed struct {
	*stage
	cmd    *exec.Cmd
	events *json.Decoder
	stderr bytes.Buffer
}

func (s *stage) follow(args ...string) *followed {
	s.Helper()
	fo := &followed{stage: s, cmd: s.command(append([]string{"cli", "follow", "--json"}, args...)...)}
	fo.cmd.Stderr = &fo.stderr
	stdout, err := fo.cmd.StdoutPipe()
	if err == nil {
		err = fo.cmd.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	fo.events = json.NewDecoder(stdout)
	timer := time.AfterFunc(tooLong, func() { _ = fo.cmd.Process.Kill() })
	s.Cleanup(func() { timer.Stop() })
	return fo
}

func (fo *followed) next() (event map[string]any) {
	fo.Helper()
	if err := fo.events.Decode(&event); err != nil {
		fo.Fatalf("%v: %s", err, &fo.stderr)
	}
	return event
}

// ends waits for the end, which must be with status 0, and returns what the
// command says on standard error.
func (fo *followed) ends() string {
	fo.Helper()
	if err := fo.cmd.Wait(); err != nil {
		fo.Error(err)
	}
	return fo.stderr.String()
}

// cli follow prints what happens, and ends with 0 at a signal, when its time is up
// and with the topic.
func TestFollow(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	q := s.as("red").asks()
	fo := s.follow("pink", "--after", "1")
	equal(t, "asked", fo.next()["event_type"], any("question_asked"))
	s.as("cat").answers(q)
	event := fo.next()
	equal(t, "answered", []any{event["event_type"], event["from_agent_id"], event["event_seq"]}, []any{"answer_saved", "cat", 3.0})
	if err := fo.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	equal(t, "a signal", fo.ends(), "cursor_event_seq=3 ended=signal\n")

	mentions(t, s.declined("INVALID_ARGUMENT", "follow", "pink", "--after", "4"), "the last event of the topic is 3")

	fo = s.follow("pink", "--timeout", "10ms")
	equal(t, "a timeout", fo.ends(), "cursor_event_seq=3 ended=timeout\n")

	fo = s.follow("pink", "--after", "2")
	fo.next()
	s.admin("", "archive", "pink")
	equal(t, "archived", fo.ends(), "cursor_event_seq=3 ended=closed\n")
}

func TestEventsAsLines(t *testing.T) {
	t.Parallel()
	s := newStage(t, true)
	for _, c := range []struct{ event, want string }{
		{`{"event_type":"topic_created","payload":{"name":"pink"}}`, "topic pink was made"},
		{`{"event_type":"question_asked","from_agent_id":"red","to_agent_id":"cat","payload":{"question_id":"q1","question_text":"why?\nso"}}`, "red asks cat q1: why?…"},
		{`{"event_type":"answer_saved","from_agent_id":"cat","to_agent_id":"red","payload":{"question_id":"q1","answer_markdown":"because"}}`, "cat answers q1: because"},
		{`{"event_type":"question_cancelled","from_agent_id":"red","reason":"done","payload":{"question_id":"q1"}}`, "red cancels q1: done"},
		{`{"event_type":"question_closed","from_agent_id":"red","payload":{"question_id":"q1"}}`, "red marks q1 answered"},
		{`{"event_type":"topic_closed","reason":"over"}`, "closed the topic: over"},
		{`{"event_type":"of_tomorrow"}`, "of_tomorrow"},
	} {
		var e event.Event
		if err := json.Unmarshal([]byte(c.event), &e); err != nil {
			t.Fatal(err)
		}
		equal(s, "line", eventLine(&e), c.want)
	}
}
