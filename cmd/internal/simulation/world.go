package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/fsroom"
)

// A world is what happens on a machine: the windows, the acts and the oracles.
type world struct {
	machine.Machine
	machine.Disk
	oracle
	procs   []*proc
	runs    *proc  // that ran last, nil if time has passed since
	base    string // directory with all files of the run
	dir     string // the workspace
	home    string // of its user
	began   time.Time
	log     []string
	steps   int
	onStep  func(changed bool) // after each step; whether the journal or state.json has changed
	last    string             // what the files of the room were like
	policy  map[string]string  // environment of all processes
	program *cli.Program
	windows []*window
	acts    []act             // that meant something
	tree    map[string]string // what those that may write have made of the files of the workspace
	touched int               // the step at which one of them was changed
}

func (w *world) logf(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("  %10.3f ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
}

// A result is what a command of tt has answered.
type result struct {
	status  int
	out     string
	answer  map[string]any // standard output, if it is an object
	refusal string         // code of the error; "" for none
	message string
	failed  string // why a hook has failed
}

// object returns an object in the answer, an empty one if it has none.
func (r result) object(name string) map[string]any {
	v, _ := r.answer[name].(map[string]any)
	return v
}

// text returns a text in an object, "" if it has none.
func text(object map[string]any, name string) string {
	v, _ := object[name].(string)
	return v
}

// tt runs a command of the product as the process p, for a window.
func (w *world) tt(p *proc, x *window, stdin string, args ...string) result {
	var out, errs bytes.Buffer
	env := w.env(p, x, args)
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(stdin), &out, &errs
	r := result{status: w.program.Main(context.Background(), env), out: out.String(), message: errs.String()}
	p.End() // a hook takes it for an error of its own
	if x != nil && args[0] == "hook" {
		x.known = true
	}
	_ = json.Unmarshal(out.Bytes(), &r.answer)
	var failure struct{ Error, Message string }
	if lines := bytes.Split(bytes.TrimSpace(errs.Bytes()), []byte("\n")); json.Unmarshal(lines[len(lines)-1], &failure) == nil {
		r.refusal, r.message = failure.Error, failure.Message
	}
	if r.refusal == "internal" || r.refusal == "corrupt_room" {
		w.find("a command fails: "+r.refusal, "%s %s: %s", p.Name, args[0], r.message)
	}
	if args[0] == "hook" {
		b, _ := os.ReadFile(w.hookLog(p))
		_ = os.Remove(w.hookLog(p))
		if r.failed = w.named(strings.TrimSpace(string(b))); r.failed != "" {
			w.logf("%s fails: %s", p.Name, r.failed)
		}
	}
	return r
}

// hookLog is where the hooks of a process say why they fail.
func (w *world) hookLog(p *proc) string { return filepath.Join(w.base, p.Name+".log") }

// env returns the environment of a process of a window, or of one that nobody's window has started.
func (w *world) env(p *proc, x *window, args []string) *cli.Env {
	set := map[string]string{"TT_SIM_PROCESS": p.Name, "TALKING_STICK_DATA_DIR": w.Data, "HOME": w.home, "USER": "sim",
		"TT_HOOK_LOG": w.hookLog(p)}
	maps.Copy(set, w.policy)
	if x != nil {
		set["CLAUDECODE"], set["CLAUDE_CODE_ENTRYPOINT"] = "1", "cli"
		set["CLAUDE_CODE_SESSION_ID"], set["CLAUDE_PID"] = x.session, fmt.Sprint(x.proc.PID)
	}
	return &cli.Env{
		Args: args, Lookup: func(name string) string { return set[name] }, Dir: w.dir, Home: w.home, Now: time.Now,
		Executable: os.Executable,
	}
}

// machineOf is what the product is told of the machine, as a process sees it.
func (w *world) machineOf(env *cli.Env) *ttcmd.Machine {
	p := w.process(env.Lookup("TT_SIM_PROCESS"))
	if p == nil {
		p = w.aside("none") // it was killed and comes to its end
	}
	m := &ttcmd.Machine{Table: p, Clock: p.Clock, Options: func(o *fsroom.Options) { p.Store(o, &w.Disk) }}
	m.Start = func(args []string, _ *os.File, files ...*os.File) (int, error) { return w.start(p, args, files) }
	m.Kill = w.Kill
	return m
}

// start starts a process in the background, as the product asks for. What records the tree does so at once.
func (w *world) start(p *proc, args []string, files []*os.File) (pid int, err error) {
	p.Point()
	if err := p.Fail("start"); err != nil {
		return 0, err
	}
	switch args[0] {
	case "record":
		w.tt(w.aside(p.Name+".r"), nil, "", args...)
		return p.ID.PID, nil
	case "job-run":
		return w.startJob(p, args[len(args)-1], files)
	}
	p.children++
	child := w.spawn(fmt.Sprintf("%s.%d", p.Name, p.children), 1, func(q *proc) { w.tt(q, nil, "", args...) })
	child.detail = strings.Join(args, " ")
	flag := func(name string) string { return append(args, "", "")[1+slices.Index(append(args, name), name)] }
	if args[0] == "guard" {
		_, _ = fmt.Sscan(flag("--turn"), &child.guards)
	}
	w.logf("%s starts %s: %s for %s", p.Name, child.Name, args[0], w.named(flag("--agent")))
	return child.ID.PID, nil
}

// holder is what is said of the process that has a lock: it is that of the real machine.
var holder = regexp.MustCompile(`: it is held by process .*`)

// named replaces ids by how traces call them.
func (w *world) named(text string) string {
	text = holder.ReplaceAllString(text, "")
	for _, x := range w.windows {
		if x.agent != "" {
			text = strings.ReplaceAll(text, x.agent, x.name)
		}
	}
	return text
}

// brief is the beginning of a text, as traces show it.
func (w *world) brief(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(w.named(text), " for "+w.dir, ""), w.dir, "W")
	return text[:min(len(text), 200)]
}

// said is what a trace shows of an answer.
func (w *world) said(r result) string {
	if r.refusal != "" {
		return w.brief(r.refusal + ": " + r.message)
	}
	var words []string
	for _, key := range []string{"status", "state", "turn_id", "reason", "owner", "current_owner", "reserved_for", "granted_to_pid", "holds"} {
		if v, ok := r.answer[key]; ok {
			words = append(words, fmt.Sprintf("%s=%v", key, v))
		}
	}
	if len(words) == 0 {
		words = append(words, strings.TrimSpace(r.out))
	}
	return w.brief(strings.Join(words, " "))
}
