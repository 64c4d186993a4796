package changes

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// AskOf returns the question that a job asks of the tree in a state. A command that does not run in the tree has none.
func (t *Tree) AskOf(j *jobs.Job, state ledger.StateID) (ledger.Ask, error) {
	dir, err := filepath.EvalSymlinks(j.Dir)
	if err == nil {
		dir, err = filepath.Rel(t.Ledger.Root(), dir)
	}
	if err != nil || !filepath.IsLocal(dir) {
		return ledger.Ask{}, code.New(code.Usage, "%s is not in %s, so a verdict on that tree would say nothing of COMMAND", j.Dir, t.Ledger.Root()).
			WithHint("run it in the tree, or without --once")
	}
	return ledger.Ask{State: state, Name: j.Name, Command: j.Command, Dir: filepath.ToSlash(dir)}, nil
}

// oncePatience is how long [Tree.AskOnce] waits for another process that asks, and for the tree: the first
// snapshot reads every file.
const oncePatience = time.Minute

// An Answer is what is known of a job before it is started. No other job of this tree is asked for until Free is called.
type Answer struct {
	Verdict *ledger.Verdict  // on the tree as it is now, nil if there is none
	Running *jobs.Job        // the same on this tree, nil if there is none
	LeftOut []ledger.LeftOut // why there can be no verdict
	Free    func()
}

// AskOnce looks for a verdict on the tree as it is now, and for a job that is about to give one, which the caller
// joins unless it is to run again.
func (t *Tree) AskOnce(ctx context.Context, j *jobs.Job, again bool) (res *Answer, err error) {
	if _, err := t.AskOf(j, ""); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, oncePatience)
	defer cancel()
	free, err := t.Ledger.LockVerdicts(ctx)
	if err != nil {
		return nil, Explain(err)
	}
	defer func() {
		if err != nil {
			free()
		}
	}()
	now, err := t.Ledger.Take(ctx, ledger.Request{Why: ledger.WhyJob, Agent: t.Room.Self.ID})
	if err != nil {
		return nil, Explain(err)
	}
	res = &Answer{Free: free, LeftOut: now.LeftOut}
	if len(res.LeftOut) > 0 {
		return res, nil
	}
	ask, err := t.AskOf(j, now.State())
	if err != nil {
		return nil, err
	}
	if res.Verdict = t.Ledger.FindVerdict(ask); res.Verdict != nil || again {
		return res, nil
	}
	for _, other := range t.Room.Jobs().Untold() {
		if other.Name == j.Name && other.TreeState == string(ask.State) && slices.Equal(other.Command, j.Command) &&
			other.Dir == j.Dir && other.Attended() {
			if runs, err := other.Join(t.Room.Self.ID); err != nil || runs {
				res.Running = other
				return res, err
			}
			res.Verdict = t.Ledger.FindVerdict(ask) // it has ended meanwhile
		}
	}
	return res, nil
}

// ofJob returns the tree of a job's room, nil if nothing is recorded of it. Nothing is recorded before a
// turn is asked for, a second session is there, or a verdict is.
func ofJob(r *member.Room, set Setting, j *jobs.Job) *Tree {
	snap, err := r.FS.View()
	if err != nil || j.Root == "" { // what is known of a tree outlives a room
		return nil
	}
	set.Root = j.Root
	t, err := Of(r, snap.State.Policy, set)
	if err != nil || !t.Ledger.Exists() {
		return nil
	}
	return t
}

// JobBegins writes down which tree the command of a job is about to see, if that can be said soon.
func JobBegins(ctx context.Context, r *member.Room, set Setting, j *jobs.Job) {
	t := ofJob(r, set, j)
	if t == nil {
		return
	}
	now := t.lookFor(ctx, lookLimit(t.policy))
	if now == nil {
		return
	}
	j.Tree = now.Tree.String()
	if ask, err := t.AskOf(j, now.State()); err == nil && len(now.Partial()) == 0 {
		j.TreeState = string(now.State())
		j.Recheck = t.Ledger.FindVerdict(ask) != nil
	}
}

// verdictPatience is how long the end of a command that has succeeded waits for its tree.
const verdictPatience = 30 * time.Second

// JobEnds writes down whether the tree is another one now that the command of a job has ended, and records
// the verdict, or withdraws the one that there was.
func JobEnds(ctx context.Context, r *member.Room, set Setting, j *jobs.Job) {
	t := ofJob(r, set, j)
	if t == nil || j.Tree == "" {
		return
	}
	began := ledger.StateID(j.TreeState)
	ask, err := t.AskOf(j, began)
	whole := began != "" && err == nil
	passed := j.Outcome == talk.JobPassed
	failed := j.Outcome == talk.JobFailed || j.Outcome == talk.JobTimeout || j.Outcome == talk.JobOutputLimit
	if whole && failed { // whatever the tree is by now: a miss is always right
		t.Ledger.Withdraw(ask)
	}
	var now *ledger.Snapshot
	if whole && passed {
		ctx, cancel := context.WithTimeout(ctx, verdictPatience)
		defer cancel()
		now, _ = t.Ledger.Take(ctx, ledger.Request{Why: ledger.WhyJob, Agent: j.Agent})
	} else {
		now = t.lookFor(ctx, lookLimit(t.policy))
	}
	if now == nil {
		return
	}
	same := now.State() == began
	if j.TreeMoved = now.Tree.String() != j.Tree || whole && !same; j.TreeMoved || !whole || len(now.LeftOut) > 0 {
		return
	}
	if j.Recheck && (passed || failed) {
		j.Held = &passed
	}
	if passed {
		at, _ := event.NewTime(j.EndedAt.Time).MarshalText()
		_ = t.Ledger.AddVerdict(ask, ledger.Verdict{
			Tree: j.Tree, Agent: j.Agent, At: string(at), JobID: j.ID, Duration: j.End().Duration,
		})
	}
}

