package member

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// Jobs returns the jobs of the room on this host.
func (r *Room) Jobs() *jobs.Room {
	return &jobs.Room{Store: r.Client.Store.Local(), Name: r.FS.Name(), Table: r.Table}
}

// StartJob starts a job of the agent, which is a member; one that has the turn comes back first, see [Room.ComeBack]. What waits and
// listens for the agent is notified, so that it watches the job too.
func (r *Room) StartJob(ctx context.Context, st *turn.State, j jobs.Job) (*jobs.Job, error) {
	if st.Owner == r.Self.ID && r.Elsewhere(st) == "" && r.HeldByOtherWindow(st) == 0 && r.ComesBack(st) {
		if err := r.ComeBack(ctx, st); err != nil {
			return nil, err
		}
	}
	j.Agent, j.Turn = r.Self.ID, st.Turn
	for _, v := range storeEnviron(r.Client.Store) {
		name, _, _ := strings.Cut(v, "=")
		j.Overridden = append(j.Overridden, name)
		if value, ok := os.LookupEnv(name); ok {
			j.Own = append(j.Own, name+"="+value)
		}
	}
	started, err := r.Jobs().Start(&jobs.Start{
		Job: j, Above: st.HighestJob(r.hosts.name()), Fault: AtJobStep,
		Spawn: func(dir string, files ...*os.File) error {
			_, err := r.start(child{args: []string{"job-run", "--agent", r.Self.ID, dir}, files: files})
			return err
		},
	})
	r.own().Notify()
	r.Client.Store.NotifyListener(r.Self.ID)
	return started, err
}

// RoomsWithJobs returns the rooms of a workspace that have jobs, the deepest first, also rooms that have ended; with all also
// those of the other working trees of the repository. What has become of their jobs is known then.
func (c *Client) RoomsWithJobs(ctx context.Context, w *workspace.Workspace, all bool) (found []*Room) {
	names := RoomNames(w)
	if all {
		for _, tree := range w.Siblings() {
			names = append(names, fsroom.RoomName(tree.Root))
		}
	}
	for _, name := range names {
		r := c.Room(name, w)
		if _, err := os.Stat(r.Jobs().Dir()); err == nil {
			r.SettleJobs(ctx)
			found = append(found, r)
		}
	}
	return found
}

// AtJobStep is called at each step of the start of a job. It is nil outside tests.
var AtJobStep func(step string)

// TellJob tells the agent that started a job of its end, unless it was told.
func (r *Room) TellJob(ctx context.Context, j *jobs.Job) error {
	if !r.FS.Exists() {
		return nil
	}
	request := turn.JobEndRequest{Agent: j.Agent, Joined: j.Joined(), At: *j.EndedAt, JobEnd: *j.End()}
	request.Host = r.hosts.name()
	return r.Append(ctx, func(st *turn.State) ([]event.Event, error) { return turn.EndJob(st, request), nil })
}

// SettleJobs tells of the end of each job of the room that has ended on this host without
// somebody to tell it. It returns the processes whose end decides about the other jobs.
func (r *Room) SettleJobs(ctx context.Context) []identity.Process {
	return r.Jobs().Settle(func(j *jobs.Job) error { return r.TellJob(ctx, j) })
}

// jobProcesses returns the runners and the commands of the jobs of an agent that run. They are no children of the agent.
func (r *Room) jobProcesses(agent string) (all []identity.Process) {
	for _, j := range r.Jobs().Untold() {
		for _, p := range []*identity.Process{j.Runner, j.Process} {
			if j.Agent == agent && r.isAlive(p) {
				all = append(all, *p)
			}
		}
	}
	return all
}

// RunningJob returns the newest job of an agent that runs on this host, nil if none does. As
// long as there is one, the agent is at work even if it is silent.
func (r *Room) RunningJob(agent string) *jobs.Job {
	var newest *jobs.Job
	for _, j := range r.Jobs().Untold() {
		if j.Agent == agent && j.Runs() {
			newest = j
		}
	}
	return newest
}

// withJob returns what an agent does, of whose model a is known. One that would rest, or of which
// nothing is known, works as long as its own job runs.
func (r *Room) withJob(id string, a turn.Activity) turn.Activity {
	j := r.RunningJob(id)
	if j == nil {
		return a
	}
	title, since := j.End().Title(), j.AskedAt
	if j.StartedAt != nil {
		since = *j.StartedAt
	}
	if !turn.InTurn(a.What) && a.What != turn.ActivityEnded {
		if a.What == "" {
			a.Since, a.At = since, since
		}
		a = turn.Activity{What: turn.ActivityWorking, Since: a.Since, At: a.At, Detail: "job " + title, Source: "host"}
	}
	a.Job, a.JobID, a.JobSince = title, j.ID, since.Time
	return a
}

// sinceJob returns what a holder does, of which a is known. One that rests does so from the end of its last job on.
func (r *Room) sinceJob(id string, a turn.Activity) turn.Activity {
	if a.What != turn.ActivityIdle && a.What != turn.ActivityLimited {
		return a
	}
	all, _ := r.Jobs().ListSince(a.At.Add(-time.Second)) // by the clock of the files
	for _, j := range all {
		if j.Agent == id && j.EndedAt != nil && j.EndedAt.After(a.At.Time) {
			a.At = *j.EndedAt
		}
	}
	return a
}
