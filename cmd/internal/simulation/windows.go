package simulation

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
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
	offered  bool // its model was told that the turn is reserved for it
	hand     bool // its model was told that it has the turn
	refused  bool
	called   bool   // since it was refused
	stopping bool   // the hook at the end of its model's turn runs
	unheard  bool   // the one that the harness runs beside that in the background has yet to
	ending   bool   // the hook at the end of its session runs
	known    bool   // a hook of it has run
	reason   string // of the refusal
	watch    string // file that the harness watches; "" for none
	bell     time.Time
}

// rings reports whether the file has changed that the harness watches.
func (x *window) rings() bool { return x.watch != "" && !machine.ModTime(x.watch).Equal(x.bell) }

// calls returns the tools of a window that run, or ask for permission.
func (w *world) calls(x *window) (n int) {
	for _, p := range w.procs {
		if p.window == x && strings.HasPrefix(p.detail, "edit") {
			n++
		}
	}
	return n
}

// window returns the one with a name, nil if there is none.
func (w *world) window(name string) *window {
	return one(w.windows, func(x *window) bool { return x.name == name })
}

// byAgent returns the living window of an agent, nil if there is none.
func (w *world) byAgent(agent string) *window {
	return one(w.windows, func(x *window) bool { return x.agent == agent && x.alive })
}

// harness returns the living window of a process, nil if there is none.
func (w *world) harness(pid int) *window {
	return one(w.windows, func(x *window) bool { return x.proc.PID == pid && x.alive })
}

// open opens a window with a session in a new process.
func (w *world) open(a act) bool {
	x := w.window(a.arg(0))
	switch {
	case x == nil:
		x = &window{}
		w.windows = append(w.windows, x)
	case x.alive:
		return false
	}
	w.step(w.spawn("whoami", 1, func(p *proc) {
		*x = window{name: a.arg(0), session: a.arg(1), proc: w.NewID(), alive: true}
		w.whoami(p, x)
	}), 0)
	w.child(a.arg(2), x, "begin", func(p *proc) { w.hook(p, x, "session-start", "SessionStart", map[string]any{"source": "startup"}) })
	return true
}

// whoami asks the product for the id of a window's agent.
func (w *world) whoami(p *proc, x *window) {
	x.agent = text(w.tt(p, x, "", "whoami", "--json").answer, "agent_id")
}

// over is what a session is told that has no turn to wait for.
var over = regexp.MustCompile(`the room at .* has ended|you were removed`)

// hook runs a hook for an event of the harness. It returns why it refuses, "" if it does not.
func (w *world) hook(p *proc, x *window, kind, event string, more map[string]any) (r result, refused string) {
	payload := map[string]any{"session_id": x.session, "cwd": w.dir, "hook_event_name": event}
	maps.Copy(payload, more)
	stdin, _ := json.Marshal(payload)
	session := x.session
	r = w.tt(p, x, string(stdin), "hook", kind, "--harness", "claude-code")
	if (kind == "context" || kind == "stop") && over.MatchString(r.out) {
		w.wantsNot(x.agent)
	}
	output := r.object("hookSpecificOutput")
	if paths, _ := output["watchPaths"].([]any); len(paths) > 0 && x.session == session {
		x.watch, _ = paths[0].(string)
		x.bell = machine.ModTime(x.watch)
	}
	switch {
	case output["permissionDecision"] == "deny":
		return r, text(output, "permissionDecisionReason")
	case r.answer["decision"] == "block":
		return r, text(r.answer, "reason")
	}
	return r, ""
}

// child starts a process of a window.
func (w *world) child(id string, x *window, what string, run func(*proc)) *proc {
	p := w.spawn(id, x.proc.PID, run)
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

// edit is a tool call that writes a file for some time, by a command of the shell or not, if the hook lets it.
func (w *world) edit(a act) bool {
	x, session, shell := a.x, a.x.session, a.verb == "shell"
	gone := func() bool { return x.session != session || !x.alive }
	w.child(a.arg(1), x, "edit", func(p *proc) {
		w.prompt(p, x)
		w.beginReading(p)
		others, began := w.others(x), w.steps
		file := "f-" + x.name
		kind, tool := "edit", map[string]any{"tool_name": "Edit", "tool_input": map[string]any{"file_path": filepath.Join(w.dir, file)}}
		if shell {
			kind, tool = "shell", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "echo x > " + file}}
		}
		r, refused := w.hook(p, x, kind, "PreToolUse", tool)
		if gone() {
			return // nobody runs the tool any more
		}
		if refused != "" {
			w.logf("%s (%s) is refused: %s", p.Name, x.name, w.brief(refused))
			w.refusedTo(p, x, refused)
			if !x.refused && !p.older {
				x.refused = true
				for _, y := range w.windows { // what has called it before counts no more
					y.called = y.called && y.agent != x.agent
				}
			}
			x.reason = refused
			return
		}
		took := strings.Contains(r.out, "You have the turn")
		w.permitted(p, x, r, took, others)
		if w.policy[ledgerVariable] == "on" && !p.excused && w.touched < began && p.Failed == "" {
			what := file
			if shell || took { // it may write whatever it likes
				what = ""
			}
			w.restorable(x, what)
		}
		w.touch(file)
		p.writer = x
		p.Sleep(a.ms(2))
		if p.writer = nil; gone() {
			return
		}
		w.logf("%s (%s) has written", p.Name, x.name)
		w.hook(p, x, "context", "PostToolUse", tool)
	}).tool = true
	return true
}

