package member

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// hosts are the other hosts with which an engine shares a room. Of an agent on another host there is that
// host's word, or silence; only the agent's host can prove that a process has ended. A process of another
// host is never looked for here: process numbers mean nothing there. Of no hosts, every method says nothing.
type hosts struct {
	*Room
	shared fsroom.Shared[*turn.State]
	here   string // the name of this host
}

// intervalsHeard is for how many heartbeat intervals the last word of a host is a sign of life.
const intervalsHeard = 2

// IsShared reports whether an engine shares the room with other hosts.
func (r *Room) IsShared() bool { return r.hosts != nil }

// name returns the name of this host, "" for a room of this host alone.
func (h *hosts) name() string {
	if h == nil {
		return ""
	}
	return h.here
}

// have reports whether a process is one of another host.
func (h *hosts) have(p identity.Process) bool { return h != nil && p.Host != h.here }

// ended reports whether a process of another host is known to have ended, since that was booted.
func (h *hosts) ended(p identity.Process) bool {
	boot := h.shared.Boot(p.Host)
	return boot != "" && p.Boot != "" && boot != p.Boot
}

// presence adds to the presence of a member what its host says of it. l is the lease if it
// is the owner, else zero.
func (h *hosts) presence(st *turn.State, id string, p turn.Presence, l turn.Lease) turn.Presence {
	if h == nil {
		return p
	}
	word := h.shared.Told(fsroom.AgentKey(id))
	if word == nil {
		return p
	}
	heard := word.At
	p.PID = 0 // it would be taken for one of this host
	guardian := guardianOf(l)
	if l.Ended.Why != "" && guardian != nil && h.have(*guardian) && !p.Seen.After(l.Ended.At.Time) {
		p.Process, p.OutlivesProcess, p.Guardian, p.EndedAt = turn.Gone, false, false, l.Ended.At.Time // its host saw it
		return p
	}
	if told, ok := h.told(st); ok && id == st.Owner {
		if at := told.Renewed.Wall.Time; at.After(heard) {
			heard = at
		}
		if g := guardianOf(told); p.Process == turn.Gone && g != nil && h.condition(*g).verdict != turn.Gone {
			p.Process = turn.Unknown // it is back since the host was booted
		}
	}
	silent := h.time().Sub(heard)
	switch {
	case p.Process != turn.Unknown:
	case silent <= intervalsHeard*st.Policy.RenewalInterval(), h.IsWaiting(id):
		p.Process = turn.Alive
	default:
		p.Silent = silent
	}
	return p
}

// hearing is [Room.hearing] for an agent of another host, of which is known what a process there says.
func (h *hosts) hearing(id string) (there turn.Hearing) {
	if h == nil {
		return there
	}
	key := fsroom.AgentKey(id)
	if told := h.shared.Told(key); told != nil && told.Signs[hearing.File] != "" && h.shared.Held(key, hearing.File) {
		there.How = told.Signs[hearing.File]
	}
	if there.How == hearing.ByHooks {
		there.How, there.Hooks = "", true
	}
	return there
}

// guardian returns whether the guardian of the current turn, which is one of another host, lives, as far
// as its renewals show it.
func (h *hosts) guardian(st *turn.State, l turn.Lease) turn.Process {
	if l.Ended.Why != "" || h.ended(*guardianOf(l)) {
		return turn.Gone
	}
	if l.Renewed.IsZero() || h.Now().Since(l.Renewed) > intervalsHeard*st.Policy.RenewalInterval() {
		return turn.Unknown
	}
	return turn.Alive
}

// engineBoot begins the boots of instants on the clock of an engine, whose monotonic clock
// is its wall clock. There is no other as long as the engine's time is not known.
const engineBoot = "engine:"

// told returns the lease of the current turn as the owner's host told it by its last note,
// renewed when the engine got that.
func (h *hosts) told(st *turn.State) (l turn.Lease, ok bool) {
	if h == nil || st.Owner == "" {
		return l, false
	}
	b, at := h.shared.Note()
	if len(b) == 0 || wire.Decode(b, &l) != nil || l.Fence != st.Fence() {
		return turn.Lease{}, false
	}
	l.Ended, l.Proof = turn.Ending{}, turn.Proof{}
	l.Renewed = turn.Instant{Wall: event.NewTime(at)}
	if boot := h.Now().Boot; strings.HasPrefix(boot, engineBoot) {
		l.Renewed.Boot, l.Renewed.Mono = boot, at.UnixMilli()
	}
	return l, true
}

// proof returns the proof of what the engine is asked from now on.
func (h *hosts) proof() turn.Proof {
	if h == nil {
		return turn.Proof{}
	}
	boot, on := h.Machine.uptime()
	return turn.Proof{Boot: boot, Uptime: on, At: event.NewTime(time.Now())}
}

// withdrawProof removes the proof of a turn of this host that events are about to end: whether they reach the engine
// may never be known here, and once they do another host may have the turn. If they do not, the next
// renewal proves the turn again. The room is locked.
func (h *hosts) withdrawProof(st *turn.State, events []event.Event) error {
	if h == nil {
		return nil
	}
	l := h.recorded(st)
	if l.Proof == (turn.Proof{}) {
		return nil
	}
	after, err := st.After(events, event.NewTime(h.time()))
	if err != nil || after.Fence() == st.Fence() {
		return err
	}
	l.Proof = turn.Proof{}
	return h.FS.Agent(st.Owner).Write(leaseFile, &l)
}