// lookLimit is how long it is looked at the tree where nothing is recorded: also in a room whose releases do not wait.
func lookLimit(p turn.Policy) time.Duration { return max(wait(p), BeforeLimit) }

// lookFor returns the tree as it is now, nil if that cannot be said in so long a time.
func (t *Tree) lookFor(ctx context.Context, limit time.Duration) (now *ledger.Snapshot) {
	t.look(ctx, limit, func(v *ledger.View) { now = v.Now })
	return now
}

// look calls with with the tree as it is now, if that can be said in so long a time.
func (t *Tree) look(ctx context.Context, limit time.Duration, with func(v *ledger.View)) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if v, err := t.Ledger.Look(ctx); err == nil {
		defer v.Close()
		with(v)
	}
}

// shownCommand is how many characters the command of a verdict has at most where the turn is handed on.
const shownCommand = 200

// verified returns the verdicts on the tree of a snapshot as a JSON array, nil if there are none.
func (t *Tree) verified(s *ledger.Snapshot) json.RawMessage {
	var list []ledger.Verdict
	for _, v := range t.Ledger.Verdicts(s.State()) {
		list = append(list, v.Short(shownCommand))
	}
	if list == nil || len(s.Partial()) > 0 {
		return nil
	}
	b, _ := json.Marshal(list)
	return b
}

// Verified implements [member.Recorder].
func (t *Tree) Verified(ctx context.Context, st *turn.State) json.RawMessage {
	before := st.Turn // that was handed over
	if st.Owner == t.Room.Self.ID {
		before--
	}
	all, err := t.Ledger.Recent(before)
	_, end := ledger.TurnOf(all, before)
	if err != nil || end == nil {
		return nil
	}
	list := t.verified(end)
	if list == nil {
		return nil
	}
	if now := t.lookFor(ctx, BeforeLimit); now == nil || now.State() != end.State() || len(now.Partial()) > 0 {
		return nil
	}
	return list
}

// LastVerdicts returns the last verdicts of a room's tree, and which of them are on the tree as it is now. It
// looks at the tree for a moment.
func LastVerdicts(ctx context.Context, r *member.Room, st *turn.State, set Setting) []ledger.LastVerdict {
	t, err := Of(r, st.Policy, set)
	if err != nil || !t.Ledger.Exists() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit(st.Policy))
	defer cancel()
	return t.Ledger.LastVerdicts(ctx)
}

// A VerifiedCheck is whether the tree as it is now has a verdict of a name.
type VerifiedCheck struct {
	Verified bool              `json:"verified"`
	Verdict  *ledger.Verdict   `json:"verdict,omitempty"`  // on this tree, or else the last one of that name
	Differs  *ledger.Differing `json:"differs,omitempty"`  // from the tree of the verdict
	LeftOut  []ledger.LeftOut  `json:"left_out,omitempty"` // why the tree can have no verdict
}

// CheckVerified tells whether the tree as it is now has a verdict of a name, and with commit whether what is about to be
// committed, which the index has, is that tree. The index is "" for that of the repository.
func (p *Past) CheckVerified(ctx context.Context, name string, commit bool, index string) (res VerifiedCheck, err error) {
	now, err := p.Look(ctx)
	if err != nil {
		return res, err
	}
	defer now.Close()
	if commit && !now.InRepository() {
		return res, code.New(code.Usage, "%s is in no git repository: nothing is staged", p.Ledger.Root()).WithHint("ask without --commit")
	}
	isOfName := func(v *ledger.Verdict) bool { return v.Name == name }
	res.LeftOut = now.Now.LeftOut
	if of := p.Ledger.Verdicts(now.Now.State()); len(res.LeftOut) == 0 && slices.ContainsFunc(of, isOfName) {
		res.Verified, res.Verdict = true, of[slices.IndexFunc(of, isOfName)]
	} else if all := p.Ledger.AllVerdicts(); slices.ContainsFunc(all, isOfName) {
		res.Verdict = all[slices.IndexFunc(all, isOfName)]
		res.Differs, err = now.Differing(res.Verdict.State)
	}
	if err == nil && res.Verified && commit {
		res.Differs, err = now.Unstaged(ledger.Git{
			Index:      func(top string) (string, error) { return gitIn(top, index, "", "ls-files", "-t", "--stage", "-z") },
			ModuleHead: moduleHead,
			Staged:     func(paths []string) []string { return stagedAs(p.Ledger.Root(), paths) },
		})
		res.Verified = res.Differs == nil
	}
	return res, Explain(err)
}

// stagedAs returns the objects as which git would stage files, whose paths are relative to dir; nil if it cannot tell.
func stagedAs(dir string, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	ids, _ := gitIn(dir, "", strings.Join(paths, "\n")+"\n", "hash-object", "--stdin-paths")
	return strings.Fields(ids)
}

// gitIn runs git in a directory with an index, "" for that of the repository, whatever repository git itself has named
// for this process.
func gitIn(dir, index, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	if index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	}
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// moduleHead returns the commit of a submodule, "" if something in it differs from that commit.
func moduleHead(dir string) string {
	top, err := gitIn(dir, "", "", "rev-parse", "--show-toplevel", "HEAD")
	changed, changedErr := gitIn(dir, "", "", "status", "--porcelain", "--untracked-files=all")
	where, head, _ := strings.Cut(top, "\n")
	if real, realErr := filepath.EvalSymlinks(dir); err != nil || changedErr != nil || realErr != nil || changed != "" || where != real {
		return ""
	}
	return head
}
