package member

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// The files of an agent in a room, see [fsroom.Agent].
const (
	seenFile      = roomtypes.SeenFile      // its time is that of the agent's last command
	inboxFile     = "waiting_inbox"         // locked while one waits for messages too
	waitingFile   = roomtypes.WaitingFile   // locked while a process of the agent waits; its time is that of the last wait
	processesFile = roomtypes.ProcessesFile // a processRecord
	leaseFile     = roomtypes.LeaseFile     // a [turn.Lease]
	wantsFile     = "wants"                 // its time is when a write of the agent was refused, which is to be called
	calledFile    = "called"                // since then the agent was called
	autoFile      = "auto"                  // a hook has made the agent a member, and it has run no command
)

// A processRecord names the processes of an agent. A session that was resumed has
// had several.
type processRecord struct {
	Processes []identity.Process `json:"processes"`
	Lingers   bool               `json:"session_outlives_process,omitempty"` // the session outlives its process
}

// maxProcesses bounds the record. The oldest processes are dropped first.
const maxProcesses = 8

// RecordPresence records that the agent, if it is a member, has run a command, and
// replaces the guardian of its turn if that has ended. Presence is no event: it is
// written without lock or sync, and losing it loses a timestamp. An agent that has the turn
// on another host is there, and not here.
func (r *Room) RecordPresence(ctx context.Context, st *turn.State) {
	if !r.IsMember(st) || r.Elsewhere(st) != "" {
		return
	}
	if r.recordCommand(); r.HeldByOtherWindow(st) == 0 {
		r.recordSign()
	} else { // it is no sign of who holds the turn
		_ = r.recordProcess()
	}
	r.ReplaceGuardian(ctx, st, false)
	r.SettleJobs(ctx)
}

// recordSeen is RecordPresence for an agent that is known to be a member.
func (r *Room) recordSeen() {
	r.recordCommand()
	r.recordSign()
}

func (r *Room) recordCommand() { _ = r.own().Remove(autoFile) }

// RecordSign records a sign of life of the agent, a member, that is no command of it: a hook of its
// session has run. It is a sign as a command is, but one of another window says nothing of the
// turn.
func (r *Room) RecordSign() {
	var l turn.Lease
	switch {
	case !r.FS.Exists():
	case r.own().Read(leaseFile, &l) && (r.otherWindow(l.Holder) != 0 || r.hosts.have(identity.Process(l.Guardian))):
		_ = r.recordProcess()
	default:
		r.recordSign()
	}
}

func (r *Room) recordSign() {
	r.Client.Hearing().GoOn()
	_ = r.own().Mark(seenFile, r.time())
	_ = r.recordProcess()
}

// recordArrival records that the agent has just joined. It counts as waiting, and so
// as ready for a turn.
func (r *Room) recordArrival() {
	r.recordCommand()
	r.RecordSign()
	_ = r.own().Mark(waitingFile, r.time())
	r.enterRooms()
	r.recordPath()
}

// recordProcess adds the process of the agent to its record if it is not there. When it returns nil it is.
func (r *Room) recordProcess() error {
	root := r.Self.Root
	if r.hasProcess(r.processRecord(r.Self.ID)) {
		return nil
	}
	var record processRecord
	return r.own().Change(processesFile, &record, func() {
		if r.hasProcess(record) { // by another window of the session
			return
		}
		record.Processes = slices.DeleteFunc(record.Processes, func(p identity.Process) bool {
			return p == *root || r.Table.Verdict(p) == identity.Gone
		})
		record.Processes = append(record.Processes, *root)
		record.Processes = record.Processes[max(0, len(record.Processes)-maxProcesses):]
		record.Lingers = r.Self.SessionExported
	})
}

// hasProcess reports whether a record has the process of the agent, if that is known.
func (r *Room) hasProcess(record processRecord) bool {
	root := r.Self.Root
	return root == nil || slices.Contains(record.Processes, *root) && record.Lingers == r.Self.SessionExported
}

// processRecord returns the record of a member, empty if there is none.
func (r *Room) processRecord(id string) (record processRecord) {
	r.FS.Agent(id).Read(processesFile, &record)
	return record
}

// IsWaiting reports whether a process of the member waits for the turn.
func (r *Room) IsWaiting(id string) bool { return r.FS.Agent(id).Held(waitingFile) }

// presence returns what this machine knows of one member, with what look says of its
// processes.
func (r *Room) presence(id string, look func(identity.Process) condition) turn.Presence {
	a := r.FS.Agent(id)
	p := turn.Presence{
		Seen: a.Marked(seenFile), Waited: a.Marked(waitingFile), Process: turn.Unknown,
	}
	record := r.processRecord(id)
	if len(record.Processes) > 0 {
		last := record.Processes[len(record.Processes)-1]
		p.PID, p.OutlivesProcess = last.PID, record.Lingers
		judge(record.Processes, look, &p)
	}
	// One that another window has joined as it ended goes on there.
	if e, ended := r.HearingOf(id).Ended(); ended && !r.isOpenBeside(record.Processes, e.Process) {
		p.OutlivesProcess = e.Quits && (p.OutlivesProcess || p.Process == turn.Unknown)
		p.Process, p.PID, p.Stopped, p.EndedAt, p.SessionEnded = turn.Gone, 0, false, e.At.Time, true
	}
	p.Wants = p.Process != turn.Gone && !a.Marked(wantsFile).IsZero() // nothing calls one that has ended
	return p
}

// judge sets what is known of all processes of one agent, see [turn.ProcessOf]. The agent
// is stopped if the last of those that live is.
func judge(processes []identity.Process, look func(identity.Process) condition, into *turn.Presence) {
	all := make([]turn.Process, len(processes))
	for i, p := range processes {
		c := look(p)
		if all[i] = c.verdict; c.verdict == turn.Alive {
			into.PID, into.Stopped = p.PID, c.stopped
		}
	}
	into.Process = turn.ProcessOf(all)
}

func (c *Client) isAlive(p *identity.Process) bool {
	return p != nil && c.Table.Verdict(*p) == identity.Alive
}

// ActsFor returns the agent that has the turn where a command of it has started the calling session, else "".
func (r *Room) ActsFor(st *turn.State) string {
	if st.Owner == r.Self.ID || st.Owner == "" || !r.isStartedBy(st.Owner, r.Self.Harness, r.Self.Root) {
		return ""
	}
	return st.Owner
}

// WorkFor is what to do next for a session that acts for an agent.
func WorkFor(owner string) string {
	return "work for " + owner + ", which holds the stick and has started you; it releases"
}

// isStartedBy reports whether a session of a kind of harness, of which root is the process if that is known, was started by a
// command of the agent, or is part of a job of it. See [identity.StartedBy].
func (r *Room) isStartedBy(agent, kind string, root *identity.Process) bool {
	return identity.StartedBy(r.Table, kind, root, append(r.processRecord(agent).Processes, r.jobProcesses(agent)...))
}

// IsOneWith reports whether the session, as for isStartedBy, was started by a command of the agent, or has started it: what either
// of them writes is written in one turn.
func (r *Room) IsOneWith(agent, kind string, root *identity.Process) bool {
	return r.isStartedBy(agent, kind, root) || identity.HasStarted(r.Table, root, r.processRecord(agent).Processes)
}
