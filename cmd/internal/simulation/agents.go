package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/identity"
)

// A window is a process of a harness with a session. Several may have the same session.
type window struct {
	name     string
	session  string // id, as the harness exports it
	agent    string // id
	proc     identity.Process
	alive    bool
	inTurn   bool // its model works
	calls    int  // tools that run, or ask for permission
	writing  int  // those of them that were permitted
	holds    int64
	hand     bool // its model was told that it has the turn
	refused  time.Time
	called   bool   // since it was refused
	stopping bool   // the hooks at the end of its model's turn run
	jobs     int    // that run
	lone     bool   // it may write without the turn, since nobody else works there
	reason   string // of the refusal
	watch    string // file that the harness watches; "" for none
	bell     time.Time
}

// A world is what happens on a machine: the windows, the acts and the oracles.
type world struct {
	*Machine
	dir     string
	home    string
	policy  map[string]string // environment of all processes
	program *cli.Program
	windows []*window
	next    int // number of the next process
	oracle  oracle

	touched   int // how often a file of the tree was changed
	lastTouch int // the step
}

// A result is what a command of tt has answered.
type result struct {
	status      int
	out, errors string
	answer      map[string]any // standard output, if it is an object
	refusal     string         // code of the error; "" for none
	message     string
}

// tt runs a command of the product as the process p, for a window.
func (w *world) tt(p *proc, x *window, stdin string, args ...string) result {
	var out, errs bytes.Buffer
	env := w.env(p, x, args)
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(stdin), &out, &errs
	status := w.program.Main(context.Background(), env)
	if p.killed {
		panic(errKilled) // the hook that ran has taken the end for an error of its own
	}
	r := result{status: status, out: out.String(), errors: errs.String()}
	_ = json.Unmarshal(out.Bytes(), &r.answer)
	var failure struct{ Error, Message string }
	if lines := strings.Split(strings.TrimSpace(r.errors), "\n"); json.Unmarshal([]byte(lines[len(lines)-1]), &failure) == nil {
		r.refusal, r.message = failure.Error, failure.Message
	}
	if r.refusal == "internal" || r.refusal == "corrupt_room" {
		w.oracle.find("a command fails: "+r.refusal, "%s %s: %s", p.name, args[0], r.message)
	}
	return r
}

// env returns the environment of a process of a window, or of one that nobody's window has started.
func (w *world) env(p *proc, x *window, args []string) *cli.Env {
	set := map[string]string{"TT_SIM_PROCESS": p.name, "TALKING_STICK_DATA_DIR": w.data, "HOME": w.home, "USER": "sim",
		"TT_HOOK_LOG": filepath.Join(w.base, "hooks.log")}
	for k, v := range w.policy {
		set[k] = v
	}
	if x != nil {
		set["CLAUDECODE"], set["CLAUDE_CODE_ENTRYPOINT"] = "1", "cli"
		set["CLAUDE_CODE_SESSION_ID"], set["CLAUDE_PID"] = x.session, fmt.Sprint(x.proc.PID)
	}
	return &cli.Env{
		Args: args, Lookup: func(name string) string { return set[name] }, Dir: w.dir, Home: w.home, Now: time.Now,
		Executable: os.Executable,
	}
}

// machine is what the product is told of the machine.
func (w *world) machine(env *cli.Env) *ttcmd.Machine {
	p := w.find(env.Lookup("TT_SIM_PROCESS"))
	if p == nil {
		p = &proc{m: w.Machine, name: "none"} // it was killed and comes to its end
	}
	m := &ttcmd.Machine{Table: table{p}, Clock: p.clock, Options: p.options}
	m.Start = func(args []string, _ *os.File, files ...*os.File) (int, error) { return w.start(p, args, files) }
	m.Kill = func(pid int) {
		if q := w.live[pid]; q != nil {
			w.doom(q)
		}
	}
	return m
}

// start starts a process in the background, as the product asks for. What records the tree does so at once.
func (w *world) start(p *proc, args []string, files []*os.File) (pid int, err error) {
	p.point()
	if err := p.fail("start"); err != nil {
		return 0, err
	}
	switch args[0] {
	case "record":
		w.tt(&proc{m: w.Machine, name: p.name + ".r"}, nil, "", args...)
		return p.id.PID, nil
	case "job-run":
		return w.startJob(p, args[len(args)-1], files)
	}
	n := 1
	for w.find(fmt.Sprintf("%s.%d", p.name, n)) != nil || strings.Count(p.children, ".") >= n {
		n++
	}
	p.children += "."
	name := fmt.Sprintf("%s.%d", p.name, n)
	child := w.spawn(name, 1, func(q *proc) { w.tt(q, nil, "", args...) })
	child.detail = strings.Join(args, " ")
	for i, arg := range args {
		if arg == "--agent" {
			child.agent = args[i+1]
		}
		if arg == "--turn" && args[0] == "guard" {
			_, _ = fmt.Sscan(args[i+1], &child.guards)
		}
	}
	w.logf("%s starts %s: %s for %s", p.name, name, args[0], w.nameOf(child.agent))
	return child.id.PID, nil
}

