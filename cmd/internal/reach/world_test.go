//go:build linux

package reach

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
)

// A harness is a program under test.
type harness struct {
	variable  string // names the program
	id        string // of tt install
	version   string // that "make reach" installs
	limit     time.Duration
	files     func(w *world) map[string]string // in the home directory
	env       func(w *world) []string
	args      []string
	install   []string       // flags of tt install
	listening string         // how an idle session of it listens
	before    func(w *world) // what is done once before it is ready
	ready     string         // what it shows, without blanks, when it can be typed into
	exit      string         // what its user types to leave it
	anew      string         // what its user types to begin another session
	resume    []string       // arguments with which it goes on with the last session
	second    string         // what a second window of a session shows that may write beside the first
	inUse     string         // what it asks, without blanks, where the session is open in another window; "" if it does not
	edit      string         // the tool that writes FILE, and its input
	waits     string         // what its model does to be called; "" if nothing need be done
	escapes   int            // how often its user presses Esc to end a turn
	stopped   string         // what it shows, without blanks, when that was done; "" if tt notices it
	holds     bool           // while it is idle a hook runs, and it takes no line before Esc
	after     func(w *world)
}

// A world is a scratch home and workspace with one session of a harness, a model that is
// a stand-in, and another agent that has the first turn.
type world struct {
	t               *testing.T
	h               harness
	program         string
	home, data, dir string
	bin             string
	model           *standIn
	screen          *terminal
	session         string // what its user calls it
	agent           string // the id of the session
}

const peer = "peer:1"

// habits are how a model that knows the skill reacts.
var habits = map[string]string{
	offered:                  "[[sh tt wait --json]] [[sh tt assign peer:1 --status done --next-action next --json]] [[say released]]",
	"job of yours has ended": "[[sh tt inbox --json]] [[say read]]",
	"message for you in":     "[[say noted]]",
}

// offered is in what wakes an agent whose turn comes.
const offered = "is offered to you. Take it if"

