package changes

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
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
