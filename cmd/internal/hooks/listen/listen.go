// Package listen wakes an agent whose model is idle when there is news for it, in any of
// its rooms: a turn that is offered to it, a turn or a room that it has lost, a message.
//
// Whoever changes a room so touches the wake file of the agents it concerns
// ([fsroom.Store.NotifyListener]). Several things may notice that: the harness itself,
// its hooks, a process of tt. All of them call [Agent.DecideWake], which lets one of them
// wake the agent. What a model reads then is a fixed text that has nothing of what other agents
// wrote. Their words are shown by [Agent.Show].
//
// News has four delivery states: stored (in the journal), woken (it was decided to wake
// the agent), shown (it was printed) and answered. Woken and shown are numbers in the
// agent's cursor that only grow. Losing them repeats something, and loses nothing.
package listen

import (
	"context"
	"reflect"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// An Agent is an agent and what listens for it. The client's Self is the agent.
type Agent struct {
	Client  *member.Client
	Session string           // of the harness, "" if none is known
	Dir     string           // in which its session works, "" if it is not known
	Prompt  string           // that the model is about to be asked, if it is known: what it says is not shown again
	Began   time.Time        // when the hook that runs began, zero for other programs
	Clock   func() time.Time // replaces the clock in tests
}

func (a *Agent) now() time.Time {
	if a.Clock != nil {
		return a.Clock()
	}
	return time.Now()
}

// In returns what a command about the room of a path needs where the session works elsewhere.
func (a *Agent) In(path string) string { return a.Client.In(a.Dir, path) }

// Quiet is the environment variable that, set to 1, lets turns alone wake an agent.
const Quiet = "TALKING_STICK_QUIET"

// A Session is one session of a harness, as a hook knows it.
type Session struct {
	ID      string            // the harness's id of it
	Process *identity.Process // the harness; nil: not known
	Watches bool              // the harness is told to watch the wake file
	Own     bool              // the harness itself is told, as its variables show
}

// WakePath returns the path of the wake file, and creates it.
func (a *Agent) WakePath() (string, error) {
	dir := a.Client.Hearing().Dir()
	if dir.Marked(fsroom.ListenerWakeFile).IsZero() {
		if err := dir.Mark(fsroom.ListenerWakeFile, time.Now()); err != nil {
			return "", err
		}
	}
	return dir.Path(fsroom.ListenerWakeFile), nil
}

// Notify touches the wake file. After [Agent.Begin] of a session that watches, this shows
// whether it does.
func (a *Agent) Notify() { a.Client.Store.NotifyListener(a.Client.Self.ID) }

// Begin records that a session begins, or that its harness was told again to watch the
// wake file, which [Agent.WakePath] returns. The harness counts as listening once it has
// called [Agent.DecideWake] with [hearing.ByWatch] after that.
func (a *Agent) Begin(ctx context.Context, s Session) error {
	a.Client.FindRoomsToHear()
	before, other := "", false // that another session was open
	err := a.change(ctx, func(l *hearing.Listener) {
		before = l.Session
		if other = s.ID != before; other {
			*l = hearing.Listener{Session: s.ID, How: l.How, Since: l.Since, Heard: l.Heard, Woken: l.Woken, Budgets: l.Budgets, Off: l.Off}
		}
		if l.Process != nil && s.Process != nil && *l.Process != *s.Process { // that one watched
			l.Armed = event.Time{}
		}
		by := a.Client.Table.Self()
		l.Process, l.BegunBy = s.Process, &by
		if s.Watches {
			l.Armed, l.Own = event.NewTime(a.now()), s.Own
			if l.How == hearing.ByWatch {
				l.How = ""
			}
		}
	})
	if other {
		a.Client.Hearing().Forget(before)
		a.Notify() // what listens for the other one ends
	}
	return err
}

// End records that a session has ended. Another session of the same agent stays.
func (a *Agent) End(ctx context.Context, session string) error {
	if !a.Client.Hearing().IsKnown() { // the lock of its files would be the first of them
		a.Client.Hearing().Forget(session)
		a.Client.Hearing().Clear()
		return nil
	}
	ended := false
	err := a.change(ctx, func(l *hearing.Listener) {
		mine := a.Client.Self.Root
		if ended = l.Session == session && (l.Process == nil || mine == nil || *l.Process == *mine); ended { // it may be open in another one by now
			*l = hearing.Listener{Budgets: l.Budgets, Off: l.Off}
		}
	})
	if !a.Client.IsBesideHolder() {
		a.Client.Hearing().Forget(session)
	}
	if ended {
		a.Notify() // what listens for it ends
		a.Client.Hearing().Clear()
	}
	return err
}

// Note records what the agent does. While its model is in a turn, news waits for a hook to
// show it, and not for ever. A hook that ends a turn calls Note first and then [Agent.Show],
// so that one of the two sees the news. What listens is notified of the end of a turn, and
// what holds the end of one when another begins.
func (a *Agent) Note(d hearing.Doing) {
	turned, err := a.Client.Hearing().Note(d)
	if err == nil && turned && a.Client.Hearing().IsListening() &&
		(!turn.InTurn(d.What) || a.Client.Hearing().Listener().How == hearing.ByHold) {
		_ = a.Client.Hearing().Dir().Mark(fsroom.ListenerWakeFile, time.Now())
	}
}

// TurnOff sets whether the agent is woken for turns alone.
func (a *Agent) TurnOff(ctx context.Context, off bool) error {
	return a.change(ctx, func(l *hearing.Listener) { l.Off = off })
}

// change changes what is known of the listener, one process at a time. Nothing is written if it is the same then.
func (a *Agent) change(ctx context.Context, change func(*hearing.Listener)) error {
	unlock, err := a.Client.Hearing().Dir().Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	l := a.Client.Hearing().Listener()
	was := l
	if change(&l); reflect.DeepEqual(l, was) {
		return nil
	}
	return a.Client.Hearing().Save(&l)
}
