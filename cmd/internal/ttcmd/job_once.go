package ttcmd

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/ledger"
)

// A verifiedResult is the answer of job run --once, and of job wait after it, where nothing has to run.
type verifiedResult struct {
	Status  string          `json:"status"` // verified
	Verdict *ledger.Verdict `json:"verdict"`
}

// answerVerified answers job run --once with a verdict, which a job wait after it gives, too.
func answerVerified(c *cli.Invocation, room *member.Room, v *ledger.Verdict) error {
	if err := room.Jobs().AnswerVerified(v.Name, v.JobID, json.RawMessage(cli.JSONLine(v))); err != nil {
		return err
	}
	return writeVerified(c, v)
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

// A recheckResult is the answer of job run --recheck.
type recheckResult struct {
	JobID   int64  `json:"job_id"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Outcome string `json:"outcome,omitempty"`
	Log     string `json:"log"`
	Held    *bool  `json:"held,omitempty"` // false also where there was no verdict; absent where the tree was changed meanwhile, or the job was stopped

	LeftOut []ledger.LeftOut `json:"left_out,omitempty"` // why there is no verdict
}

// recheck waits for the end of a job, and says whether the verdict that there was has held.
func recheck(ctx context.Context, c *cli.Invocation, room *member.Room, j *jobs.Job, left []ledger.LeftOut) error {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	if j = j.Await(ctx); signalOf(ctx) != nil {
		return interrupted(ctx, nil)
	}
	v := viewJob(room.FS.Name(), j)
	res := recheckResult{j.ID, j.Name, v.State, j.Outcome, v.Log, j.Held, left}
	if !j.Recheck {
		res.Held = new(bool)
	}
	err := c.Out.Result(res, func(t *cli.Text) {
		t.Line("%s", j.End().Words())
		switch {
		case !j.Recheck:
			t.Line("There was no verdict that could hold: this command had not passed on exactly this tree.")
			writeNoVerdict(t, left)
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

// verifiedInstead returns the verdict that job run --once has answered with, nil if a job of one of the rooms was
// started after that.
func verifiedInstead(rooms []*member.Room, ref string) *ledger.Verdict {
	for _, r := range rooms {
		var v *ledger.Verdict
		if json.Unmarshal(r.Jobs().Verified(ref), &v) == nil {
			return v
		}
		if j, _ := r.Jobs().Find(ref); j != nil {
			return nil
		}
	}
	return nil
}
