package ttcmd

import (
	"context"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/lockfile"
)

// endedJobs is how many jobs that have ended a list has.
const endedJobs = 20

var jobListCommand = &cli.Command{
	Name:  "job list",
	Reads: true,
	Args:  []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.Bool("all", "also those of the other working trees of the repository")
	},
	Run: runJobList,
}

func runJobList(ctx context.Context, c *cli.Invocation) error {
	rooms, err := jobRooms(ctx, c, c.Bool("all"))
	if err != nil {
		return err
	}
	var list []*jobs.View
	for _, r := range rooms {
		all, err := r.Jobs().List()
		if err != nil {
			return err
		}
		for _, j := range all {
			list = append(list, j.View())
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].AskedAt.UnixMilli() > list[j].AskedAt.UnixMilli() })
	ended := 0
	list = slices.DeleteFunc(list, func(v *jobs.View) bool {
		if v.State == jobs.Ended {
			ended++
		}
		return v.State == jobs.Ended && ended > endedJobs
	})
	return c.Out.Result(map[string]any{"jobs": list}, func(t *cli.Text) {
		if len(list) == 0 {
			t.Line("There are no jobs here.")
			return
		}
		var table cli.Table
		for _, v := range list {
			row := []any{v.End().Title(), jobStyle(t, v), v.Agent, jobTime(t, v), shortened(strings.Join(v.Command, " "))}
			if c.Bool("all") {
				row = append(row, "in "+v.Dir)
			}
			table.Row(row...)
		}
		t.Table(&table)
	})
}

// jobStyle returns how a job stands, in colour.
func jobStyle(t *cli.Text, v *jobs.View) cli.Styled {
	switch {
	case v.State == jobs.Running:
		return t.Yellow(jobs.Running)
	case v.Outcome == talk.JobPassed:
		return t.Green(v.Outcome)
	}
	return t.Red(v.Outcome)
}

// jobTime says for how long a job has run, or when it ended.
func jobTime(t *cli.Text, v *jobs.View) string {
	if v.State == jobs.Running && v.Duration != nil {
		return "for " + cli.Elapsed(time.Duration(*v.Duration)*time.Millisecond)
	}
	if v.EndedAt != nil {
		return t.Ago(v.EndedAt.Time)
	}
	return ""
}

var jobShowCommand = &cli.Command{
	Name:  "job show",
	Reads: true,
	Args:  []cli.Arg{jobArg},
	Run: func(ctx context.Context, c *cli.Invocation) error {
		j, _, err := findJob(ctx, c)
		if err != nil {
			return err
		}
		return showJob(c, j.View())
	},
}

// showJob is the result of a command about one job.
func showJob(c *cli.Invocation, v *jobs.View) error {
	return c.Out.Result(map[string]any{"job": v}, func(t *cli.Text) {
		if v.State == jobs.Ended {
			t.Line("%s, %s", v.End().Words(), t.Ago(v.EndedAt.Time))
		} else {
			t.Line("%s %s %s, pid %d, its runner is %s", v.End().Title(), jobStyle(t, v), jobTime(t, v), v.PID, v.Runner)
		}
		t.Line("By      %s, in %s", v.Agent, v.Dir)
		t.Line("Command %s", shortened(strings.Join(v.Command, " ")))
		t.Line("Log     %s, %s: tt job log %d", v.Log, counted(int(v.LogBytes), "byte"), v.ID)
	})
}

var jobStopCommand = &cli.Command{
	Name: "job stop",
	Args: []cli.Arg{jobArg},
	Flags: func(f *cli.Flags) {
		f.Bool("kill", "kill them at once")
	},
	Run: runJobStop,
}

