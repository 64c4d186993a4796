package simulation

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// An oracle says what must not happen. The first that it finds ends a run.
type oracle struct {
	w     *world
	class string // of what was found, "" if nothing was
	text  string

	store  *fsroom.Store
	stamp  string
	state  *turn.State // the room now
	truths []string    // now
	reads  []*reading

	grants map[int64]string            // lease of each turn that was told to its holder
	events map[int64]string            // type of each event that was told
	took   map[string]identity.Process // by agent: the process that had its last permission
	counts map[string]int
}

// A reading is a command that says how the room is: what it says was true at one moment of it.
type reading struct {
	p      *proc
	truths map[string]bool
	claims []string
	over   bool
}

// find notes what is wrong. The class says what kind of fault it is, in words that do not depend on the
// run.
func (o *oracle) find(class, format string, args ...any) {
	if o.class == "" {
		o.class, o.text = class, o.w.named(fmt.Sprintf(format, args...))
		o.w.logf("FOUND %s: %s", class, o.text)
	}
}

// watch looks at the machine after each step.
func (o *oracle) watch() {
	if o.w.lastFail != "" {
		o.find("panic", "%s", o.w.lastFail)
	}
	if stamp := o.w.disk.stamp(); stamp != o.stamp || o.state == nil {
		o.stamp = stamp
		if snap := o.view(); snap != nil {
			o.state = snap
		}
	}
	if o.state == nil {
		return
	}
	locks := o.w.glob("rooms/*/lock") // while a process has it, what its change needs is there in part
	free := len(locks) == 0 || isFree(locks[0])
	o.truths = o.now(o.truths[:0], free)
	o.reads = slices.DeleteFunc(o.reads, func(r *reading) bool {
		for _, t := range o.truths {
			r.truths[t] = true
		}
		if r.over && free {
			o.judge(r)
		}
		return r.over && free || !r.over && r.p.state == finished
	})
}

// view reads the room, as a reader beside all processes.
func (o *oracle) view() *turn.State {
	r := o.room()
	if r == nil {
		return nil
	}
	snap, err := r.View()
	if err != nil {
		return nil
	}
	return snap.State
}

// room returns the room of the workspace, nil if there is none.
func (o *oracle) room() *fsroom.Room[*turn.State] {
	rooms := o.w.glob("rooms/*")
	if len(rooms) == 0 {
		return nil
	}
	if o.store == nil {
		o.store, _ = fsroom.Open(o.w.data, fsroom.Options{NoWatch: true})
	}
	return fsroom.At(o.store, roomtypes.Stick(), filepath.Base(rooms[0]))
}

// now returns what is true now of the holder, and if settled of the processes that it depends on.
func (o *oracle) now(truths []string, settled bool) []string {
	st := o.state
	if st.Owner == "" {
		return append(truths, fmt.Sprint("nobody holds ", st.Turn))
	}
	truths = append(truths, fmt.Sprintf("%s holds %d", st.Owner, st.Turn), st.Owner+" holds")
	if !settled {
		return truths
	}
	var l turn.Lease
	recorded := o.room().Agent(st.Owner).Read(roomtypes.LeaseFile, &l) && l.Fence == st.Fence()
	guards := func(p *proc) bool {
		return p != nil && p.state != finished && !p.frozen && !p.killed && p.guards == st.Turn
	}
	if recorded && (!guards(o.w.live[l.Guardian.PID]) || l.Ended.Why != "") || !recorded && !slices.ContainsFunc(o.w.procs, guards) {
		truths = append(truths, "guardian of "+st.Owner)
	}
	if !o.lives(st.Owner) {
		truths = append(truths, "harness of "+st.Owner)
	}
	return truths
}

// lives reports whether the process lives with which an agent has worked last.
func (o *oracle) lives(agent string) bool {
	x := o.w.byAgent(agent)
	p, ok := o.took[agent]
	_, lives := o.w.others[p.PID]
	return x != nil && (lives || !ok)
}

// beginReading begins to watch what is true while the process reads.
func (o *oracle) beginReading(p *proc) {
	r := &reading{p: p, truths: map[string]bool{}}
	for _, t := range o.truths {
		r.truths[t] = true
	}
	o.reads = append(o.reads, r)
}

// knew reports whether something was true while the process read.
func (o *oracle) knew(p *proc, what string) bool {
	return slices.ContainsFunc(o.reads, func(r *reading) bool { return r.p == p && r.truths[what] })
}

// says ends a reading. What it says is judged when the lock of the room is free.
func (o *oracle) says(p *proc, claims ...string) {
	for _, r := range o.reads {
		if r.p == p {
			r.claims, r.over = append(r.claims, claims...), true
		}
	}
}

