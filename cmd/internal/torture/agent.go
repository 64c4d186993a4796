//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// An agent works in the room of its load.
type agent struct {
	*load
	host   *host
	id     string
	random *rand.Rand
	joined bool // see joining
}

const guardOfEdits = "the guard of edits"

// unreachable are the codes of commands that did not reach the engine.
var unreachable = []string{"engine_unreachable", "in_doubt"}

// lost are the codes of commands whose turn is no longer theirs.
var lost = []string{"turn_mismatch", "stale_lease", "no_active_lease"}

// do runs a command of the agent. A command that fails by itself, and not with one of the codes,
// is wrong. Where there is an engine, it may be away, and a guardian that cannot reach it is none.
func (a *agent) do(codes []string, args ...string) *outcome {
	p := a.host.command(append(slices.Clone(args), "--agent", a.id)...)
	if !a.begin(p) {
		return &outcome{line: args, exit: -1}
	}
	a.disturb(p, a.random)
	o := p.result()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = slices.DeleteFunc(a.running, func(q *process) bool { return p == q })
	away := a.host.isRemote() && (o.code == "guardian_failed" || slices.Contains(unreachable, o.code))
	switch {
	case o.hung:
		a.report.wrong("%s hangs: %v", a.id, o)
	case o.disturbed && (o.exit == -1 || o.exit == 128+int(syscall.SIGTERM)):
		a.killed++
	case a.over.closed() && (o.exit == -1 || args[0] == "wait"): // it was ended
	case away, slices.Contains(codes, o.code): // it says so
	case o.code == "" && (o.exit == 0 || o.exit == exitNotYet && a.host.isRemote() || args[0] == "check"):
	default:
		a.report.wrong("%s: %v", a.id, o)
	}
	return o
}

// exitNotYet is the exit status of a wait in vain.
const exitNotYet = 3

// live lets the agent do something again and again in a lane of its own.
func (a *agent) live(do func(*agent)) {
	a.lanes.Go(func() {
		for !a.over.closed() {
			do(a)
		}
	})
}

// joining lets the agent join the room first, which need not be there yet.
func joining(do func(*agent)) func(*agent) {
	return func(a *agent) {
		if a.joined {
			do(a)
		} else if a.joined = a.do(nil, "join").exit == 0; a.joined {
			a.note(func(acks *acks) { acks.joined = append(acks.joined, a.id) })
		}
	}
}

// takeTurn waits for the turn, works, and hands it over. Now and then it says something.
func (a *agent) takeTurn() {
	g := a.granted(a.do(nil, "wait", "--timeout", "5s"))
	if g.Status == turn.TakeoverAvailable {
		g = a.granted(a.do(append([]string{"takeover_not_available", "takeover_ineligible"}, lost...), "take", "--reason", "its time is over"))
	}
	if g.Status == turn.YourTurn {
		a.work(g)
	} else if a.host.isRemote() {
		a.over.sleep(50 * time.Millisecond)
	}
	if a.random.IntN(6) == 0 {
		a.say()
	}
}

// granted notes and returns what a wait or a take granted, perhaps nothing.
func (a *agent) granted(o *outcome) (g grant) {
	if o.exit == 0 && !a.report.check(fmt.Sprintf("%s: %v", a.id, o), json.Unmarshal([]byte(o.stdout), &g)) {
		return grant{}
	}
	g.agent, g.host, g.told = a.id, a.host.n, o
	if g.Status == turn.YourTurn {
		a.note(func(acks *acks) { acks.grants = append(acks.grants, g) })
	}
	return g
}

// work is what happens in a turn. In a load with kills the guardian is killed at times, and at times the agent works on beyond its lease, or forgets its turn.
func (a *agent) work(g grant) {
	w := work{grant: g, begin: time.Now()}
	if d := a.detain.Load(); d != nil && d.host == a.host {
		d.held.close()
		<-d.let.Done()
	}
	dice := 100
	if a.odds > 0 {
		dice = a.random.IntN(100)
	}
	if dice < 8 && owns(a.host.data, g.Guardian) {
		_ = syscall.Kill(g.Guardian, syscall.SIGKILL)
	}
	if dice < 4 && a.lease > 0 {
		for until := time.Now().Add(a.lease + a.lease/2); time.Now().Before(until) && !a.over.closed(); {
			a.ask(g)
		}
	} else {
		a.over.sleep(time.Duration(a.random.Int64N(int64(30 * time.Millisecond))))
	}
	w.end = time.Now()
	a.note(func(acks *acks) { acks.works = append(acks.works, w) })
	if dice >= 8 && dice < 16 {
		return // the next wait gives the turn back
	}
	g.handover = a.text("worked in turn %d", g.Turn)
	o := a.do(lost, "release", "--status", g.handover, "--next-action", "go on")
	a.wrote(g.handover, o)
	if o.exit == 0 {
		a.note(func(acks *acks) { acks.ends = append(acks.ends, g) })
	}
	for a.odds > 0 && slices.Contains(unreachable, o.code) && !a.over.closed() {
		if o = a.ask(g); o.exit == -1 {
			return
		}
	}
}

// ask asks whether the turn is still the agent's: the guard of edits, which answers without
// the engine, and tt check, whose outcome it returns.
func (a *agent) ask(g grant) *outcome {
	edit := fmt.Sprintf(`{"session_id":"s","cwd":%q,"tool_name":"Edit","tool_input":{"file_path":%q}}`, a.host.workspace, a.host.workspace+"/x.go")
	p := a.host.process(a.host.tt, "hook", "edit", "--harness", "claude-code", "--agent", a.id)
	p.Stdin = strings.NewReader(edit)
	guard := p.run()
	if guard.exit != 0 {
		a.report.wrong("%s: %v", a.id, guard)
	}
	check := a.do(nil, "check")
	a.mu.Lock()
	defer a.mu.Unlock()
	if guard.exit == 0 && len(guard.stdout) == 0 {
		a.acks.leaves = append(a.acks.leaves, leave{g, guardOfEdits, guard.began, guard.ended})
	}
	var answer struct {
		Holds bool
		Turn  int64 `json:"turn_id"`
	}
	if check.exit == 0 && json.Unmarshal([]byte(check.stdout), &answer) == nil && answer.Holds && answer.Turn == g.Turn {
		a.acks.leaves = append(a.acks.leaves, leave{g, "tt check", check.began, check.ended})
	}
	return check
}

// say sends a message to everybody.
func (a *agent) say() {
	text := a.text("says something")
	a.wrote(text, a.do(nil, "msg", "send", "room", text))
}

// text is one that nobody else writes.
func (a *agent) text(format string, args ...any) string {
	return fmt.Sprintf("%s %d: %s", a.id, a.random.Uint64(), fmt.Sprintf(format, args...))
}

// wrote notes what a command said of a text that it was to write.
func (a *agent) wrote(text string, o *outcome) {
	a.note(func(acks *acks) { acks.said[text] = o.answer() })
}
