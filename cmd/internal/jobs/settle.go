package jobs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
)

// Settle calls tell for each job that has ended and whose end was not told yet, also by
// processes that were killed before they could. A job whose runner and command have both ended
// is lost. tell is called again next time for a job for which it returns an error. watched are
// the processes whose end decides about the other jobs.
func (r *Room) Settle(tell func(*Job) error) (watched []identity.Process) {
	for _, j := range r.Untold() {
		alive := j.alive() // before it is looked whether somebody attends: both may end in between
		if j = j.settled(); j.Outcome == "" {
			watched = append(watched, alive...)
		} else if tell(j) == nil {
			j.Told()
		}
	}
	return watched
}

// alive returns those of the job's runner and its command that run.
func (j *Job) alive() (processes []identity.Process) {
	for _, p := range []*identity.Process{j.Runner, j.Process} {
		if p != nil && j.room.Table.Verdict(*p) == identity.Alive {
			processes = append(processes, *p)
		}
	}
	return processes
}

// settlePatience is how long a look at a job waits for the lock of another one, who looks or
// changes it.
const settlePatience = time.Second

// settled returns the job as it is now if nobody attends to it any more. If its command does not run
// either, it is lost.
func (j *Job) settled() *Job {
	if j.Outcome != "" || j.Attended() {
		return j
	}
	ctx, cancel := context.WithTimeout(context.Background(), settlePatience) // a runner that was killed may have it still
	defer cancel()
	unlock, err := lockfile.Lock(ctx, j.path(lockFile))
	if err != nil {
		return j // somebody else is about to
	}
	defer func() { _ = unlock() }()
	fresh, err := j.room.Load(j.ID)
	if err != nil {
		return j
	}
	if fresh.Outcome != "" || fresh.Runs() {
		fresh.stopUnattended() // whoever asked for it may have asked the runner
		return fresh
	}
	fresh.Outcome, fresh.EndedAt, fresh.LogBytes = talk.JobLost, now(), fresh.Written()
	if fresh.save() != nil {
		return j
	}
	return fresh
}

// Written returns how many bytes the command has written.
func (j *Job) Written() int64 {
	if info, err := os.Lstat(j.Log()); err == nil {
		return info.Size()
	}
	return 0
}

// Await returns the job when it has ended, or when ctx ends.
func (j *Job) Await(ctx context.Context) *Job {
	const soon, seldom = 10 * time.Millisecond, time.Second
	for pause := soon; ; pause = min(2*pause, seldom) {
		if fresh, err := j.room.Load(j.ID); err == nil {
			j = fresh
		}
		if j = j.settled(); j.Outcome != "" || ctx.Err() != nil {
			return j
		}
		if j.pause(ctx, pause) {
			pause = soon // the runner is about to say how it has ended
		}
	}
}

// pause waits for a time, or until the command or ctx ends. It reports whether the command
// did.
func (j *Job) pause(ctx context.Context, d time.Duration) bool {
	var ended <-chan struct{}
	if j.Process != nil && j.room.Table.Verdict(*j.Process) == identity.Alive {
		if c, stop, err := identity.WatchExit(*j.Process); err == nil {
			defer stop()
			ended = c
		}
	}
	select {
	case <-ended:
		return true
	case <-time.After(d):
	case <-ctx.Done():
	}
	return false
}

// What is kept of jobs that have ended and were told.
const (
	keptFor   = 7 * 24 * time.Hour
	keptJobs  = 100
	keptBytes = 1 << 30
)

// Prune removes what is not kept, the oldest jobs first. Jobs that run, or whose end was not
// told, stay.
func (r *Room) Prune() {
	ids, _ := numbers(r.Dir())
	open, err := numbers(r.open())
	if err != nil {
		return // any end may be untold
	}
	var bytes int64
	kept := 0
	for _, id := range slices.Backward(ids) {
		info, err := os.Stat(r.job(id))
		if err != nil || slices.Contains(open, id) {
			continue
		}
		j, err := r.Load(id)
		switch {
		case err != nil || !j.began(): // its starter was killed before there was anything to tell
			if time.Since(info.ModTime()) >= time.Hour {
				_ = os.RemoveAll(r.job(id))
			}
		case j.Outcome != "":
			kept++
			bytes += j.LogBytes
			if kept > keptJobs || bytes > keptBytes || time.Since(j.EndedAt.Time) > keptFor {
				_ = os.RemoveAll(r.job(id))
			}
		}
	}
	answers, _ := os.ReadDir(r.verified())
	for _, a := range answers {
		if info, err := a.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(r.verified(), a.Name()))
		}
	}
}
