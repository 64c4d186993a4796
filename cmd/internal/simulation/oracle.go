package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// An oracle says what must not happen. The first that it finds ends a run.
type oracle struct {
	class string // of what was found, "" if nothing was
	text  string

	room   *fsroom.Room[*turn.State]
	state  *turn.State // the room now
	truths []string    // now
	reads  []*reading
	undos  []*proc // that go on although somebody else was given the turn

	grants map[int64]string            // lease of each turn that was told to its holder
	events map[int64]string            // type of each event that was told
	took   map[string]identity.Process // by agent: the process that had its last permission
	counts map[string]int
	slept  int64                   // the turn in which the machine did, so that its lease may have run out
	asleep map[int64]time.Duration // for how long it did in each
	back   int64                   // the turn of the room that was put back last, whose records are those of the copy
}

// A reading is a command that says how the room is: what it says was true at one moment of it.
type reading struct {
	p      *proc
	turn   int64
	truths map[string]bool
	claims []string
	over   bool
}

// find notes what is wrong. The class says what kind of fault it is, in words that do not depend on the run.
func (w *world) find(class, format string, args ...any) {
	if w.class == "" {
		w.class, w.text = class, w.named(fmt.Sprintf(format, args...))
		w.logf("FOUND %s: %s", class, w.text)
	}
}

// watch looks at the machine after each step.
func (w *world) watch(changed bool) {
	if before := w.state; changed || before == nil {
		if w.look(); before != nil {
			w.passes(before, w.state)
		}
	}
	w.still()
	if w.state == nil {
		return
	}
	free := machine.IsFree(w.File("lock")) // while a process has it, what its change needs is there in part
	w.truths = w.now(free, w.truths)
	w.reads = slices.DeleteFunc(w.reads, func(r *reading) bool {
		for _, t := range w.truths {
			r.truths[t] = true
		}
		if r.over && free {
			w.judge(r)
		}
		return r.over && free || !r.over && r.p.State == machine.Finished
	})
}

// view reads the room, as a reader beside all processes. It returns nil if it cannot.
func (w *world) view() *fsroom.Snapshot[*turn.State] {
	if machine.ModTime(w.Room).IsZero() {
		return nil
	}
	snap, _ := w.room.View()
	return snap
}

// look reads the room, and returns who holds the turn.
func (w *world) look() (owner string) {
	snap := w.view()
	if snap == nil {
		return ""
	}
	w.state = snap.State
	return w.state.Owner
}

// now returns what is true now of the holder, and of the processes that it depends on: if not settled, what was before.
func (w *world) now(settled bool, before []string) (truths []string) {
	st := w.state
	if st.Owner == "" {
		return append(truths, fmt.Sprint("nobody holds ", st.Turn))
	}
	truths = append(truths, fmt.Sprintf("%s holds %d", st.Owner, st.Turn), st.Owner+" holds")
	if !settled {
		isOther := func(t string) bool { return !strings.HasSuffix(t, " of "+st.Owner) }
		truths = append(truths, slices.DeleteFunc(slices.Clone(before), isOther)...)
	}
	var l turn.Lease
	recorded := w.room.Agent(st.Owner).Read(roomtypes.LeaseFile, &l) && l.Fence == st.Fence()
	guards := func(p *proc) bool {
		return p != nil && p.State != machine.Finished && !p.Frozen && !p.Killed && p.guards == st.Turn
	}
	if recorded && (!guards(w.running(l.Guardian.PID)) || l.Ended.Why != "") || !recorded && !slices.ContainsFunc(w.procs, guards) {
		truths = append(truths, "guardian of "+st.Owner)
	}
	if !w.lives(st.Owner) {
		truths = append(truths, "harness of "+st.Owner)
	}
	return truths
}

// lives reports whether the process lives with which an agent has worked last.
func (w *world) lives(agent string) bool {
	x := w.byAgent(agent)
	p, ok := w.took[agent]
	return x != nil && x.known && !x.ending && (!ok || w.harness(p.PID) != nil)
}

// beginReading begins to watch what is true while the process reads. Nobody holds the first turn where no room is.
func (w *world) beginReading(p *proc) {
	r := &reading{p: p, truths: map[string]bool{"nobody holds 0": w.state == nil}}
	if w.state != nil {
		r.turn = w.state.Turn
	}
	for _, t := range w.truths {
		r.truths[t] = true
	}
	w.reads = append(w.reads, r)
}

// knew reports whether something was true while the process read.
func (w *world) knew(p *proc, what string) bool {
	return slices.ContainsFunc(w.reads, func(r *reading) bool { return r.p == p && r.truths[what] })
}

// says ends a reading. What it says is judged when the lock of the room is free.
func (w *world) says(p *proc, claims ...string) {
	for _, r := range w.reads {
		if r.p == p {
			r.claims, r.over = append(r.claims, claims...), true
		}
	}
}