// cutOff reports whether the engine has not confirmed the turn of an agent of this host, whose lease it
// is: it cannot be reached, has lost the turn, or was not asked for longer than the guardian takes.
func (h *hosts) cutOff(st *turn.State, lease turn.Lease) (off, lost bool) {
	if h == nil {
		return false, false
	}
	boot, on := h.Machine.uptime()
	if lease.Proof.Boot == "" || lease.Proof.Boot != boot {
		return false, false
	}
	_, away := h.shared.Unreachable()
	lost = h.FS.Kept(fsroom.LostFile) != ""
	unasked := h.Client.Store.Options().Engine == nil && on-lease.Proof.Uptime > intervalsHeard*lease.RenewalInterval(st.Policy)
	return lost || unasked || away != nil || h.Client.away != nil, lost
}

// Unproved reports whether the agent owns the turn of a room that hosts share, but another agent may
// have taken it over unnoticed: the engine has not confirmed it for too long. since is
// when it did so last, zero if it is not known. Nothing is asked of the engine.
func (r *Room) Unproved(st *turn.State) (since time.Time, unproved bool) {
	if r.hosts == nil || st.Owner == "" || st.Owner != r.Self.ID {
		return time.Time{}, false
	}
	l := r.recorded(st)
	if r.Elsewhere(st) != "" || l.Proof == (turn.Proof{}) {
		return time.Time{}, true
	}
	boot, on := r.Machine.uptime()
	return l.Proof.At.Time, r.FS.Kept(fsroom.LostFile) != "" || !l.Proved(st, boot, on)
}

// Elsewhere returns the host on which the agent has the turn, "" if that is this one or it
// has none.
func (r *Room) Elsewhere(st *turn.State) string { return st.HostOf(r.Self.ID, r.hosts.name()) }

// checkHost refuses an agent that has the turn on another host.
func (r *Room) checkHost(st *turn.State) error {
	if r.Elsewhere(st) == "" {
		return nil
	}
	e := st.AgentElsewhere(r.facts(st, caller{}, make(verdicts)))
	if guardian := guardianOf(r.lease(st)); guardian != nil {
		e.With("guardian_pid", guardian.PID)
	}
	return e
}

// OverrideWarning says, of an override that ends the turn of the owner, if that is an agent on
// another host, until when it may go on with the turn although another agent has it. It
// is "" where the turn could be ended without an override.
func (r *Room) OverrideWarning(st *turn.State) string {
	g := guardianOf(r.lease(st))
	if r.hosts == nil || st.Owner == "" || st.Owner == r.Self.ID && r.Elsewhere(st) == "" || g != nil && !r.hosts.have(*g) {
		return ""
	}
	f := r.Facts(st)
	until := st.Room(f).LeaseExpiresAt
	if m := st.Member(st.Owner); until == nil || !f.Now.Wall.Before(until.Time) || m != nil && f.Gone(st, m) {
		return ""
	}
	return st.Owner + " is on another host and learns of this with its next command: until " + until.String() +
		" two agents may hold the stick at once; an override is the one case in which that can happen"
}

// awayPoll is how often a wait tries again while the engine is away.
const awayPoll = time.Second

// away reports whether err is or comes from an error of an engine that cannot be
// reached, or that did not say what became of a change: a later look tells.
func (h *hosts) away(err error) bool {
	return h != nil && (fsroom.IsUnreachable(err) || comesFrom(err, code.EngineUnreachable, code.InDoubt))
}

// Unreachable returns why the engine could not be reached last, nil if it was or there is none, and when the
// room was up to date, zero if it never was.
func (r *Room) Unreachable() (asOf time.Time, err error) {
	if r.hosts == nil {
		return asOf, nil
	}
	return r.hosts.shared.Unreachable()
}

// comesFrom reports whether err is or comes from an error with one of the codes.
func comesFrom(err error, codes ...code.Code) bool {
	for e := (*code.Error)(nil); errors.As(err, &e); err = e.Err {
		if slices.Contains(codes, e.Code) {
			return true
		}
	}
	return false
}

// JoinWithin is [Client.Join] that waits for an engine that cannot be reached, until the
// limit has passed or ctx ends. left is what is left of the limit.
func (c *Client) JoinWithin(ctx context.Context, w *workspace.Workspace, limit time.Duration) (r *Room, snap *snapshot,
	left time.Duration, err error) {
	began := time.Now()
	for {
		r, snap, err = c.JoinToAsk(ctx, w)
		left = max(0, limit-time.Since(began))
		if !fsroom.IsUnreachable(err) || left == 0 {
			return r, snap, left, err
		}
		select {
		case <-ctx.Done():
			return r, snap, left, err
		case <-time.After(min(left, awayPoll)):
		}
	}
}

// NotYet is the result of a wait that could not join the workspace's room, because the
// engine could not be reached: the room as this host knew it last.
func (c *Client) NotYet(w *workspace.Workspace, away error) turn.WaitResult {
	var r *Room
	for _, name := range RoomNames(w) {
		if r = c.Room(name, w); r.FS.HasJournal() {
			break
		}
	}
	return r.notYet(away) // the last is that of the root
}

// notYet is the result of a wait that ends while the engine is away, or before it has looked
// at the room; away is nil then.
func (r *Room) notYet(away error) (res turn.WaitResult) {
	res = turn.WaitResult{Status: turn.NotYet, RoomID: r.FS.Name()}
	if snap, err := r.FS.Known(); err == nil && snap.State.Open {
		res = snap.State.NotYet(r.Facts(snap.State))
	}
	if away != nil {
		res.Away = SinceWords(away)
	}
	return res
}

// SinceWords says since when an engine cannot be reached, or that its store was copied back.
func SinceWords(away error) string {
	var e *code.Error
	if errors.As(away, &e) {
		if e.Code == code.EngineRestored {
			return "restored from a copy, and takes no change until tt doctor --repair"
		}
		if since, ok := e.Details["since"].(event.Time); ok {
			return "unreachable since " + since.String()
		}
	}
	return "unreachable"
}