func runJobStop(ctx context.Context, c *cli.Invocation) error {
	j, r, err := findJob(ctx, c)
	if err != nil {
		return err
	}
	holder := ""
	if snap, err := r.FS.View(); err == nil {
		holder = snap.State.Owner
	}
	if r.Self.ID != j.Agent && r.Self.ID != holder && !r.IsHuman() {
		return code.New(code.NotYours, "job %s is one of %s", j.End().Title(), j.Agent).
			WithHint("its starter ends it, who holds the stick, or a person: tt msg send %s \"…\"", j.Agent).With("job_id", j.ID).
			With("agent_id", j.Agent)
	}
	status := jobs.Ended
	if j.Outcome == "" {
		status = "stopping"
		if err := j.Stop(ctx, c.Bool("kill")); err != nil {
			return err
		}
	}
	return c.Out.Result(map[string]any{"job_id": j.ID, "status": status}, func(t *cli.Text) {
		if status == jobs.Ended {
			t.Line("Job %s has ended already.", j.End().Title())
		} else {
			t.Line("Job %s is being stopped; its starter is told when it has ended.", j.End().Title())
		}
	})
}

var jobWaitCommand = &cli.Command{
	Name: "job wait",
	Args: []cli.Arg{jobArg},
	Flags: func(f *cli.Flags) {
		f.Duration("timeout", "D", 0, "how long to wait (default: no end)")
	},
	Run: runJobWait,
}

func runJobWait(ctx context.Context, c *cli.Invocation) error {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	rooms, err := jobRooms(ctx, c, true)
	if err != nil {
		return interrupted(ctx, err)
	}
	if v := verifiedInstead(rooms, c.Arg("job")); v != nil {
		return writeVerified(c, v)
	}
	j, r, err := findJobIn(rooms, c.Arg("job"))
	if err != nil {
		return interrupted(ctx, err)
	}
	waiting, cancel := ctx, func() {}
	if c.Given("timeout") {
		waiting, cancel = context.WithTimeout(ctx, c.Duration("timeout"))
	}
	defer cancel()
	j = j.Await(waiting)
	if signalOf(ctx) != nil {
		return interrupted(ctx, nil)
	}
	if j.Outcome == talk.JobLost {
		r.SettleJobs(ctx)
		return code.New(code.JobLost, "job %s is lost: nobody knows how it ended", j.End().Title()).
			WithHint("its log may tell: tt job log %d", j.ID).With("job_id", j.ID)
	}
	if err := showJob(c, j.View()); err != nil {
		return err
	}
	return exitAsJob(j)
}

// exitAsJob exits with the status of the job's command.
func exitAsJob(j *jobs.Job) error {
	switch {
	case j.Outcome == "":
		return cli.Exit(statusLockBusy)
	case j.Exit != nil:
		return cli.Exit(*j.Exit)
	}
	return cli.Exit(128 + jobs.SignalNumber(j.Signal))
}

var jobLogCommand = &cli.Command{
	Name:  "job log",
	Reads: true,
	Args:  []cli.Arg{jobArg},
	Flags: func(f *cli.Flags) {
		f.Int64("tail", "N", 100, "the last N lines, at most 1 MiB; 0 prints all")
		f.Bool("follow", "go on until the job has ended")
	},
	Streams: true,
	Run:     runJobLog,
}

func runJobLog(ctx context.Context, c *cli.Invocation) error {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	j, _, err := findJob(ctx, c)
	if err != nil {
		return interrupted(ctx, err)
	}
	if c.Int64("tail") < 0 {
		return c.Usagef("--tail is 0 or more").With("flag", "tail")
	}
	c.Out.Until(ctx)
	f, err := lockfile.OpenRegular(j.Log(), os.O_RDONLY)
	if err != nil {
		return code.New(code.JobNotFound, "the log of job %s cannot be read: %v", j.End().Title(), err).Because(err)
	}
	defer f.Close()
	p := jobs.NewLines(f, func(line string) error {
		return c.Out.WriteLine(map[string]string{"line": line}, func(t *cli.Text) { t.Line("%s", line) })
	})
	if skipped, err := p.Skip(int(c.Int64("tail"))); err != nil {
		return err
	} else if skipped > 0 {
		c.Out.Remark(counted(int(skipped), "byte") + " before that are left out; tt job log --tail 0 prints all")
	}
	for c.Bool("follow") && j.Outcome == "" && ctx.Err() == nil {
		if err := p.Print(); err != nil {
			return err
		}
		soon, cancel := context.WithTimeout(ctx, logPause)
		j = j.Await(soon)
		cancel()
	}
	if err := p.Print(); err != nil {
		return err
	}
	return p.Flush()
}

// logPause is how often a log that is followed is looked at.
const logPause = 200 * time.Millisecond