func (w *world) judge(r *reading) {
	w.counts["readings"]++
	for _, c := range r.claims {
		if !r.truths[c] && !(w.back == r.turn && (strings.HasPrefix(c, "guardian") || strings.HasPrefix(c, "harness"))) {
			what, _, _ := strings.Cut(c, " ")
			class := cmp.Or(map[string]string{
				"guardian": "a reader says that a guardian has ended that lives",
				"harness":  "a reader says that a session has ended that lives",
				"nobody":   "a reader says that nobody holds",
			}[what], "a reader says that somebody holds who did not")
			w.find(class, "%s (%s) says %q, which was never true while it read; true were %q", r.p.Name, r.p.detail, c, slices.Sorted(maps.Keys(r.truths)))
			return
		}
	}
}

var heldBy = regexp.MustCompile(`held by (\S+?) \(turn (\d+)\)`)

// refusedTo is called when a hook refuses a write.
func (w *world) refusedTo(p *proc, x *window, text string) {
	w.counts["refusals"]++
	var claims []string
	if m := heldBy.FindStringSubmatch(text); m != nil {
		who := m[1]
		if who == x.agent && (w.took[who] == x.proc || !w.lives(who)) {
			w.find("a session refuses itself", "%s is refused: %s", x.name, text)
		}
		claims = append(claims, who+" holds "+m[2])
		switch guardian := strings.Contains(text, "the guardian of "+who); {
		case guardian && strings.Contains(text, "has ended"), strings.Contains(text, "no guardian renews the lease of "+who):
			claims = append(claims, "guardian of "+who)
		case !guardian && strings.Contains(text, " of "+who+" has ended"):
			claims = append(claims, "harness of "+who)
		}
	}
	w.says(p, claims...)
}

// answered is called with the answer of a command.
func (w *world) answered(p *proc, x *window, command string, r result) {
	var claims []string
	switch command {
	case "status":
		claims = holding(r.answer, "owner")
	case "state":
		claims = holding(r.object("room"), "owner")
	case "why":
		claims = holding(r.object("turn"), "owner")
	case "wait", "try", "take":
		// It has the turn, and is told so; or it was called, was too late, and is told to wait by itself.
		if r.refusal == "guardian_failed" || r.refusal == "takeover_not_available" {
			w.wantsNot(x.agent)
		}
		switch r.answer["status"] {
		case turn.YourTurn:
			w.granted(p, x, r)
		case turn.NotYet, turn.TakeoverAvailable:
			claims = holding(r.answer, "current_owner")
			x.called = x.called || r.answer["status"] == turn.TakeoverAvailable
			self := r.answer["current_owner"] == x.agent && r.answer["granted_to_pid"] == nil && r.answer["held_by_pid"] == nil
			if self && r.answer["status"] == turn.NotYet && !x.ending {
				w.find("a session refuses itself", "%s %s answers %s", x.name, command, w.said(r))
			}
		}
	case "kick":
		if r.status == 0 {
			w.wantsNot(text(r.answer, "kicked_agent_id"))
		}
	case "undo":
		w.keepTree()
	case "release", "assign", "leave", "close":
		if r.status == 0 {
			if x.hand = false; command == "leave" || command == "close" {
				w.wantsNot(x.agent)
			}
			if seq, ok := r.answer["event_seq"].(float64); ok && !p.older {
				kind := map[string]string{"release": turn.Released, "assign": turn.Passed, "close": turn.Closed}[command]
				if before, ok := w.events[int64(seq)]; ok && before != kind {
					w.find("a number of an event was used twice", "event %v is a %s and was a %s", seq, kind, before)
				}
				w.events[int64(seq)] = kind
			}
		}
	}
	w.says(p, claims...)
}

// holding returns what an answer says of the holder.
func holding(answer map[string]any, field string) (claims []string) {
	n, ok := answer["turn_id"].(float64)
	owner := text(answer, field)
	switch {
	case !ok, owner == "" && (text(answer, "reserved_for") != "" || answer["state"] == turn.StateClosed):
		return nil
	case owner == "":
		return []string{fmt.Sprint("nobody holds ", int64(n))}
	}
	claims = []string{fmt.Sprintf("%s holds %d", owner, int64(n))}
	list, _ := answer["trouble"].([]any)
	for _, t := range list {
		switch t.(map[string]any)["what"] {
		case turn.GuardianEnded:
			claims = append(claims, "guardian of "+owner)
		case turn.HarnessEnded:
			claims = append(claims, "harness of "+owner)
		}
	}
	return claims
}

// granted is called when a window was told that it has the turn.
func (w *world) granted(p *proc, x *window, r result) {
	n, _ := r.answer["turn_id"].(float64)
	lease := text(r.answer, "lease_id") + x.agent
	if before, ok := w.grants[int64(n)]; !ok {
		w.grants[int64(n)] = lease
	} else if before != lease && !p.older {
		w.find("a turn was given twice", "turn %d of %s was told to somebody else before", int64(n), x.name)
	}
	w.given(x)
	for _, y := range w.windows {
		y.called = y.called || y.agent == x.agent
	}
	w.wantsNot(x.agent)
	x.hand = true
	w.took[x.agent] = x.proc
	w.counts["grants"]++
}

// wantsNot is called when an agent wants the turn no more.
func (w *world) wantsNot(agent string) {
	for _, x := range w.windows {
		if x.agent == agent {
			x.refused = false
		}
	}
}
