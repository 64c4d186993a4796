package listen

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A Transport wakes an agent.
type Transport struct {
	How string // one of hearing.ByQueue, …
	// Deliver wakes the agent with the text. With an error that wraps [ErrDeaf] it never
	// will.
	Deliver func(ctx context.Context, wake Wake) error
	// Gone reports whether the session that it wakes is known to have ended. It may be nil.
	Gone func() bool
	// Unattended reports whether the session goes on although its user has closed the window.
	// Then the agent is not woken before the user's next prompt. It may be nil.
	Unattended func() bool
	Once       bool // it ends when it has woken the agent
}

// ErrDeaf is the error of a transport that can wake the agent no more.
var ErrDeaf = errors.New("the agent cannot be woken this way")

// goneFor is how long a session has to be gone before it counts as ended, as its listener does, and
// goneEvery how often that is asked.
const (
	goneFor   = 60 * time.Second
	goneEvery = 20 * time.Second
	needEvery = 5 * time.Second // how often a person's listener looks what agents need, of which nobody notifies it
)

// Run listens for the agent until ctx ends, or the session of its harness or the
// harness's process, and wakes the agent when there is news. An error of the transport is
// recorded, and the agent is woken again later. A process that holds the end of a turn
// ends when the model is in a turn again. If another process listens already, the
// error is already_listening.
func (a *Agent) Run(ctx context.Context, t Transport) error {
	if _, err := a.WakePath(); err != nil {
		return err
	}
	a.Client.FindRoomsToHear()
	of, release, err := a.takePost(ctx, t.How)
	if err != nil {
		return err
	}
	defer release()
	var goneSince time.Time
	return a.follow(ctx, t.How, func() (done bool, again time.Duration, err error) {
		l, doing := a.Client.Hearing().Listener(), a.Client.Hearing().Activity()
		if t.How != hearing.ByExec { // the hook that has started it may record the session later
			of.Session = cmp.Or(of.Session, l.Session)
		}
		switch {
		case of.Session != "" && l.Session != of.Session,
			t.How == hearing.ByHook && (l.Proved() || a.isElsewhere(of, l)), t.How == hearing.ByHold && turn.InTurn(doing.What):
			return true, 0, nil // it is not needed any more
		case t.Gone == nil || !t.Gone():
			goneSince = time.Time{}
		case goneSince.IsZero():
			goneSince = a.now()
		case a.now().Sub(goneSince) >= goneFor: // no hook says so of one that was killed in a server
			return true, 0, a.Client.EndSession(true)
		}
		if t.Unattended != nil && !turn.InTurn(doing.What) && !doing.Stopped && t.Unattended() {
			a.Note(hearing.Doing{What: turn.ActivityIdle, Stopped: true, Since: hearing.Began(a.Client.Now()), Session: of.Session})
		}
		wake, err := a.DecideWake(ctx, t.How)
		if err == nil && wake.Text != "" {
			err = t.Deliver(ctx, wake)
			a.setError(ctx, err)
			if errors.Is(err, ErrDeaf) || err == nil && t.Once {
				return true, 0, err
			}
			return false, time.Nanosecond, nil
		}
		if err != nil { // the disk may be full, or the lock is not to be had
			wake.Later = goneEvery
		}
		return false, a.lookAgain(wake.Later, t), nil
	})
}

// lookAgain returns how long a listener waits at most for a notification, at most d; 0: for as
// long as it takes.
func (a *Agent) lookAgain(d time.Duration, t Transport) time.Duration {
	if (t.Gone != nil || a.jobsRun()) && (d == 0 || d > goneEvery) {
		d = goneEvery
	}
	if a.Client.IsHuman() && (d == 0 || d > needEvery) {
		d = needEvery
	}
	return d
}