// idle ends the turn of a window's model, or fails does.
func (w *world) idle(a act) bool {
	x, fails := a.x, a.verb == "fails"
	x.stopping, x.unheard = true, !fails
	w.child(a.arg(1), x, "stop", func(p *proc) {
		defer func() { x.stopping = false }()
		if fails {
			w.hook(p, x, "fails", "StopFailure", map[string]any{"error": cmp.Or(a.arg(2), "rate_limit")})
			if x.inTurn = false; x.watch == "" { // the hook that says what to watch was killed: nothing is left that could call it
				x.refused = false
			}
			return
		}
		_, refused := w.hook(p, x, "stop", "Stop", map[string]any{"stop_hook_active": false, "last_assistant_message": "r"})
		if x.inTurn = refused != ""; x.inTurn {
			w.logf("%s (%s) goes on: %s", p.Name, x.name, w.brief(refused))
			x.called = x.called || strings.Contains(refused, "reserved for you") || strings.Contains(refused, "offered to you")
			x.offered = strings.Contains(refused, "reserved for you")
			x.hand = x.hand || strings.Contains(refused, "You still hold")
			return
		}
		w.logf("%s (%s) ends its model's turn", p.Name, x.name)
	})
	return true
}

// listen is a hook in the background that wakes the model: at the end of its turn, or with bell when the file has changed
// that the harness watches.
func (w *world) listen(a act) bool {
	x, session := a.x, a.x.session
	kind, event, more := "listen", "Stop", map[string]any{"stop_hook_active": false}
	if a.verb == "bell" {
		x.bell = machine.ModTime(x.watch)
		kind, event, more = "file-changed", "FileChanged", map[string]any{"file_path": x.watch, "event": "change"}
	} else {
		x.unheard = false
	}
	w.child(a.arg(1), x, a.verb, func(p *proc) {
		r, _ := w.hook(p, x, kind, event, more)
		if r.status == 0 {
			w.logf("%s (%s) is not woken", p.Name, x.name)
		}
		if r.status == 2 && x.alive && x.session == session {
			w.logf("%s wakes %s: %s", p.Name, x.name, w.brief(r.message))
			x.called = true
			w.prompt(p, x)
		}
	})
	return true
}

// kill ends a process. If it was to tell a session that the room has ended, nobody is left that could. A session does
// not go on because the hook at its end is killed: its process ends with it.
func (w *world) kill(p *proc) {
	if s := w.state; s != nil && !s.Open && strings.HasPrefix(p.detail, "bell") {
		w.wantsNot(p.window.agent)
	}
	w.Kill(p.ID.PID)
	if x := p.window; x != nil && x.ending && strings.HasPrefix(p.detail, "end ") {
		w.die(x)
	}
}

// die ends the process of a window at once, and what it has started but the background.
func (w *world) die(x *window) {
	x.alive, x.inTurn = false, false
	w.Stir()
	w.stop(x, func(*proc) bool { return true })
}

// stop ends processes of a window. Nothing writes by it any more, for a job of a session that has ended keeps no turn.
func (w *world) stop(x *window, which func(*proc) bool) {
	for _, p := range w.procs {
		if p.window == x && which(p) {
			w.Kill(p.ID.PID)
		}
		if p.writer == x {
			p.writer = nil
		}
	}
}

// endSession is the hook at the end of a session. Then the process of its window ends, or clear begins another
// session in it.
func (w *world) endSession(a act) bool {
	x, process := a.x, a.x.proc
	x.stopping = true
	w.child(a.args[len(a.args)-1], x, "end", func(p *proc) {
		x.ending = true
		defer func() { x.ending, x.stopping = false, false }()
		w.hook(p, x, "session-end", "SessionEnd", map[string]any{"reason": "prompt_input_exit"})
		switch {
		case x.proc != process || !x.alive:
			return
		case a.verb == "quit":
			w.die(x)
			return
		}
		w.stop(x, func(p *proc) bool { return p.tool }) // what its model waited for goes on no more
		*x = window{name: x.name, session: a.arg(1), proc: x.proc, alive: true}
		w.whoami(p, x)
		w.hook(p, x, "session-start", "SessionStart", map[string]any{"source": "clear"})
	})
	return true
}

// command runs a command of the model and looks at its answer.
func (w *world) command(a act) bool {
	x, session, args, at := a.x, a.x.session, a.args[2:], 1
	if args[0] == "job" {
		at = 2
	}
	w.child(a.arg(1), x, strings.Join(args, " "), func(p *proc) {
		w.beginReading(p)
		r := w.tt(p, x, "", slices.Insert(slices.Clone(args), at, "--json")...)
		w.logf("%s (%s) %s: %s", p.Name, x.name, strings.Join(args, " "), w.said(r))
		if x.session == session && x.alive {
			w.answered(p, x, args[0], r)
		}
	}).tool = !slices.Contains([]string{"status", "state", "why", "list", "check"}, args[0])
	return true
}