// nameOf returns how traces call an agent.
func (w *world) nameOf(agent string) string {
	for _, x := range w.windows {
		if x.agent == agent && agent != "" {
			return x.name
		}
	}
	return agent
}

// named replaces ids by how traces call them.
func (w *world) named(text string) string {
	for _, x := range w.windows {
		text = strings.ReplaceAll(text, x.agent, x.name)
	}
	return text
}

// window returns the one with a name, nil if there is none.
func (w *world) window(name string) *window {
	for _, x := range w.windows {
		if x.name == name {
			return x
		}
	}
	return nil
}

// open opens a window with a session in a new process.
func (w *world) open(name, session string) *window {
	x := w.window(name)
	if x == nil {
		x = &window{name: name}
		w.windows = append(w.windows, x)
	}
	*x = window{name: name, session: session, proc: w.newProcess("claude"), alive: true}
	w.step(w.spawn("whoami", x.proc.PID, func(p *proc) { x.agent = w.whoami(p, x) }), 0)
	return x
}

// whoami asks the product for the id of a window's agent.
func (w *world) whoami(p *proc, x *window) string {
	id, _ := w.tt(p, x, "", "whoami", "--json").answer["agent_id"].(string)
	return id
}

// hook runs a hook for an event of the harness. It returns why it refuses, "" if it does not.
func (w *world) hook(p *proc, x *window, kind, event string, more map[string]any) (r result, refused string) {
	payload := map[string]any{"session_id": x.session, "cwd": w.dir, "hook_event_name": event}
	for k, v := range more {
		payload[k] = v
	}
	stdin, _ := json.Marshal(payload)
	session := x.session
	r = w.tt(p, x, string(stdin), "hook", kind, "--harness", "claude-code")
	var answer struct {
		Decision, Reason string
		Output           struct {
			Decision string   `json:"permissionDecision"`
			Reason   string   `json:"permissionDecisionReason"`
			Watch    []string `json:"watchPaths"`
		} `json:"hookSpecificOutput"`
	}
	_ = json.Unmarshal([]byte(r.out), &answer)
	if b, err := os.ReadFile(filepath.Join(w.base, "hooks.log")); err == nil { // why it failed
		_ = os.Remove(filepath.Join(w.base, "hooks.log"))
		w.logf("%s (%s) fails: %s", p.name, x.name, w.named(string(bytes.TrimSpace(b))))
	}
	if len(answer.Output.Watch) > 0 && x.session == session {
		x.watch = answer.Output.Watch[0]
		x.bell = modTime(x.watch)
	}
	switch {
	case answer.Output.Decision == "deny":
		return r, answer.Output.Reason
	case answer.Decision == "block":
		return r, answer.Reason
	}
	return r, ""
}

// child starts a process of a window.
func (w *world) child(id string, x *window, what string, run func(*proc)) *proc {
	proc := x.proc
	p := w.spawn(id, proc.PID, run)
	p.window, p.detail = x, what+" of "+x.name
	return p
}

// prompt begins a turn of the model, if none is in progress.
func (w *world) prompt(p *proc, x *window) {
	if !x.inTurn {
		x.inTurn = true
		w.hook(p, x, "context", "UserPromptSubmit", map[string]any{"prompt": "go on"})
	}
}

// edit is a tool call that writes a file for d, if the hook lets it.
func (w *world) edit(id string, x *window, shell bool, d time.Duration) {
	x.calls++
	session := x.session
	p := w.child(id, x, "edit", func(p *proc) {
		defer func() { x.calls-- }()
		w.prompt(p, x)
		w.oracle.beginReading(p)
		before := w.oracle.others(x)
		began := w.steps
		kind, tool := "edit", map[string]any{"tool_name": "Edit", "tool_input": map[string]any{"file_path": filepath.Join(w.dir, "f-"+x.name)}}
		if shell {
			kind, tool = "shell", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "echo x > f-" + x.name}}
		}
		r, refused := w.hook(p, x, kind, "PreToolUse", tool)
		if x.session != session || !x.alive {
			return // nobody runs the tool any more
		}
		if refused != "" {
			w.logf("%s (%s) is refused: %s", p.name, x.name, w.brief(refused))
			w.oracle.refusedTo(p, x, refused)
			if x.refused.IsZero() {
				x.refused, x.called = time.Now(), false
			}
			x.reason = refused
			return
		}
		w.oracle.permitted(p, x, r, before)
		took := strings.Contains(r.out, "You have the turn")
		if w.policy[ledgerVariable] == "on" && (shell || took) && !x.lone && w.lastTouch < began && p.failed == "" && !p.away {
			w.oracle.restorable(p, x)
		}
		w.touch("f-" + x.name)
		x.writing++
		defer func() { x.writing-- }()
		p.sleep(d)
		if x.session != session || !x.alive {
			return
		}
		w.logf("%s (%s) has written", p.name, x.name)
		x.writing--
		defer func() { x.writing++ }()
		w.hook(p, x, "context", "PostToolUse", tool)
	})
	p.tool = true
}

