package ttcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
)

var jobRunCommand = &cli.Command{
	Name: "job run",
	Args: []cli.Arg{
		{Name: "name", Usage: "the job: lower-case letters, digits, and . _ - behind the first, 64 at most; not a number"},
		{Name: "path", Optional: true, Before: true, Usage: session.Usage},
		{Name: "line", Show: "-- COMMAND", Rest: true, Usage: "the command and its arguments, behind --"},
	},
	Flags: func(f *cli.Flags) {
		f.Duration("timeout", "D", 0, "end COMMAND when it has run for so long (default: no end)")
		f.Bool("once", "run nothing if COMMAND has succeeded on exactly this tree, or runs on it")
		f.Bool("recheck", "run all the same, wait for the end, and say whether the verdict held")
	},
	Run: runJobRun,
}

// A jobRun is the result of job run.
type jobRun struct {
	JobID   int64  `json:"job_id"`
	Name    string `json:"name"`
	PID     int    `json:"pid,omitempty"` // not with --recheck
	State   string `json:"state"`
	Outcome string `json:"outcome,omitempty"` // this and Held are those of --recheck
	Log     string `json:"log"`
	Held    *bool  `json:"held,omitempty"` // false also where there was no verdict; absent where the tree was changed meanwhile, or the job was stopped

	LeftOut []ledger.LeftOut `json:"left_out,omitempty"` // with --once and --recheck: why there is, or will be, no verdict
}

func runJobRun(ctx context.Context, c *cli.Invocation) error {
	name := c.Arg("name")
	argv, err := commandLine(c, "tt job run "+name)
	if err != nil {
		return err
	}
	if !locks.ValidName(name) || strings.Trim(name, "0123456789") == "" { // a number is that of a job
		return badName(c, "job", name, ", and not digits alone").With("argument", "name")
	}
	if i := slices.IndexFunc(append(slices.Clone(argv), c.Env.Dir), func(text string) bool { return !utf8.ValidString(text) }); i >= 0 {
		what := "the directory"
		if i < len(argv) {
			what = fmt.Sprintf("argument %d of the command", i)
		}
		return c.Usagef("%s is not valid UTF-8, and a job is recorded as text", what).
			WithHint("put the command into a script, in a directory that is, and run that")
	}
	if c.Given("timeout") && c.Duration("timeout") <= 0 {
		return c.Usagef("--timeout is more than 0").With("flag", "timeout")
	}
	program, err := findProgram(argv[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return err
	}
	if why := jobs.WouldDie(processes(c)); why != "" {
		return code.New(code.JobWouldDie, "the job would end with this call: %s", why).
			WithHint("run this command outside of the sandbox, or let it run there always: for Codex with a rule that allows \"tt job run\"")
	}
	room, snap, err := openRoom(c)
	if err != nil {
		return err
	}
	if !room.IsMember(snap.State) {
		return turn.NotJoined(snap.State, room.Self.ID)
	}
	room.RecordPresence(ctx, snap.State)
	job := jobs.Job{
		Name: name, Command: argv, Program: program, Dir: c.Env.Dir, Timeout: c.Duration("timeout").Milliseconds(), Root: room.Directory(),
	}
	once := &changes.Answer{Free: func() {}}
	if c.Bool("once") || c.Bool("recheck") {
		tree, err := changes.Of(room, snap.State.Policy, ledgerSetting(c))
		if err != nil {
			return err
		}
		if once, err = tree.AskOnce(ctx, &job, c.Bool("recheck")); err != nil {
			return err
		}
		defer once.Free()
		if v := once.Verdict; v != nil && !c.Bool("recheck") { // a job wait after it gives it, too
			if err := room.Jobs().AnswerVerified(v.Name, v.JobID, json.RawMessage(cli.JSONLine(v))); err != nil {
				return err
			}
			return writeVerified(c, v)
		}
		if once.Running != nil {
			v := once.Running.View()
			return c.Out.Result(joinedResult{jobs.Running, v, true}, func(t *cli.Text) {
				t.Line("Job %s of %s runs on this tree already, %s. Nothing was started.", t.Bold(v.End().Title()), v.Agent, jobTime(t, v))
				t.Line("You are told when it ends; do not wait for it. Log: tt job log %d", v.ID)
			})
		}
	}
	j, err := room.StartJob(ctx, snap.State, job)
	once.Free()
	if failed := (*jobs.NotStartedError)(nil); errors.As(err, &failed) {
		return cli.Fail(statusCannotRun, code.New(code.Usage, "%v", failed))
	}
	if err != nil {
		return err
	}
	if c.Bool("recheck") {
		return recheck(ctx, c, j, once.LeftOut)
	}
	v := j.View()
	res := jobRun{JobID: j.ID, Name: j.Name, PID: v.PID, State: v.State, Log: v.Log, LeftOut: once.LeftOut}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("Job %s runs (pid %d). You are told when it ends; do not wait for it.", t.Bold(j.End().Title()), v.PID)
		t.Line("Log: tt job log %s", j.Name)
		writeNoVerdict(t, once.LeftOut)
	})
}