func (o *oracle) judge(r *reading) {
	o.counts["readings"]++
	for _, c := range r.claims {
		if !r.truths[c] {
			what := strings.Fields(c)
			class := "a reader says that somebody holds who did not"
			switch {
			case what[0] == "guardian":
				class = "a reader says that a guardian has ended that lives"
			case what[0] == "harness":
				class = "a reader says that a session has ended that lives"
			case what[0] == "nobody":
				class = "a reader says that nobody holds"
			}
			o.find(class, "%s (%s) says %q, which was never true while it read; true were %q", r.p.name, r.p.detail, c, slices.Sorted(maps.Keys(r.truths)))
			return
		}
	}
}

// overrun is called when writes in progress lose their turn by an act against which no order helps: a person
// says so, or the machine was away for longer than a lease. by is the window that did it, nil for none.
func (o *oracle) overrun(by *window) {
	for _, x := range o.w.windows {
		x.lone = x.lone || x != by
	}
	for _, p := range o.w.procs {
		p.away = p.away || p.window != by
	}
}

// others reports whether another session is known to work in the tree.
func (o *oracle) others(x *window) bool {
	places := o.w.glob("places/*/*")
	return slices.ContainsFunc(places, func(path string) bool {
		y := o.w.byAgent(filepath.Base(path))
		return y != nil && y.agent != x.agent && y.alive
	}) && slices.ContainsFunc(places, func(path string) bool { return filepath.Base(path) == x.agent })
}

// byAgent returns the living window of an agent, nil if there is none.
func (w *world) byAgent(agent string) *window {
	for _, x := range w.windows {
		if x.agent == agent && x.alive {
			return x
		}
	}
	return nil
}

// permitted is called when a hook lets a window write. others is whether it knew before that
// somebody else works there.
func (o *oracle) permitted(p *proc, x *window, r result, others bool) {
	w, how := o.w, "holds"
	owner := ""
	if st := o.view(); st != nil {
		o.state, owner = st, st.Owner
	}
	switch {
	case strings.Contains(r.out, "You have the turn"):
		how = "took the turn"
	case owner != x.agent && p.failed == string(fsroom.StepLoad):
		how = "could not be told"
	case owner != x.agent && p.away:
		how = "was away"
	case owner != x.agent && o.knew(p, x.agent+" holds"):
		how = "held when it looked"
	case owner != x.agent && others:
		how = "was let pass without the turn"
	case owner != x.agent:
		how = "is alone"
	}
	o.counts["writes"]++
	w.logf("%s (%s) WRITES: it %s", p.name, x.name, how)
	o.says(p)
	if how == "was let pass without the turn" && (owner != "" || r.refusal != "") {
		o.find("a write is let pass without the turn", "%s may write beside %s", x.name, owner)
	}
	x.lone = how == "is alone" || how == "could not be told" || p.away
	if !x.lone {
		o.took[x.agent] = x.proc
		for _, y := range w.windows {
			if y != x && y.writing+y.jobs > 0 && y.alive && !y.lone {
				o.find(fmt.Sprintf("two write at once: one %s", how), "%s %s and writes while %s writes", x.name, how, y.name)
			}
		}
	}
	if x.agent == owner {
		x.called = true
	}
	x.refused = time.Time{}
}

// ledgerVariable switches the ledger.
const ledgerVariable = "TALKING_STICK_LEDGER"

// restorable is called when a window may write whatever it likes: what is in the tree is recorded then.
func (o *oracle) restorable(p *proc, x *window) {
	for _, y := range o.w.windows {
		if y != x && (y.writing > 0 || y.jobs > 0) {
			return // it changes the tree meanwhile
		}
	}
	if o.counts["beginnings"]++; x.writing == 0 && x.jobs == 0 && !o.w.isRecorded() {
		o.find("the beginning is not recorded", "%s may write in turn %d, and nothing has what the tree is now", x.name, o.state.Turn)
	}
}

var heldBy = regexp.MustCompile(`held by (\S+?)(?: \(turn (\d+)\)|[,.])`)

// refusedTo is called when a hook refuses a write.
func (o *oracle) refusedTo(p *proc, x *window, text string) {
	o.counts["refusals"]++
	var claims []string
	if m := heldBy.FindStringSubmatch(text); m != nil && m[2] != "" {
		claims = append(claims, m[1]+" holds "+m[2])
		if m[1] == x.agent && (o.took[m[1]] == x.proc || !o.lives(m[1])) {
			o.find("a session refuses itself", "%s is refused: %s", x.name, text)
		}
		claims = append(claims, troubles(text, m[1])...)
	}
	o.says(p, claims...)
}

// troubles returns what a text says of the processes of a holder.
func troubles(text, holder string) (claims []string) {
	if strings.Contains(text, "the guardian of "+holder) && strings.Contains(text, "has ended") || strings.Contains(text, "no guardian renews the lease of "+holder) {
		claims = append(claims, "guardian of "+holder)
	}
	if strings.Contains(text, " of "+holder+" has ended") && !strings.Contains(text, "the guardian of "+holder) {
		claims = append(claims, "harness of "+holder)
	}
	return claims
}

