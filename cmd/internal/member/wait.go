package member

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// An Output is where the answer to a request for the turn goes.
type Output interface {
	// Answer prints the result. It is called once.
	Answer(turn.WaitResult) error
	// Waiting is called after each look at the room that brought no answer.
	Waiting(turn.WaitResult)
}

// News is what the agent is told with a turn, and what may end a wait besides the turn.
// Package mailbox has it.
type News interface {
	// Briefing returns the briefing for a turn that came with the handoff of an event. st
	// is the room before the grant. When it was printed, shown is called with the room then.
	Briefing(ctx context.Context, st *turn.State, handoff int64) (b turn.Briefing, shown func(*turn.State))
	// Await is [fsroom.Room.AwaitBoth] for the agent, beside all that may have news for it.
	Await(ctx context.Context, inspect fsroom.Inspect[*turn.State]) error
	// Look returns what has come for the agent that it was not shown and that ends a wait.
	Look(ctx context.Context, st *turn.State) (Found, error)
}

// Found is what has come for an agent.
type Found struct {
	News  any           // nil: nothing
	Shown func()        // called when it was printed
	More  time.Duration // how long to wait for what comes together with it
}

// Try looks at the room once, and claims the turn if it is the agent's.
func (r *Room) Try(ctx context.Context, out Output) error {
	t := turnRequest{Room: r, out: out, since: r.waitingSince(), lease: fsroom.NewLease()}
	snap, err := r.FS.View()
	if err != nil {
		return err
	}
	if _, err := t.try(ctx, snap); err != nil {
		return err
	}
	t.actsForOwner()
	return t.answer(ctx)
}

// takePatience is how long a takeover waits for what the turn that it ends has changed.
const takePatience = time.Second

// Take claims the turn or takes it over. The room is one of [Client.SelectRoom]; if it
// exists, an agent that is no member becomes one with the takeover, a person an observer.
func (r *Room) Take(ctx context.Context, request turn.TakeRequest, out Output) (err error) {
	if r.Created {
		r.Asks = true
		var closed *ClosedError
		if _, err := r.join(ctx, false); errors.As(err, &closed) {
			return out.Answer(closed.Result)
		} else if err != nil {
			return err
		}
	}
	snap, err := r.FS.View()
	if err != nil {
		return err
	}
	r.RecordPresence(ctx, snap.State)
	request.Join = r.joinRequest(snap.State.Policy, r.IsHuman())
	request.Waited = r.elapsed(r.waitingSince())
	t := turnRequest{Room: r, out: out, joins: !r.IsMember(snap.State), auto: request.Auto, lease: request.Lease}
	owner, end := snap.State.Owner, (*TurnEnd)(nil)
	if owner != "" && owner != r.Self.ID {
		end = r.turnEndOf(ctx, snap, owner, takePatience, func(st *turn.State) error {
			_, _, err := turn.Take(st, r.Facts(st), request)
			return err
		})
	}
	recorded := sync.OnceFunc(func() { _, _ = end.Result() }) // the beginning is recorded after it
	defer recorded()
	if _, err := t.request(ctx, snap, func(st *turn.State, f turn.Facts) ([]event.Event, turn.WaitResult, error) {
		if request.Changed = nil; owner != "" && st.Owner == owner {
			request.Changed = end.Events(st)
		}
		events, res, err := turn.Take(st, f, request)
		if code.Of(err) == code.AgentElsewhere {
			err = r.checkHost(st) // it knows the guardian there too
		}
		return events, res, err
	}); err != nil {
		return err
	}
	recorded()
	return t.answer(ctx)
}

// Wait waits until the turn is the agent's, until there is another answer, or until
// the limit has passed. The end of ctx ends it between two looks at the room, or while
// one waits for the room's lock; a turn that was granted is answered even then. With
// park it takes only a turn that is meant for the agent. With inbox it also ends when there
// is something that the agent was not shown. The agent is a member.
func (r *Room) Wait(ctx context.Context, limit time.Duration, park, inbox bool, out Output) error {
	since := r.beginWait()
	if inbox { // first: who sees that the agent waits also sees that it waits for messages
		stop, err := r.own().Hold(inboxFile)
		if err != nil {
			return err
		}
		defer stop()
	}
	stopWaiting, err := r.own().Hold(waitingFile)
	if err != nil {
		return err
	}
	defer stopWaiting()
	if err := r.own().EnsureWakeFile(); err != nil {
		return err
	}
	t := turnRequest{Room: r, out: out, park: park, since: since, inbox: inbox, lease: fsroom.NewLease()}
	before, _ := r.Client.Hearing().Ended()
	t.ended = &before
	if err := t.wait(ctx, limit); err != nil {
		return err
	}
	// The directory of a room that has ended is gone, and the end of a session stays.
	if t.result.Status != turn.WaitClosed && (t.result.Status == turn.YourTurn || !t.isOver()) {
		_ = r.own().Mark(waitingFile, r.time())
		if t.result.HeldBy == 0 {
			r.recordSeen()
		}
	}
	return t.answer(ctx)
}