// writeNoVerdict says why a job gives no verdict, nothing if it may give one.
func writeNoVerdict(t *cli.Text, left []ledger.LeftOut) {
	if len(left) > 0 {
		t.Line("It gives no verdict: the tree is not recorded whole.")
		writeLeftOut(t, left)
	}
}

// commandLine returns the command on the command line, which must stand behind --. how is
// what stands before it.
func commandLine(c *cli.Invocation, how string) ([]string, error) {
	argv := c.Rest("line")
	end := slices.Index(c.Env.Args, "--")
	if end < 0 || !slices.Equal(c.Env.Args[end+1:], argv) {
		return nil, c.Usagef("-- must stand before COMMAND").WithHint("%s -- %s", how, strings.Join(argv, " "))
	}
	if argv[0] == "" {
		return nil, c.Usagef("COMMAND is empty")
	}
	return argv, nil
}

// jobRunnerCommand is the process that starts the command of a job and says how it ends. It
// is started by job run, never by hand, see [jobs.Runner].
var jobRunnerCommand = &cli.Command{
	Name:   "job-run",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, NoSubject: true},
	Args:   []cli.Arg{{Name: "dir", Usage: "the directory of the job"}},
	Run:    runJobRunner,
}

func runJobRunner(ctx context.Context, c *cli.Invocation) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	room, id, err := jobs.At(client.Store.Local(), c.Arg("dir"))
	if err != nil {
		return err
	}
	room.Table = client.Table
	r := &jobs.Runner{
		Room: room, ID: id, Drop: []string{locks.Variable},
		Tell:   func(ctx context.Context, j *jobs.Job) error { return client.Room(room.Name, nil).TellJob(ctx, j) },
		Begins: func(j *jobs.Job) { changes.JobBegins(ctx, client.Room(room.Name, nil), ledgerSetting(c), j) },
		Ends:   func(j *jobs.Job) { changes.JobEnds(ctx, client.Room(room.Name, nil), ledgerSetting(c), j) },
	}
	return r.Run(ctx)
}

// jobRooms returns the rooms of the path on the command line that have jobs; with all also those of the other working
// trees of the repository.
func jobRooms(ctx context.Context, c *cli.Invocation, all bool) ([]*member.Room, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	w, err := locateArg(c)
	if w == nil {
		return nil, err
	}
	return client.RoomsWithJobs(ctx, w, all), nil
}

// findJob returns the job that the command line names, and its room.
func findJob(ctx context.Context, c *cli.Invocation) (*jobs.Job, *member.Room, error) {
	here, err := jobRooms(ctx, c, true)
	if err != nil {
		return nil, nil, err
	}
	return findJobIn(here, c.Arg("job"))
}

func findJobIn(rooms []*member.Room, ref string) (*jobs.Job, *member.Room, error) {
	for _, r := range rooms {
		if j, err := r.Jobs().Find(ref); err != nil || j != nil {
			return j, r, err
		}
	}
	return nil, nil, code.New(code.JobNotFound, "there is no job %q here", shortened(ref)).
		WithHint("tt job list names the jobs; those that ended long ago are forgotten").With("job", shortened(ref))
}

var jobArg = cli.Arg{Name: "job", Show: "ID|NAME", Usage: "the number of a job, or its name: the newest one that has it"}

// writeVerified is the answer of job run --once, and of job wait after it, where nothing has to run.
func writeVerified(c *cli.Invocation, v *ledger.Verdict) error {
	return c.Out.Result(map[string]any{"status": "verified", "verdict": v}, func(t *cli.Text) {
		t.Line("%s %s, which is as it is now. Nothing was run.", t.Green("Verified."), verdictWords(t, v))
	})
}

// verdictWords says what a verdict says: "make test in . passed on this tree, by a:1, 3 minutes ago (test#4)".
func verdictWords(t *cli.Text, v *ledger.Verdict) string {
	command := "The command"
	if v.Command != nil {
		command = shortened(strings.Join(v.Command, " "))
	}
	return command + " in " + v.Dir + " passed " + t.Ago(v.Time()) + ", by " + v.Agent + " (" + v.Name + "#" + itoa(v.JobID) +
		"), on the tree " + v.Tree[:min(len(v.Tree), 12)]
}

// A joinedResult is the answer of job run --once where such a job runs on this tree.
type joinedResult struct {
	Status string     `json:"status"` // running
	Job    *jobs.View `json:"job"`
	Joined bool       `json:"joined"`
}

// recheck waits for the end of a job, and says whether the verdict that there was has held.
func recheck(ctx context.Context, c *cli.Invocation, j *jobs.Job, left []ledger.LeftOut) error {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	if j = j.Await(ctx); signalOf(ctx) != nil {
		return interrupted(ctx, nil)
	}
	v := j.View()
	res := jobRun{j.ID, j.Name, 0, v.State, j.Outcome, v.Log, j.Held, left}
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
