package member

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// Of an agent on another host there is that host's word, or silence; only the agent's host
// can prove that a process has ended. A process of another host is never looked for here:
// process numbers mean nothing there.

// intervalsHeard is for how many heartbeat intervals the last word of a host counts as a sign
// that the agent is alive.
const intervalsHeard = 2

// isElsewhere reports whether a process is one of another host.
func (r *Room) isElsewhere(p identity.Process) bool {
	return r.FS.IsShared() && p.Host != r.Client.Store.Options().Host
}

// elsewhere adds to the presence of a member what its host says of it. l is the lease if it
// is the owner, else zero.
func (r *Room) elsewhere(st *turn.State, id string, p turn.Presence, l turn.Lease) turn.Presence {
	heard := r.FS.Agent(id).Heard()
	if heard.IsZero() {
		return p
	}
	p.PID = 0 // it would be taken for one of this host
	guardian := guardianOf(l)
	if l.Ended.Why != "" && guardian != nil && r.isElsewhere(*guardian) && !p.Seen.After(l.Ended.At.Time) {
		p.Process, p.OutlivesProcess, p.Guardian, p.EndedAt = turn.Gone, false, false, l.Ended.At.Time // its host saw it
		return p
	}
	if told, ok := r.told(st); ok && id == st.Owner {
		if at := told.Renewed.Wall.Time; at.After(heard) {
			heard = at
		}
		if g := guardianOf(told); p.Process == turn.Gone && g != nil && r.condition(*g).verdict != turn.Gone {
			p.Process = turn.Unknown // it is back since the host was booted
		}
	}
	silent := r.time().Sub(heard)
	switch {
	case p.Process != turn.Unknown:
	case silent <= intervalsHeard*st.Policy.RenewalInterval(), r.IsWaiting(id):
		p.Process = turn.Alive
	default:
		p.Silent = silent
	}
	return p
}

// PathFile has the directory of a room on this host, where an agent joined it or it was imported.
const PathFile = "path"

// here returns the directory on this host of a room that several share, or that was imported from
// another directory; "" if it is not known, or the one where the room was made.
func (r *Room) here() string {
	if r.FS.IsShared() {
		if dir := r.inChain(); dir != "" && !r.Workspace.ByID() {
			return dir
		}
	}
	return r.FS.Kept(PathFile)
}

// above returns the directory on this host of a room above the workspace, or above a directory in it.
func (r *Room) above(st *turn.State) string {
	if r.FS.IsShared() {
		for _, dir := range append(r.Workspace.Chain(), r.Workspace.Above()...) {
			if fsroom.RoomName(r.Workspace.Identity(dir)) == r.FS.Name() {
				return dir
			}
		}
	}
	return st.CanonicalPath
}

// Below returns the directory on this host of a room that is below the root of the workspace, "" if
// it is not. Where nobody joined it here, the path is that of another host: its end, with the name
// of the workspace before it, has to be what the room is called.
func (r *Room) Below(st *turn.State) string {
	root := r.Workspace.Root
	dir := cmp.Or(r.FS.Kept(PathFile), st.CanonicalPath)
	for rest := dir; r.FS.IsShared() && r.FS.Kept(PathFile) == ""; {
		_, after, more := strings.Cut(rest, string(filepath.Separator))
		if !more {
			return ""
		}
		rest, dir = after, filepath.Join(root, after)
		if dir != root && fsroom.RoomName(r.Workspace.Identity(dir)) == r.FS.Name() {
			return dir
		}
	}
	if below, err := filepath.Rel(root, dir); err != nil || below == "." || !filepath.IsLocal(below) {
		return ""
	}
	return dir
}

// recordPath records the directory in which an agent of this host is a member.
func (r *Room) recordPath() {
	if dir := r.here(); dir != "" && dir != r.FS.Kept(PathFile) {
		r.FS.Keep(PathFile, dir)
	}
}

// guardianElsewhere returns whether the guardian of the current turn, which is one of another
// host, lives, as far as its renewals show it.
func (r *Room) guardianElsewhere(st *turn.State, l turn.Lease) turn.Process {
	if g := guardianOf(l); r.condition(*g).verdict == turn.Gone || l.Ended.Why != "" {
		return turn.Gone
	}
	if l.Renewed.IsZero() || r.Now().Since(l.Renewed) > intervalsHeard*st.Policy.RenewalInterval() {
		return turn.Unknown
	}
	return turn.Alive
}

// An agent is on one host: where it has the turn.

// host returns the name of this host, "" without an engine.
func (r *Room) host() string { return r.Client.Store.Options().Host }

// holdsElsewhere reports whether the agent has the turn on another host.
func (r *Room) holdsElsewhere(st *turn.State) bool { return r.Elsewhere(st) != "" }

// checkHost refuses an agent that has the turn on another host.
func (r *Room) checkHost(st *turn.State) error {
	if !r.holdsElsewhere(st) {
		return nil
	}
	e := turn.AgentElsewhere(st, r.facts(st, caller{}, make(verdicts)), st.Grant.Host)
	if guardian := guardianOf(r.lease(st)); guardian != nil {
		e.With("guardian_pid", guardian.PID)
	}
	return e
}

// Elsewhere returns the host on which the agent has the turn, "" if that is this one or it
// has none.
func (r *Room) Elsewhere(st *turn.State) string {
	if r.FS.IsShared() && st.Owner == r.Self.ID && st.Grant.Host != r.host() {
		return st.Grant.Host
	}
	return ""
}

// OverrideWarning says, of an override that ends the turn of the owner, if that is an agent on
// another host, until when it may go on with the turn although another agent has it. It
// is "" where the turn could be ended without an override.
func (r *Room) OverrideWarning(st *turn.State) string {
	g := guardianOf(r.lease(st))
	if !r.FS.IsShared() || st.Owner == "" || st.Owner == r.Self.ID && !r.holdsElsewhere(st) || g != nil && !r.isElsewhere(*g) {
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