// brief is the first sentence of a text.
func (w *world) brief(text string) string {
	text = w.named(text)
	if i := strings.Index(text, " for "+w.dir); i >= 0 {
		text = text[:i] + text[i+len(" for "+w.dir):]
	}
	return text[:min(len(text), 160)]
}

// idle ends the turn of a window's model.
func (w *world) idle(id string, x *window, fails bool) {
	x.stopping = true
	w.child(id, x, "stop", func(p *proc) {
		defer func() { x.stopping = false }()
		if fails {
			w.hook(p, x, "fails", "StopFailure", map[string]any{"error": "rate_limit"})
			x.inTurn = false
			return
		}
		_, refused := w.hook(p, x, "stop", "Stop", map[string]any{"stop_hook_active": false, "last_assistant_message": "r"})
		if refused != "" {
			w.logf("%s (%s) goes on: %s", p.name, x.name, w.brief(refused))
			x.called = x.called || strings.Contains(refused, "reserved for you") || strings.Contains(refused, "offered to you")
			x.hand = x.hand || strings.Contains(refused, "You still hold")
			return
		}
		x.inTurn = false
		w.logf("%s (%s) ends its model's turn", p.name, x.name)
	})
}

// listen is the background hook at the end of a turn, which wakes the model.
func (w *world) listen(id string, x *window) {
	session := x.session
	w.child(id, x, "listen", func(p *proc) {
		r, _ := w.hook(p, x, "listen", "Stop", map[string]any{"stop_hook_active": false})
		w.woken(p, x, session, r)
	})
}

// bell runs the hook of a harness whose watched file has changed.
func (w *world) bellRings(id string, x *window) {
	x.bell = modTime(x.watch)
	session := x.session
	w.child(id, x, "bell", func(p *proc) {
		r, _ := w.hook(p, x, "file-changed", "FileChanged", map[string]any{"file_path": x.watch, "event": "change"})
		w.woken(p, x, session, r)
	})
}

// woken begins a turn of the model if a hook says so.
func (w *world) woken(p *proc, x *window, session string, r result) {
	if r.status == 0 {
		w.logf("%s (%s) is not woken", p.name, x.name)
	}
	if r.status == 2 && x.alive && x.session == session {
		w.logf("%s wakes %s: %s", p.name, x.name, w.brief(r.errors))
		x.called = true
		w.prompt(p, x)
	}
}

// begin is the hook at the beginning of a session.
func (w *world) begin(id string, x *window, source string) {
	w.child(id, x, "begin", func(p *proc) { w.hook(p, x, "session-start", "SessionStart", map[string]any{"source": source}) })
}

// die ends the process of a window at once, and what it has started but the background.
func (w *world) die(x *window) {
	x.alive, x.writing, x.inTurn = false, 0, false
	w.exit(x.proc)
	for _, p := range w.procs {
		if p.window == x && p.state != finished {
			w.kill(p)
		}
	}
	x.calls, x.writing = 0, 0
}

// end is the hook at the end of a session. With then, it is called after it.
func (w *world) endSession(id string, x *window, then func(p *proc)) {
	w.child(id, x, "end", func(p *proc) {
		w.hook(p, x, "session-end", "SessionEnd", map[string]any{"reason": "prompt_input_exit"})
		then(p)
	})
}

// command runs a command of the model and looks at its answer.
func (w *world) command(id string, x *window, args ...string) {
	reads := map[string]bool{"status": true, "state": true, "why": true, "list": true, "check": true}[args[0]]
	session := x.session
	p := w.child(id, x, strings.Join(args, " "), func(p *proc) {
		w.oracle.beginReading(p)
		r := w.tt(p, x, "", slices.Insert(slices.Clone(args), 1+slices.Index([]string{"job"}, args[0])+1, "--json")...)
		w.logf("%s (%s) %s: %s", p.name, x.name, strings.Join(args, " "), w.said(r))
		if x.session == session && x.alive {
			w.oracle.answered(p, x, args, r, reads)
		}
	})
	p.tool = !reads
}

// said is what a trace shows of an answer.
func (w *world) said(r result) string {
	var words []string
	for _, key := range []string{"status", "state", "turn_id", "reason", "owner", "current_owner", "reserved_for", "granted_to_pid", "holds"} {
		if v, ok := r.answer[key]; ok {
			words = append(words, fmt.Sprintf("%s=%v", key, v))
		}
	}
	if r.refusal != "" {
		words = append(words, r.refusal+": "+r.message)
	}
	if len(words) == 0 {
		words = append(words, strings.TrimSpace(r.out))
	}
	text := strings.ReplaceAll(w.named(strings.Join(words, " ")), w.dir, "W")
	return text[:min(len(text), 200)]
}