// follow calls look now, and again whenever the wake file is touched or the time that look
// returns is over, until look is done, ctx ends or the process of the harness does. Meanwhile
// the mirrors of the agent's rooms are kept up to date; without an engine there are none.
func (a *Agent) follow(ctx context.Context, how string, look func() (done bool, again time.Duration, err error)) error {
	update, stopPull := func() {}, func() {}
	if a.Client.Pull != nil {
		by := func() string { return cmp.Or(a.Client.Hearing().Listens(), how) }
		update, stopPull = a.Client.Pull(a.Client.Self.ID, a.Client.Hearing().Rooms, by)
	}
	defer stopPull()
	watch := a.Client.Hearing().Dir().WatchMark(fsroom.ListenerWakeFile)
	defer watch.Stop()
	ended, stop := a.HarnessEnd()
	defer stop()
	for {
		update()
		done, again, err := look()
		if done || watch.Wait(ctx, fsroom.Sleep{For: again, Exit: ended}) != nil {
			return err
		}
		select {
		case <-ended:
			return nil
		default:
		}
	}
}

// jobsRun reports whether jobs run in the rooms of the agent: if what runs them is killed,
// nobody else tells.
func (a *Agent) jobsRun() bool {
	return slices.ContainsFunc(a.Client.RoomsHeard(), func(room *member.Room) bool {
		return len(room.Jobs().Untold()) > 0
	})
}

// Hear keeps the agent's wake file true while nothing else of tt runs for the session of
// its harness, which watches the file or shows news at each prompt: with an engine
// somebody has to hear what other hosts do. It ends with the session. Of several processes
// one does so.
func (a *Agent) Hear(ctx context.Context) error {
	if a.Client.Pull == nil || a.IsHearing() {
		return nil
	}
	release, err := a.Client.Hearing().Dir().Hold(hearing.MirrorMark)
	if err != nil {
		return err
	}
	defer release()
	if _, err := a.WakePath(); err != nil {
		return err
	}
	session := a.Client.Hearing().Listener().Session
	return a.follow(ctx, hearing.ByHooks, func() (done bool, again time.Duration, err error) {
		return session == "" || a.Client.Hearing().Listener().Session != session, 0, nil
	})
}

// IsHearing reports whether a process is in Hear.
func (a *Agent) IsHearing() bool { return a.Client.Hearing().Dir().Held(hearing.MirrorMark) }

// isElsewhere reports whether the session is open in another process than before, to which what a hook says does not come.
func (a *Agent) isElsewhere(before, now hearing.Listener) bool {
	of := cmp.Or(before.Process, a.Client.Self.Root)
	return of != nil && now.Process != nil && *now.Process != *of
}

// takePost makes this process the one that listens. It returns what was known then of the session
// that the process listens for.
func (a *Agent) takePost(ctx context.Context, how string) (l hearing.Listener, release func(), err error) {
	unlock, err := a.Client.Hearing().Dir().Lock(ctx)
	if err != nil {
		return l, nil, err
	}
	defer func() { _ = unlock() }()
	me := a.Client.Hearing()
	if me.IsListening() {
		return l, nil, code.New(code.AlreadyListening, "something listens for %s already: %s", a.Client.Self.ID, me.Listens()).
			WithHint("one listener is enough for all rooms; tt why says how the others can be reached")
	}
	l = me.Listener()
	if !l.Proved() {
		l.How = how
	}
	l.Since, l.Heard, l.Error = event.NewTime(a.now()), event.NewTime(a.now()), ""
	if err := me.Save(&l); err != nil { // first, so that how it listens is known as soon as it does
		return l, nil, err
	}
	if release, err = me.Hold(); err != nil {
		return l, nil, err
	}
	return l, release, nil
}

// CannotWake records why nothing can wake the agent. What listens next removes that.
func (a *Agent) CannotWake(why string) { a.setError(context.Background(), errors.New(why)) }

// setError records the last error of the transport; nil: it works.
func (a *Agent) setError(ctx context.Context, failure error) {
	text := ""
	if failure != nil {
		text = cli.Line(failure.Error())
	}
	_ = a.change(ctx, func(l *hearing.Listener) { l.Error = text })
}

// HarnessEnd returns a channel that is closed when the process of the harness ends. It is
// nil if that process is not known.
func (a *Agent) HarnessEnd() (ended <-chan struct{}, stop func()) {
	process := a.Client.Hearing().Listener().Process
	if process == nil {
		process = a.Client.Self.Root
	}
	if process != nil {
		if ended, stop, err := identity.WatchExit(*process); err == nil {
			return ended, stop
		}
	}
	return nil, func() {}
}
