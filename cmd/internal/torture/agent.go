//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// An agent takes turns on its host.
type agent struct {
	*trial
	host   *host
	id     string
	random *rand.Rand
	tries  int
}

// A work is what an agent did in a turn, from its begin to its end.
type work struct {
	grant
	begin, end time.Time
}

// A leave is an answer that the turn is still the agent's: of tt check, or of the guard of
// edits.
type leave struct {
	grant
	of              string
	asked, answered time.Time
}

const guardOfEdits = "the guard of edits"

// unreachable are the codes of commands that did not reach the engine.
var unreachable = []string{"engine_unreachable", "in_doubt"}

// waiting are the codes of a wait. A guardian that cannot reach the engine is no
// guardian; the next wait starts another one.
var waiting = append([]string{"guardian_failed"}, unreachable...)

// lost are the codes of commands whose turn is no longer theirs.
var lost = append([]string{"turn_mismatch", "stale_lease", "no_active_lease"}, unreachable...)

// do runs a command of the agent. A command that fails otherwise than with one of the codes is
// wrong. At times it is killed, if that is part of the trial.
func (a *agent) do(codes []string, args ...string) *outcome {
	var kill time.Duration
	if a.kills && a.random.IntN(12) == 0 {
		kill = time.Duration(1 + a.random.Int64N(int64(60*time.Millisecond)))
	}
	o := a.host.run(kill, append(args, "--agent", a.id)...)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case o.hung:
		a.report.wrong("%s hangs: %v", a.id, o)
	case o.exit == -1 && kill > 0:
		a.report.kills++
	case o.code != "":
		a.codes[o.code]++
		if !slices.Contains(codes, o.code) {
			a.report.wrong("%s: %v", a.id, o)
		}
	case o.exit != 0 && o.exit != exitNotYet && args[0] != "check":
		a.report.wrong("%s: %v", a.id, o)
	}
	return o
}

// exitNotYet is the exit status of a wait in vain.
const exitNotYet = 3

func (a *agent) live() {
	for !a.over.closed() {
		if !a.takeTurn() {
			a.over.sleep(50 * time.Millisecond)
		}
		if a.random.IntN(6) == 0 {
			a.say()
		}
	}
}

// takeTurn waits for the turn, works, and hands it over. It reports whether it had one.
func (a *agent) takeTurn() bool {
	g := a.granted(a.do(waiting, "wait", "--timeout", "3s"))
	if g.Status == turn.TakeoverAvailable {
		g = a.granted(a.do(append([]string{"takeover_not_available", "takeover_ineligible", "guardian_failed"}, lost...), "take", "--reason", "its time is over"))
	}
	if g.Status != turn.YourTurn {
		return false
	}
	a.work(g)
	return true
}

// granted notes and returns what a wait or a take granted, perhaps nothing.
func (a *agent) granted(o *outcome) (g grant) {
	if o.exit != 0 {
		return g
	}
	if err := json.Unmarshal([]byte(o.stdout), &g); err != nil {
		a.report.wrong("%s: %v: %v", a.id, o, err)
		return grant{}
	}
	g.agent, g.told = a.id, o
	if g.Status == turn.YourTurn {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.grants = append(a.grants, g)
	}
	return g
}

// work is what happens in a turn. In a trial with kills the guardian is killed at times, and
// at times the agent works on beyond its lease, or forgets its turn.
func (a *agent) work(g grant) {
	w := work{grant: g, begin: time.Now()}
	if d := a.detain.Load(); d != nil && d.host == a.host {
		d.held.close()
		<-d.let.done
	}
	dice := 100
	if a.kills {
		dice = a.random.IntN(100)
	}
	if dice < 8 && slices.Contains(processesOf(a.host.dir), g.Guardian) {
		_ = syscall.Kill(g.Guardian, syscall.SIGKILL)
	}
	if dice < 4 {
		for until := time.Now().Add(a.lease + a.lease/2); time.Now().Before(until) && !a.over.closed(); {
			a.ask(g)
		}
	} else {
		a.over.sleep(time.Duration(a.random.Int64N(int64(30 * time.Millisecond))))
	}
	w.end = time.Now()
	a.mu.Lock()
	a.record = append(a.record, w)
	a.mu.Unlock()
	if dice >= 8 && dice < 14 {
		return // the next wait gives the turn back
	}
	text := a.text("worked in turn %d", g.Turn)
	o := a.do(lost, "release", "--status", text, "--next-action", "go on")
	a.wrote(text, o)
	for a.kills && o.code != "" && slices.Contains(unreachable, o.code) && !a.over.closed() {
		if o = a.ask(g); o.exit == -1 {
			return
		}
	}
}

// ask asks whether the turn is still the agent's: the guard of edits, which answers without
// the engine, and tt check, whose outcome it returns.
func (a *agent) ask(g grant) *outcome {
	edit := fmt.Sprintf(`{"session_id":"s","cwd":%q,"tool_name":"Edit","tool_input":{"file_path":%q}}`, a.host.workspace(), a.host.workspace()+"/x.go")
	guard := a.host.exec(0, edit, "hook", "edit", "--harness", "claude-code", "--agent", a.id)
	if guard.exit != 0 {
		a.report.wrong("%s: %v", a.id, guard)
	}
	check := a.do(unreachable, "check")
	a.mu.Lock()
	defer a.mu.Unlock()
	if guard.exit == 0 && len(guard.stdout) == 0 {
		a.leaves = append(a.leaves, leave{g, guardOfEdits, guard.began, guard.ended})
	}
	var answer struct {
		Holds bool
		Turn  int64 `json:"turn_id"`
	}
	if check.exit == 0 && json.Unmarshal([]byte(check.stdout), &answer) == nil && answer.Holds && answer.Turn == g.Turn {
		a.leaves = append(a.leaves, leave{g, "tt check", check.began, check.ended})
	}
	return check
}

// say sends a message to everybody.
func (a *agent) say() {
	text := a.text("says something")
	a.wrote(text, a.do(append([]string{"not_joined", "room_not_found"}, unreachable...), "msg", "send", "room", text))
}

// text is one that nobody else writes.
func (a *agent) text(format string, args ...any) string {
	a.tries++
	return fmt.Sprintf("%s %d: %s", a.id, a.tries, fmt.Sprintf(format, args...))
}

// wrote notes what a command said of a text that it was to write.
func (a *agent) wrote(text string, o *outcome) {
	said := refused
	switch {
	case o.exit == 0:
		said = acknowledged
	case o.code == "in_doubt" || o.code == "":
		said = doubtful
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said[text] = said
}