// answered is called with the answer of a command.
func (o *oracle) answered(p *proc, x *window, args []string, r result, reads bool) {
	object := func(name string) map[string]any { v, _ := r.answer[name].(map[string]any); return v }
	var claims []string
	switch args[0] {
	case "status":
		claims = holding(r.answer, "owner")
	case "state":
		claims = holding(object("room"), "owner")
	case "why":
		claims = holding(object("turn"), "owner")
	case "wait", "try", "take":
		status, _ := r.answer["status"].(string)
		switch status {
		case turn.YourTurn:
			if r.answer["reason"] == turn.ReasonOperator {
				o.overrun(x)
			}
			o.granted(x, r)
		case turn.NotYet, turn.TakeoverAvailable:
			claims = holding(r.answer, "current_owner")
			if r.answer["current_owner"] == x.agent && r.answer["granted_to_pid"] == nil && r.answer["held_by_pid"] == nil {
				o.find("a session refuses itself", "%s %s answers %s", x.name, args[0], o.w.said(r))
			}
		}
	case "kick":
		if r.status == 0 {
			o.overrun(x)
		}
	case "release", "assign", "leave", "close":
		if r.refusal == "" && r.status == 0 {
			x.hand, x.lone = false, true // what still runs is its own doing
			if args[0] == "leave" || args[0] == "close" {
				x.refused = time.Time{}
			}
			for _, q := range o.w.procs {
				q.away = q.away || q.window == x
			}
			if seq, ok := r.answer["event_seq"].(float64); ok {
				o.told(int64(seq), map[string]string{"release": turn.Released, "assign": turn.Passed, "close": turn.Closed}[args[0]])
			}
		}
	}
	o.says(p, claims...)
}

// holding returns what an answer says of the holder.
func holding(answer map[string]any, field string) (claims []string) {
	if answer == nil {
		return nil
	}
	owner, _ := answer[field].(string)
	n, _ := answer["turn_id"].(float64)
	if owner == "" {
		if reserved, _ := answer["reserved_for"].(string); reserved == "" && answer["state"] != turn.StateClosed {
			claims = append(claims, fmt.Sprint("nobody holds ", int64(n)))
		}
		return claims
	}
	claims = append(claims, fmt.Sprintf("%s holds %d", owner, int64(n)))
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
func (o *oracle) granted(x *window, r result) {
	n, _ := r.answer["turn_id"].(float64)
	lease, _ := r.answer["lease_id"].(string)
	before, ok := o.grants[int64(n)]
	if ok && before != lease+x.agent {
		o.find("a turn was given twice", "turn %d of %s was told to somebody else before", int64(n), x.name)
	}
	o.grants[int64(n)] = lease + x.agent
	x.refused = time.Time{}
	x.hand = true
	o.took[x.agent] = x.proc
	o.counts["grants"]++
}

// told notes an event that was acknowledged.
func (o *oracle) told(seq int64, kind string) {
	if before, ok := o.events[seq]; ok && before != kind {
		o.find("a number of an event was used twice", "event %d is a %s and was a %s", seq, kind, before)
	}
	o.events[seq] = kind
}

// forget drops what was acknowledged after the moment to which the room was put back by its user.
func (o *oracle) forget() {
	if st := o.view(); st != nil {
		o.state = st
		maps.DeleteFunc(o.grants, func(n int64, _ string) bool { return n > st.Turn })
		maps.DeleteFunc(o.events, func(n int64, _ string) bool { return n > st.Seq })
	}
}

// history checks the journals of the room: the numbers have no gap and are used once, and what was
// acknowledged is there.
func (o *oracle) history() {
	files := append(o.w.glob("archive/*"), o.w.glob("rooms/*/journal.jsonl")...)
	files = append(o.w.glob("archive/*/*"), files...)
	var all []event.Event
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e event.Event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				all = append(all, e)
			}
		}
		f.Close()
	}
	slices.SortStableFunc(all, func(a, b event.Event) int { return int(a.Seq - b.Seq) })
	kinds, grants, lost := map[int64]string{}, map[int64]string{}, int64(0)
	for i, e := range all {
		if i > 0 && e.Seq == all[i-1].Seq {
			o.find("a number of an event was used twice", "event %d is a %s and a %s", e.Seq, all[i-1].Type, e.Type)
		}
		kinds[e.Seq] = e.Type
		if e.Type == "journal_damaged" {
			lost = e.Seq
		}
		if e.Type == turn.Claim || e.Type == turn.Takeover {
			if _, ok := grants[e.Turn]; ok {
				o.find("a turn was given twice", "turn %d is in the journal twice", e.Turn)
			}
			grants[e.Turn] = e.To
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(o.events)) {
		if kind, ok := kinds[seq]; seq > lost && (!ok || kind != o.events[seq]) {
			o.find("what was acknowledged is gone", "event %d was a %s and is %q", seq, o.events[seq], kind)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(o.grants)) {
		if _, ok := grants[n]; !ok && lost == 0 {
			o.find("what was acknowledged is gone", "turn %d was given", n)
		}
	}
}