// newWorld starts a session that has joined the room of its workspace and is idle.
func newWorld(t *testing.T, h harness) *world {
	program := programOf(t, h)
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{t: t, h: h, program: program, home: root + "/home", data: root + "/data", dir: root + "/w", bin: root + "/bin", model: newStandIn(t, habits)}
	for _, dir := range []string{w.home, w.dir + "/sub", w.bin} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	must(t, exec.Command("git", "init", "-q", w.dir).Run())
	build := exec.Command("go", "build", "-o", w.bin+"/", "github.com/talking-stick/tt/cmd/tt", "github.com/talking-stick/tt/cmd/tt-console")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := h.files(w)
	files[".profile"] = "PATH=" + w.bin + ":$PATH\n" // tools may run in a login shell
	for name, text := range files {
		path := filepath.Join(w.home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	w.tt("", append([]string{"install", h.id, "--no-bus"}, h.install...)...)
	w.tt(peer, "wait")
	t.Cleanup(func() { w.kill(func(string) bool { return true }) })
	if h.after != nil {
		t.Cleanup(func() { h.after(w) })
	}
	t.Cleanup(func() { w.tt("", "close", "--reason", "the test is over") })
	w.start()
	w.settle()
	return w
}

// start starts the program, whose model joins. With arguments it goes on with the last session.
func (w *world) start(more ...string) {
	w.t.Helper()
	name, args := w.command(more...)
	w.screen = startTerminal(w.t, w.dir, w.environ(w.h.env(w)...), name, args...)
	if w.h.before != nil {
		w.h.before(w)
		w.h.before = nil // its dialogs have been answered
	}
	texts := []string{w.h.ready, "joined"}
	if w.h.inUse != "" {
		texts = append(texts, w.h.inUse)
	}
	w.screen.await(0, 8*time.Minute, texts...) // some install packages first, on a busy machine slowly
	time.Sleep(2 * time.Second)                // what is typed while it draws may be lost
	if w.h.inUse != "" && strings.Contains(w.screen.screen(), w.h.inUse) {
		mark := len(w.screen.screen())
		w.screen.keys("\r") // its user goes on all the same
		w.screen.await(mark, time.Minute, w.h.ready)
		time.Sleep(2 * time.Second)
	}
	n := w.model.count()
	if len(more) == 0 {
		w.session = unique("session-")
	}
	mark, hello := len(w.screen.screen()), unique("hello-")
	w.screen.enter(w.session + " says " + hello + " [[sh tt join --json]] [[say joined]]")
	r, _, ok := w.model.next(n, 5*time.Second, "agent_id", "workspace_root")
	for range 20 { // Gemini CLI takes no line while it starts, and loses one while it resumes a session
		if ok {
			break
		}
		if strings.Contains(w.screen.screen()[mark:], hello) {
			w.screen.keys("\r")
		} else {
			w.screen.enter(w.session + " says " + hello + " [[sh tt join --json]] [[say joined]]")
		}
		r, _, ok = w.model.next(n, 5*time.Second, "agent_id", "workspace_root")
	}
	if !ok {
		w.t.Fatalf("the model did not join; shown is\n%s", tail(w.screen.screen()))
	}
	w.named(r)
}

// enter types a line as the user of an idle session.
func (w *world) enter(line string) {
	w.t.Helper()
	if w.h.holds {
		w.until(time.Minute, func() bool { return time.Since(w.model.latest()) > 3*time.Second })
		w.settle()
		w.screen.keys("\x1b")
		time.Sleep(time.Second)
	}
	w.submit(line)
}

// submit types a line, and again the key that ends it as long as the model is not asked that: a
// program that is busy takes that for a part of the line.
func (w *world) submit(line string) {
	n := w.model.count()
	words, _, _ := strings.Cut(line, " [[")
	w.screen.enter(line)
	for range 20 {
		if strings.HasPrefix(line, "/") {
			return
		}
		if _, _, asked := w.model.next(n, 3*time.Second, words); asked { // it may also be asked for the turn before
			return
		}
		w.screen.keys("\r")
	}
}

// quit leaves the program.
func (w *world) quit() {
	w.t.Helper()
	w.enter(w.h.exit)
	for range 12 { // the key that ends the line may have chosen the command from a list
		select {
		case <-w.screen.done:
			return
		case <-time.After(5 * time.Second):
			w.screen.keys("\r")
		}
	}
	w.t.Fatalf("%q does not end the program; it shows\n%s", w.h.exit, tail(w.screen.screen()))
}

var agentID = regexp.MustCompile(`agent_id\W+([a-z]+:[0-9a-f]{8})`)

// named takes the id of the session from a result of tt.
func (w *world) named(r request) {
	w.t.Helper()
	found := agentID.FindStringSubmatch(r.newest)
	if found == nil {
		w.t.Fatalf("no id is in %s", r.newest)
	}
	w.agent = found[1]
}

// settle waits until the agent counts as one that can be woken, if its harness has a way by itself.
func (w *world) settle() {
	w.t.Helper()
	w.until(20*time.Second, func() bool {
		reach, _ := w.reach()
		return reach == "ready" || reach == "next_prompt" && (w.h.listening == "" || w.h.waits != "") && time.Since(w.model.latest()) > 3*time.Second
	})
}

func (w *world) until(limit time.Duration, ok func() bool) {
	w.t.Helper()
	for start := time.Now(); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Since(start) > limit {
			reach, listening := w.reach()
			w.t.Fatalf("%s is %s by %q; its model was asked %v; shown is\n%s", w.agent, reach, listening, w.model.since(max(0, w.model.count()-4)), tail(w.screen.screen()))
		}
	}
}

// reach returns how the session can be reached.
func (w *world) reach() (reach, listening string) {
	var state struct {
		Members []struct {
			ID        string `json:"agent_id"`
			Reach     string
			Listening string
		}
	}
	must(w.t, json.Unmarshal([]byte(w.tt(peer, "state", "--json")), &state))
	for _, m := range state.Members {
		if m.ID == w.agent {
			return m.Reach, m.Listening
		}
	}
	return "", ""
}

// environ is the environment of the harness and of the other agent.
func (w *world) environ(more ...string) []string {
	return append([]string{
		"HOME=" + w.home, "PATH=" + w.bin + ":" + filepath.Dir(w.program) + ":/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8",
		"USER=tester", "TALKING_STICK_DATA_DIR=" + w.data, "TALKING_STICK_WAITER_GRACE=1s", "TALKING_STICK_GONE_GRACE=5s",
	}, more...)
}

// tt runs a command as an agent, or as the user.
func (w *world) tt(agent string, args ...string) string {
	w.t.Helper()
	if agent != "" {
		args = append(args, "--agent", agent)
	}
	cmd := exec.Command(w.bin+"/tt", args...)
	cmd.Dir, cmd.Env = w.dir, w.environ()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("tt %q: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

// takeTurn gives the turn to the other agent.
func (w *world) takeTurn() {
	w.t.Helper()
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if strings.Contains(w.tt(peer, "wait", "--json", "--timeout", "10s"), "your_turn") {
			return
		}
		if time.Since(start) > time.Minute {
			w.t.Fatalf("the turn did not come back; its model was asked %v; shown is\n%s", w.model.since(max(0, w.model.count()-4)), tail(w.screen.screen()))
		}
	}
}

// assign hands the turn to the session, and returns how long it took until the model was
// asked, and the number of that request.
func (w *world) assign(limit time.Duration) (took time.Duration, n int) {
	w.t.Helper()
	n = w.model.count()
	start := time.Now()
	w.tt(peer, "assign", w.agent, "--status", "secret status", "--next-action", "secret action")
	r, n, ok := w.model.next(n, limit, "(automatic, not typed by your user)", offered)
	if !ok {
		reach, listening := w.reach()
		w.t.Fatalf("the model was not asked within %s; the agent is %s by %q; shown is\n%s", limit, reach, listening, tail(w.screen.screen()))
	}
	if r.session != w.session {
		w.t.Errorf("%s was told the turn of %s", r.session, w.session)
	}
	if took = r.at.Sub(start); took > w.h.limit*3/4 {
		w.t.Logf("slow: %s, of which tt assign had %s, %s passed until tt was asked, and %s until the model was", took.Round(time.Millisecond),
			w.changed("wake", start), w.changed("listener.json", start)-w.changed("wake", start), took.Round(time.Millisecond)-w.changed("listener.json", start))
	}
	return took, n
}

// changed returns how long after a time a file of the agent's listener was changed last.
func (w *world) changed(file string, since time.Time) time.Duration {
	info, err := os.Stat(filepath.Join(w.data, fsroom.ListenersFolder, fsroom.AgentKey(w.agent), file))
	must(w.t, err)
	return info.ModTime().Sub(since).Round(time.Millisecond)
}

// handoff is assign, and then the turn comes back.
func (w *world) handoff(limit time.Duration) time.Duration {
	w.t.Helper()
	took, n := w.assign(limit)
	if _, _, ok := w.model.next(n, time.Minute, "recipient"); !ok {
		w.t.Fatalf("the model did not release; it got %v", w.model.since(n))
	}
	w.takeTurn()
	w.settle()
	return took
}
