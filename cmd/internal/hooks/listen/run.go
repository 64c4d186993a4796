package listen

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
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

// goneFor is how long a session has to be gone before its listener ends, and goneEvery
// how often that is asked.
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
	dir := a.Client.Hearing().Dir()
	if _, err := a.WakePath(); err != nil {
		return err
	}
	a.Client.FindRoomsToHear()
	session, release, err := a.takePost(ctx, t.How)
	if err != nil {
		return err
	}
	defer release()
	update, stopPull := a.pull(func() string { return cmp.Or(a.Client.Hearing().Listens(), t.How) })
	defer stopPull()
	watch := dir.WatchMark(fsroom.ListenerWakeFile)
	defer watch.Stop()
	ended, stop := a.harnessEnd()
	defer stop()
	var goneSince time.Time
	for {
		if l := a.Client.Hearing().Listener(); session != "" && l.Session != session ||
			t.How == hearing.ByHook && l.Proved() || t.How == hearing.ByHold && turn.InTurn(a.Client.Hearing().Activity().What) {
			return nil // it is not needed any more
		}
		update()
		if doing := a.Client.Hearing().Activity(); t.Unattended != nil && !turn.InTurn(doing.What) && !doing.Stopped && t.Unattended() {
			a.Note(hearing.Doing{What: turn.ActivityIdle, Stopped: true, Since: a.Client.Now(), Session: session})
		}
		wake, err := a.Speak(ctx, t.How)
		if err == nil && wake.Text != "" {
			err = t.Deliver(ctx, wake)
			a.note(ctx, err)
			if errors.Is(err, ErrDeaf) || err == nil && t.Once {
				return err
			}
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil { // the disk may be full, or the lock is not to be had
			wake.Later = goneEvery
		}
		sleep := fsroom.Sleep{For: wake.Later, Exit: ended}
		if (t.Gone != nil || a.jobsRun()) && (sleep.For == 0 || sleep.For > goneEvery) {
			sleep.For = goneEvery
		}
		if a.Client.IsHuman() && (sleep.For == 0 || sleep.For > needEvery) {
			sleep.For = needEvery
		}
		if watch.Wait(ctx, sleep) != nil {
			return nil
		}
		select {
		case <-ended:
			return nil
		default:
		}
		switch {
		case t.Gone == nil || !t.Gone():
			goneSince = time.Time{}
		case goneSince.IsZero():
			goneSince = time.Now()
		case time.Since(goneSince) >= goneFor:
			return nil
		}
	}
}

// jobsRun reports whether jobs run in the rooms of the agent: if what runs them is killed,
// nobody else tells.
func (a *Agent) jobsRun() bool {
	return slices.ContainsFunc(a.Client.Hearing().Rooms(), func(name string) bool {
		return len(a.Client.Room(name, nil).Jobs().Untold()) > 0
	})
}

// Hear keeps the agent's wake file true while nothing else of tt runs for the session of
// its harness, which watches the file or shows news at each prompt: with an engine
// somebody has to hear what other hosts do. It ends with the session. Of several processes
// one does so.
func (a *Agent) Hear(ctx context.Context) error {
	dir := a.Client.Hearing().Dir()
	if a.Client.Pull == nil || a.IsHearing() {
		return nil
	}
	release, err := dir.Hold(hearing.MirrorMark)
	if err != nil {
		return err
	}
	defer release()
	if _, err := a.WakePath(); err != nil {
		return err
	}
	session := a.Client.Hearing().Listener().Session
	update, stopPull := a.pull(func() string { return cmp.Or(a.Client.Hearing().Listens(), hearing.ByHooks) })
	defer stopPull()
	watch := dir.WatchMark(fsroom.ListenerWakeFile)
	defer watch.Stop()
	ended, stop := a.harnessEnd()
	defer stop()
	for session != "" && a.Client.Hearing().Listener().Session == session {
		update()
		if watch.Wait(ctx, fsroom.Sleep{Exit: ended}) != nil {
			return nil
		}
		select {
		case <-ended:
			return nil
		default:
		}
	}
	return nil
}

// IsHearing reports whether a process is in Hear.
func (a *Agent) IsHearing() bool { return a.Client.Hearing().Dir().Held(hearing.MirrorMark) }

// pull keeps the mirrors of the agent's rooms up to date. Without an engine it does nothing.
func (a *Agent) pull(how func() string) (update, stop func()) {
	if a.Client.Pull == nil {
		return func() {}, func() {}
	}
	return a.Client.Pull(a.Client.Self.ID, a.Client.Hearing().Rooms, how)
}

// takePost makes this process the one that listens. It returns the session that the
// process listens for.
func (a *Agent) takePost(ctx context.Context, how string) (session string, release func(), err error) {
	unlock, err := a.Client.Hearing().Dir().Lock(ctx)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = unlock() }()
	me := a.Client.Hearing()
	if me.IsListening() {
		return "", nil, code.New(code.AlreadyListening, "something listens for %s already: %s", a.Client.Self.ID, me.Listens()).
			WithHint("one listener is enough for all rooms; tt why says how the others can be reached")
	}
	l := me.Listener()
	if !l.Proved() {
		l.How = how
	}
	l.Since, l.Heard, l.Error = event.NewTime(a.now()), event.NewTime(a.now()), ""
	if err := me.Save(&l); err != nil { // first, so that how it listens is known as soon as it does
		return "", nil, err
	}
	if release, err = me.Hold(); err != nil {
		return "", nil, err
	}
	return l.Session, release, nil
}

// note records the last error of the transport.
func (a *Agent) note(ctx context.Context, failure error) {
	text := ""
	if failure != nil {
		text = cli.Line(failure.Error())
	}
	_ = a.change(ctx, func(l *hearing.Listener) bool {
		changed := l.Error != text
		l.Error = text
		return changed
	})
}

// harnessEnd returns a channel that is closed when the process of the harness ends. It is
// nil if that process is not known.
func (a *Agent) harnessEnd() (ended <-chan struct{}, stop func()) {
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
