package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/identity"
)

// A workroom is a room of tt in the data directory of the stage.
type workroom struct {
	*stage
	dir string
}

func newWorkroom(t *testing.T) *workroom {
	t.Parallel()
	w := &workroom{newStage(t, false), filepath.Join(tempDir(t), "w")}
	if err := os.MkdirAll(filepath.Join(w.dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// command is tt as a process of an agent.
func (w *workroom) command(agent string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append(args, "--json", "--agent", agent)...)
	cmd.Dir = w.dir
	cmd.Env = []string{asTT + "=1", "TALKING_STICK_DATA_DIR=" + w.stage.dir, "HOME=" + w.stage.dir, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	return cmd
}

// tt runs tt as an agent and returns its result.
func (w *workroom) tt(agent string, args ...string) (result map[string]any) {
	w.Helper()
	var stderr bytes.Buffer
	cmd := w.command(agent, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.Errorf("tt %q of %s: %v: %s", args, agent, err, &stderr)
		return nil
	}
	if err := json.Unmarshal(out, &result); err != nil {
		w.Errorf("tt %q: %v: %s", args, err, out)
	}
	if guardian, ok := result["guardian_pid"].(float64); ok {
		w.Cleanup(func() { w.kill(int(guardian)) })
	}
	return result
}

// kill ends a process that is no child of this one: a guardian would write to a directory that is being removed.
func (w *workroom) kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
	for info, err := identity.System().Inspect(pid); err == nil && !info.Zombie; info, err = identity.System().Inspect(pid) {
		time.Sleep(time.Millisecond)
	}
}

// topicOfRoom is the id of the only topic there is.
func (w *workroom) topicOfRoom(p *peer) string {
	w.Helper()
	list := p.ok("topic_list", `{}`)["topics"].([]any)
	equal(w, "topics", len(list), 1)
	return list[0].(map[string]any)["topic_id"].(string)
}

func list(v any) []any { l, _ := v.([]any); return l }

func field(v any, name string) any { m, _ := v.(map[string]any); return m[name] }

// TestQuestionOfTTAnsweredInMCP: a question asked in a shell is offered in MCP, and its
// answer wakes the asker, who waits in tt.
func TestQuestionOfTTAnsweredInMCP(t *testing.T) {
	w := newWorkroom(t)
	w.tt("a:1", "join")
	asked := w.tt("a:1", "ask", "room", "is rounding banker's?")
	question := asked["question_id"].(string)
	p := w.peer()
	id := w.topicOfRoom(p)
	room := w.tt("a:1", "state")["room"].(map[string]any)["room_id"].(string)
	equal(t, "topic", id, "t"+room[len(room)-16:][:11])
	equal(t, "name", p.ok("topic_list", `{}`)["topics"].([]any)[0].(map[string]any)["name"], any(room))
	p.join(id, "gemini:1")
	pending := list(p.ok("pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, id))["pending"])
	equal(t, "pending", len(pending), 1)
	equal(t, "question", field(pending[0], "question_id"), any(question))

	w.tt("b:1", "wait") // a:1 does not get the turn
	waiting := make(chan map[string]any)
	go func() { waiting <- w.tt("a:1", "wait", "--inbox", "--timeout", "10m") }()
	p.ok("answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,"answer_markdown":"half up","suggested_followups":["and negative ones?"]}]}`, id, question))
	got := <-waiting
	equal(t, "status", got["status"], any("inbox"))
	answer := list(field(got["inbox"], "answers"))[0]
	equal(t, "answer", field(answer, "answer_markdown"), any("half up"))
	equal(t, "answered by", field(answer, "answered_by"), any("gemini:1"))
	equal(t, "pending", len(list(p.ok("pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, id))["pending"])), 0)
}

// TestTopicOfRoomByName: a room has one topic, also before its first question: whoever names the room in MCP gets that.
func TestTopicOfRoomByName(t *testing.T) {
	for _, tool := range []string{"topic_join", "topic_create"} {
		t.Run(tool, func(t *testing.T) {
			w := newWorkroom(t)
			w.tt("a:1", "join")
			room := w.tt("a:1", "state")["room"].(map[string]any)["room_id"].(string)
			id := "t" + room[len(room)-16:][:11]
			p := w.peer()
			equal(t, tool, p.ok(tool, f(`{"name":%q,"agent_name":"b:1"}`, room))["topic_id"], any(id))
			p.refused("INVALID_ARGUMENT", "topic_create", f(`{"name":%q,"mode":"new"}`, room))
			p.join(id, "b:1")
			p.ok("ask", f(`{"topic_id":%q,"question":"why?","to":"a:1","wait_seconds":0}`, id))
			equal(t, "questions", len(list(w.tt("a:1", "inbox")["questions"])), 1)
			equal(t, "topic", w.topicOfRoom(p), id)
		})
	}
}

// TestQuestionOfMCPAnsweredInTT: one asked in MCP wakes whom it is for, and its answer ends
// the asker's wait.
func TestQuestionOfMCPAnsweredInTT(t *testing.T) {
	w := newWorkroom(t)
	w.tt("a:1", "join")
	w.tt("b:1", "wait")
	w.tt("b:1", "ask", "room", "the first one makes the topic") // and is answered by the asker's peer
	p := w.peer()
	id := w.topicOfRoom(p)
	p.join(id, "gemini:1")
	w.tt("a:1", "inbox")
	waiting := make(chan map[string]any)
	go func() { waiting <- w.tt("a:1", "wait", "--inbox", "--timeout", "10m") }()
	asking := p.start(t.Context(), "ask", f(`{"topic_id":%q,"question":"which branch?","to":"a:1",%s}`, id, waitLong))
	got := <-waiting
	equal(t, "status", got["status"], any("inbox"))
	questions := list(field(got["inbox"], "questions"))
	equal(t, "questions", len(questions), 2)
	equal(t, "text", field(questions[0], "question"), any("which branch?"))
	equal(t, "from", field(questions[0], "from_agent_id"), any("gemini:1"))
	equal(t, "state", field(questions[0], "from_state"), any("here"))
	w.tt("a:1", "answer", field(questions[0], "question_id").(string), "main")
	r := <-asking
	mentions(t, r.text, "answered", "main")
}

// TestAnswerShownInMCP: one that came back in MCP is not told by tt again, and does not keep the turn from ending. One that
// did not is.
func TestAnswerShownInMCP(t *testing.T) {
	w := newWorkroom(t)
	w.tt("b:1", "join")
	w.tt("a:1", "wait")
	w.tt("a:1", "ask", "b:1", "the first one makes the topic")
	p := w.peer()
	id := w.topicOfRoom(p)
	p.join(id, "a:1")
	answers := func() float64 { return field(field(w.tt("a:1", "inbox", "--peek"), "counts"), "answers").(float64) }
	answer := func(text string) {
		t.Helper()
		owed := list(w.tt("b:1", "inbox")["questions"])
		w.tt("b:1", "answer", field(owed[0], "question_id").(string), text)
	}
	answer("yes")
	w.tt("a:1", "inbox")
	waiting := p.start(t.Context(), "ask", f(`{"topic_id":%q,"question":"which branch?","to":"b:1",%s}`, id, waitLong))
	w.tt("b:1", "wait", "--inbox", "--timeout", "10m")
	answer("main")
	mentions(t, (<-waiting).text, "main")
	equal(t, "unread", answers(), 0.0)
	w.tt("a:1", "ask", "b:1", "and the other?")
	answer("next")
	equal(t, "unread, asked in tt", answers(), 1.0)
	w.tt("a:1", "inbox")
	w.tt("a:1", "release", "--status", "s", "--next-action", "n")
	w.tt("a:1", "ask", "b:1", "and while I am away?")
	w.tt("a:1", "leave")
	answer("later")
	w.tt("a:1", "join")
	equal(t, "unread after joining again", answers(), 1.0)
	w.tt("a:1", "inbox")
	equal(t, "unread in the end", answers(), 0.0)
}

// TestFirstQuestionsAtOnce: many that ask at the same moment make one topic, and no
// question is lost.
func TestFirstQuestionsAtOnce(t *testing.T) {
	w := newWorkroom(t)
	const askers = 6
	for n := range askers {
		w.tt(f("a:%d", n), "join")
	}
	var all sync.WaitGroup
	for n := range askers {
		all.Go(func() { w.tt(f("a:%d", n), "ask", "room", f("question %d", n)) })
	}
	all.Wait()
	p := w.peer()
	id := w.topicOfRoom(p)
	p.join(id, "gemini:1")
	equal(t, "questions", len(list(p.ok("pending_list", f(`{"topic_id":%q,"limit":50,"wait_seconds":0}`, id))["pending"])), askers)
}

// TestClosedTopicOfRoom: a room has one topic, so the next question opens it again where somebody
// has closed it, and the questions before it stay open, and are answered.
func TestClosedTopicOfRoom(t *testing.T) {
	w := newWorkroom(t)
	w.tt("a:1", "join")
	w.tt("b:1", "join")
	before := w.tt("a:1", "ask", "b:1", "before?")["question_id"].(string)
	w.tt("a:1", "ask", "human", "deploy?")
	p := w.peer()
	id := w.topicOfRoom(p)
	p.ok("topic_close", f(`{"topic_id":%q}`, id))
	p.join(id, "gemini:1")
	p.refused("TOPIC_CLOSED", "ask", f(`{"topic_id":%q,"question":"new?","wait_seconds":0}`, id))
	after := w.tt("a:1", "ask", "b:1", "after?")["question_id"].(string)
	equal(t, "topic", w.topicOfRoom(p), id)
	equal(t, "open questions", len(list(w.tt("b:1", "questions", "--all")["questions"])), 3)
	equal(t, "owed", len(list(w.tt("b:1", "inbox")["questions"])), 2)
	w.tt("b:1", "answer", before, "yes")
	w.tt("b:1", "answer", after, "yes")
	equal(t, "answers", len(list(w.tt("a:1", "inbox")["answers"])), 2)
	p.ok("ask", f(`{"topic_id":%q,"question":"new?","wait_seconds":0}`, id))
}

// TestAskInMCPMeansTheSameAgent: on the topic of a room a name means who it means for tt ask,
// and listeners counts who can hear of the question.
func TestAskInMCPMeansTheSameAgent(t *testing.T) {
	w := newWorkroom(t)
	w.tt("claude:1", "join")
	w.tt("human:x", "ask", "room", "is anybody here?")
	p := w.peer()
	id := w.topicOfRoom(p)
	p.join(id, "codex:2")
	for to, want := range map[string]string{"claude": "claude:1", "claude:1": "claude:1", "CLAUDE:1": "claude:1", "human": "human"} {
		b := p.ok("ask", f(`{"topic_id":%q,"question":"port?","to":%q,"wait_seconds":0}`, id, to))
		equal(t, "to "+to, b["to_agent_id"], any(want))
		equal(t, "warnings for "+to, len(list(b["warnings"])), 0)
	}
	b := p.ok("ask", f(`{"topic_id":%q,"question":"port?","to":"claude:77","wait_seconds":1}`, id))
	equal(t, "listeners of a stranger", b["listeners"], any(0.0))
	contexts := warnedOf(t, b, "UNKNOWN_RECIPIENT")
	equal(t, "candidates", len(list(contexts[0]["candidates"])), 2)
	equal(t, "for claude, and the room", len(list(w.tt("claude:1", "inbox")["questions"])), 4)

	w.tt("codex:2", "try")
	for _, how := range []string{"--park", "--inbox"} { // the second ends with the question
		w.tt("claude:1", "inbox")
		wait := w.command("claude:1", "wait", "--timeout", "10m", how)
		if err := wait.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = wait.Process.Kill(); _ = wait.Wait() }()
		for reach := any("none"); reach != any("waiting"); {
			reach = field(list(w.tt("codex:2", "state")["members"])[0], "reach")
		}
		b = p.ok("ask", f(`{"topic_id":%q,"question":"host?","to":"claude","wait_seconds":1}`, id))
		equal(t, "listeners with one in wait "+how, b["listeners"], any(1.0))
		_ = wait.Process.Kill()
		_ = wait.Wait()
	}
	w.tt("codex:2", "close", "--reason", "done")
	warnedOf(t, p.ok("ask", f(`{"topic_id":%q,"question":"still there?","wait_seconds":0}`, id)), "ROOM_ENDED")
}
