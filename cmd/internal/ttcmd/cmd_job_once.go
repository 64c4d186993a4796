package ttcmd

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
)

// oncePatience is how long job run --once waits for another one that looks, and for the tree: the first
// snapshot reads every file.
const oncePatience = time.Minute

// An onceAnswer is what is known of a job before it is started. Nobody else starts one of this tree with
// --once until free is called.
type onceAnswer struct {
	verdict *ledger.Verdict  // on the tree as it is now, nil if there is none
	running *jobs.Job        // the same on this tree, nil if there is none
	left    []ledger.LeftOut // why there can be no verdict
	free    func()
}

// askOnce looks for a verdict on the tree as it is now, and for a job that is about to give one, which it
// joins unless it is to run again.
func askOnce(ctx context.Context, c *cli.Invocation, room *member.Room, st *turn.State, j *jobs.Job, again bool) (*onceAnswer, error) {
	t, err := changes.Of(room, st.Policy, ledgerSetting(c))
	if err != nil {
		return nil, err
	}
	if _, err := t.AskOf(j, ledger.StateID{}); err != nil {
		return nil, c.Usagef("%s is not in %s, so a verdict on that tree would say nothing of COMMAND", j.Dir, t.Ledger.Root()).
			WithHint("run it in the tree, or without --once")
	}
	ctx, cancel := context.WithTimeout(ctx, oncePatience)
	defer cancel()
	free, err := t.Ledger.LockVerdicts(ctx)
	if err != nil {
		return nil, explainTree(err)
	}
	res := &onceAnswer{free: free}
	now, err := t.Ledger.Take(ctx, ledger.Request{Why: ledger.WhyJob, Agent: room.Self.ID})
	if err != nil {
		free()
		return nil, explainTree(err)
	}
	if res.left = now.LeftOut; len(res.left) > 0 {
		return res, nil
	}
	ask, err := t.AskOf(j, now.State())
	if err != nil {
		free()
		return nil, err
	}
	res.verdict = t.Ledger.FindVerdict(ask)
	if res.verdict != nil || again {
		return res, nil
	}
	for _, other := range room.Jobs().Untold() {
		if other.Name == j.Name && other.TreeState == ask.State.String() && slices.Equal(other.Command, j.Command) &&
			other.Dir == j.Dir && other.Runs() {
			runs, err := other.Join(room.Self.ID)
			if err != nil {
				free()
				return nil, err
			}
			if runs {
				res.running = other
				return res, nil
			}
			res.verdict = t.Ledger.FindVerdict(ask) // it has ended meanwhile
		}
	}
	return res, nil
}

// A verifiedResult is the answer of job run --once, and of job wait after it, where nothing has to run.
type verifiedResult struct {
	Status  string          `json:"status"` // verified
	Verdict *ledger.Verdict `json:"verdict"`
}

func writeVerified(c *cli.Invocation, v *ledger.Verdict) error {
	return c.Out.Result(verifiedResult{"verified", v}, func(t *cli.Text) {
		t.Line("%s %s, which is as it is now. Nothing was run.", t.Green("Verified."), verdictWords(t, v))
	})
}

// verdictWords says what a verdict says: "make test in . passed on this tree, by a:1, 3 minutes ago (test#4)".
func verdictWords(t *cli.Text, v *ledger.Verdict) string {
	command := "The command"
	if v.Command != nil {
		command = shortened(strings.Join(v.Command, " "))
	}
	return command + " in " + v.Dir + " passed " + string(t.Ago(v.Time())) + ", by " + v.Agent + " (" + v.Name + "#" +
		strconv.FormatInt(v.JobID, 10) + "), on the tree " + v.Tree[:min(len(v.Tree), 12)]
}

// A joinedResult is the answer of job run --once where such a job runs on this tree.
type joinedResult struct {
	Status string   `json:"status"` // running
	Job    *jobView `json:"job"`
	Joined bool     `json:"joined"`
}

func writeJoined(c *cli.Invocation, v *jobView) error {
	return c.Out.Result(joinedResult{jobRunning, v, true}, func(t *cli.Text) {
		t.Line("Job %s of %s runs on this tree already, %s. Nothing was started.", t.Bold(v.End().Title()), v.Agent, jobTime(t, v))
		t.Line("You are told when it ends; do not wait for it. Log: tt job log %d", v.ID)
	})
}

// A recheckResult is the answer of job run --recheck where there was a verdict.
type recheckResult struct {
	JobID   int64  `json:"job_id"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Outcome string `json:"outcome,omitempty"`
	Log     string `json:"log"`
	Held    *bool  `json:"held,omitempty"` // absent where the tree was changed meanwhile, or the job was stopped
}

// recheck waits for the end of a job, and says whether the verdict that there was has held.
func recheck(ctx context.Context, c *cli.Invocation, room *member.Room, j *jobs.Job) error {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	if j = j.Await(ctx); signalOf(ctx) != nil {
		return interrupted(ctx, nil)
	}
	v := viewJob(room.FS.Name(), j)
	err := c.Out.Result(recheckResult{j.ID, j.Name, v.State, j.Outcome, v.Log, j.Held}, func(t *cli.Text) {
		t.Line("%s", j.End().Words())
		switch {
		case j.Held == nil:
			t.Line("Whether the verdict held is not known: the tree was changed meanwhile, or the job did not end by itself.")
		case *j.Held:
			t.Line("%s The verdict held.", t.Green("Yes."))
		default:
			t.Line("%s The verdict did not hold, and is withdrawn: the same command failed on the same tree.", t.Red("No."))
		}
	})
	if err != nil {
		return err
	}
	return exitAsJob(j)
}

// verifiedInstead returns the verdict that job run --once has answered with, where the job that is waited
// for is forgotten, or was of another tree and did not pass. It is nil otherwise.
func verifiedInstead(ctx context.Context, c *cli.Invocation, j *jobs.Job, missing error) *ledger.Verdict {
	ref := c.Arg("job")
	didNotPass := j != nil && j.Name == ref && j.Outcome != "" && j.Outcome != turn.JobPassed && j.TreeState != ""
	if code.Of(missing) != code.JobNotFound && !didNotPass {
		return nil
	}
	view, err := openTree(ctx, c)
	if err != nil || !view.Tree.Ledger.Exists() {
		return nil
	}
	now, err := view.lookNow(ctx)
	if err != nil {
		return nil
	}
	defer now.Close()
	state := now.Now.State()
	switch {
	case len(now.Now.LeftOut) > 0:
	case j == nil:
		for _, v := range view.Tree.Ledger.Verdicts(state) {
			if v.Name == ref || strconv.FormatInt(v.JobID, 10) == ref {
				return v
			}
		}
	case j.TreeState != state.String():
		if ask, err := view.Tree.AskOf(j, state); err == nil {
			return view.Tree.Ledger.FindVerdict(ask)
		}
	}
	return nil
}