// wait looks at the room until there is an answer, the limit has passed, or
// untilSignal ends.
func (t *turnRequest) wait(untilSignal context.Context, limit time.Duration) error {
	ctx, stop := context.WithTimeout(untilSignal, limit)
	defer stop()
	defer t.exits.Close()
	var failed error // of a look: returned whatever else ends the wait at the same time
	err := t.await(ctx, func(snap *snapshot) (bool, fsroom.Sleep, error) {
		before := t.Room.Now()         // so that a deadline that passes during the look is still ahead
		var running []identity.Process // jobs, of whose end the wait tells
		if t.inbox {
			running = t.Room.SettleJobs(untilSignal)
		}
		done, err := t.try(untilSignal, snap)
		more := time.Duration(0)
		if err == nil && !done && t.isOver() {
			t.result.Evidence.Hint = "the session that began this wait has ended; one that goes on in its place waits with a tt wait of its own"
			return true, fsroom.Sleep{}, nil
		}
		switch {
		case err != nil:
		case !done && t.inbox:
			done, more, err = t.lookForNews(ctx, snap.State)
		case t.result.Status == turn.WaitClosed:
			var closed *ClosedError
			if t.result.Inbox = t.found.News; t.found.News != nil {
				t.shown = func(*turn.State) { t.found.Shown() }
			}
			if is := errors.As(t.Room.checkClosed(untilSignal, snap.State), &closed); is && t.found.News == nil && closed.unseen > 0 {
				t.result = closed.Result
			}
		}
		if err == nil && !done && more == 0 {
			done = t.actsForOwner()
		}
		if away := t.Room.hosts.away(err); away || errors.Is(err, context.Canceled) || (comesFrom(err, code.LockTimeout) && ctx.Err() == nil) {
			// The lock was not had, or the engine not reached. There is time to look
			// again, or a signal ends the wait.
			t.result = snap.State.NotYet(t.facts)
			if away {
				return false, fsroom.Sleep{For: awayPoll}, nil
			}
			return false, fsroom.Sleep{For: time.Millisecond}, nil
		}
		if failed = err; done || err != nil {
			return true, fsroom.Sleep{}, err
		}
		t.out.Waiting(t.result)
		st, f := snap.State, t.facts // what was looked up for this look is not looked up again
		if t.after != nil {
			st = t.after
		}
		f.Now = before
		if root := t.Room.Self.Root; root != nil {
			running = append(running, *root)
		}
		t.exits.Watch(append(t.Room.watched(st), running...))
		return false, fsroom.Sleep{For: turn.Soonest(st.NextDeadline(f, t.Room.Self.ID), more), Exit: t.exits.C()}, nil
	})
	if failed != nil || (err != nil && ctx.Err() == nil) {
		return err
	}
	unseen := t.result.Status == "" // the first look failed
	if unseen && !errors.Is(err, context.Canceled) && !t.Room.hosts.away(err) {
		return err
	}
	if _, away := t.Room.Unreachable(); unseen || away != nil && t.result.Status == turn.NotYet {
		said := t.result.Evidence
		t.result = t.Room.notYet(away)
		t.result.Evidence = said
	}
	return nil
}

// await is [fsroom.Room.AwaitAs], or with an inbox [News.Await].
func (t *turnRequest) await(ctx context.Context, inspect fsroom.Inspect[*turn.State]) error {
	if !t.inbox {
		return t.Room.FS.AwaitAs(ctx, t.Room.Self.ID, inspect)
	}
	return t.Room.News.Await(ctx, inspect)
}

// isOver reports whether the session of a wait, or its process, has ended since the wait began: nobody is left who
// could be told.
func (t *turnRequest) isOver() bool {
	root := t.Room.Self.Root
	if t.ended == nil || root == nil {
		return false
	}
	e, ended := t.Room.Client.Hearing().Ended()
	return ended && e.At != t.ended.At && e.Of(root) || t.Room.Table.Verdict(*root) == identity.Gone
}

// actsForOwner reports whether the agent is to wait for one that has started it, which would wait
// for itself if that waits for its end. The result says so.
func (t *turnRequest) actsForOwner() bool {
	if t.result.Status != turn.NotYet || t.result.CurrentOwner == "" || t.Room.ActsFor(t.after) == "" {
		return false
	}
	t.result.Evidence.Hint = t.result.CurrentOwner + " has started you: you act for it, do not wait"
	return true
}

// lookForNews reports whether something has come for the agent that it was not shown,
// and sets the result to it. If more is not zero, the agent waits so long for what comes
// together with it.
func (t *turnRequest) lookForNews(ctx context.Context, st *turn.State) (done bool, more time.Duration, err error) {
	found, err := t.Room.News.Look(context.WithoutCancel(ctx), st)
	if err != nil || found.News == nil { // the room may have been closed since
		return false, 0, err
	}
	t.found = found
	if end, limited := ctx.Deadline(); found.More > 0 && (!limited || time.Until(end) > found.More) {
		return false, found.More, nil
	}
	t.shown = func(*turn.State) { found.Shown() }
	t.result.Status, t.result.Inbox = turn.WaitInbox, found.News
	return true, 0, nil
}

// An agent that waits in a loop waits as a whole: a wait that begins soon after the last
// one goes on with it, until the agent has a turn.
const (
	sinceFile = "waiting_since" // its time is when the agent began to wait

	// waitGap is the longest time between two waits that count as one.
	waitGap = 60 * time.Second
)

// waitingSince returns since when the agent has waited. It is zero if the agent does not
// wait and its last wait ended longer than waitGap ago, or was killed.
func (r *Room) waitingSince() time.Time {
	since, until := r.own().Marked(sinceFile), r.own().Marked(waitingFile)
	ended := until.Before(since) || r.time().Sub(until) > waitGap
	if ended && !r.own().Held(waitingFile) {
		return time.Time{}
	}
	return since
}

// beginWait records that a wait begins, and returns since when the agent has waited.
func (r *Room) beginWait() time.Time {
	since := r.waitingSince()
	if since.IsZero() {
		since = r.time()
		_ = r.own().Mark(sinceFile, since)
	}
	return since
}

// forgetWait records that the agent has a turn: its next wait is a new one.
func (r *Room) forgetWait() { _ = r.own().Remove(sinceFile) }

// elapsed returns the time since an instant, 0 for the zero Time.
func (r *Room) elapsed(since time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	return max(0, r.time().Sub(since))
}
