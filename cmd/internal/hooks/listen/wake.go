package listen

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

const (
	// busyPatience is how long news waits while the model is in a turn.
	busyPatience = 60 * time.Second
	// queuePatience is that for a harness with a queue of prompts: a prompt that is put into
	// the queue meanwhile is a turn of its own, also when a hook has shown the news since.
	// The harness says when a turn has ended, so only a turn that takes so long makes it wait.
	queuePatience = 10 * time.Minute
	// queueEvery is how often it is looked whether such a turn has ended with an error, which
	// only the transcript tells.
	queueEvery = 2 * time.Second
	// messageGap is the shortest time between two wakes for messages alone.
	messageGap = 10 * time.Second
	// changePatience is how long after a look while a room was being changed there is another one.
	changePatience = time.Second
)

// A Wake is what wakes an agent. It is zero if nothing does.
type Wake struct {
	Class string        `json:"class"`   // the most important of turn.ClassTurn, …
	Room  string        `json:"room_id"` // of the room that Class is about
	Path  string        `json:"path"`    // of that room
	Text  string        `json:"text"`    // a fixed text, for the model
	Later time.Duration // without a Text: how long it is until there may be one; 0: until the next notification
	Spent bool          // without a Text: Later is when the agent may be woken again, see [hearing.Budget]
	Again bool          // without a Text: a room could not be read as it will be in a moment, and no notification follows
}

// DecideWake decides whether the agent is woken now, by the way that how names, and records
// that it is. Of several that ask at the same time one is told to. If the record cannot be
// written, nobody is: the agent would be woken for the same again and again.
//
// The one that is told to wakes the agent with the text. If it is killed before, the
// agent is woken again after half a minute and after two minutes, by whoever asks then.
func (a *Agent) DecideWake(ctx context.Context, how string) (wake Wake, err error) {
	a.Settle(ctx)
	unlock, err := a.Client.Hearing().Dir().Lock(ctx)
	if err != nil {
		return Wake{}, err
	}
	defer func() { _ = unlock() }()
	l, now := a.Client.Hearing().Listener(), a.now()
	l.Heard = event.NewTime(now)
	if how == hearing.ByWatch && l.How != how {
		l.How, l.Since = how, l.Heard
	}
	due, without := a.due(ctx, &l, how, now)
	if len(due) == 0 {
		return without, a.Client.Hearing().Save(&l)
	}
	l.Woken, l.PutOff = l.Heard, event.Time{}
	if err := a.Client.Hearing().Save(&l); err != nil {
		return Wake{}, err
	}
	for i := range due {
		if due[i].news.IsZero() {
			continue
		}
		if err := due[i].Wake(how, now); err != nil {
			return Wake{}, err
		}
	}
	// A prompt for which hooks run, which show what others wrote.
	shown := slices.Contains([]string{hearing.ByWatch, hearing.ByHook, hearing.ByQueue, hearing.ByOpenCode, hearing.ByHold}, how)
	return a.wakeFor(due, shown), nil
}

// Settle waits for changes that are under way in the agent's rooms. The lock of the listener
// is not held meanwhile: the writer may be slow.
func (a *Agent) Settle(ctx context.Context) {
	for _, room := range a.Client.RoomsHeard() {
		room.FS.Settled(ctx)
	}
}

// A dueNews is the news of one room that the agent is woken for.
type dueNews struct {
	mailbox.RoomNews
	news turn.News
	need *mailbox.Need // of the holder of the turn, if a person is to be told now
}

// class returns the most important class that there is news of.
func (d *dueNews) class() string {
	if class := d.news.Class(); d.need == nil || class == turn.ClassTurn || class == turn.ClassLost {
		return class
	}
	return turn.ClassNeeds
}

// needAfter is for how long an agent has to need something before a person is told: a dialog
// that is answered at once rings nobody.
const needAfter = 20 * time.Second

// due returns the news that the agent is woken for now, or a Wake without a Text. It brings the
// record up to date.
func (a *Agent) due(ctx context.Context, l *hearing.Listener, how string, now time.Time) (due []dueNews, without Wake) {
	doing, printed := a.Client.Hearing().Activity(), hearing.Printed{}
	if how == hearing.ByQueue && doing.Stopped {
		return nil, Wake{} // it would stay in the queue, and be a turn too many after the next prompt
	}
	busy := turn.InTurn(doing.What) && how != hearing.ByHooks
	if busy { // the model may be about to be asked with it; the hook at the end of its turn knows better
		printed = a.Client.Hearing().Printed()
	}
	urgent, offered, written, byPerson, last := false, false, false, false, l.Needed
	sooner := func(d time.Duration) { without.Later = turn.Soonest(without.Later, d) }
	for _, room := range a.Client.RoomsHeard() {
		n, err := mailbox.Of(room).News(ctx, printed.Of(room.FS.Name()))
		switch {
		case err != nil: // a room that cannot be read tells so when a command uses it
			without.Again = true
			sooner(goneEvery)
			continue
		case n.Pending:
			without.Again = true
			sooner(changePatience)
		case !n.Member && n.All.IsZero():
			room.Drop()
			continue
		}
		sooner(n.Until)
		news, wait := n.Due(now)
		news = a.allowed(l, &n, news)
		need, untilNeed := a.need(l, &n, how, now)
		sooner(untilNeed)
		switch {
		case need != nil:
			urgent = true
			if need.Since.After(last.Time) {
				last = need.Since
			}
		case news.IsZero():
			sooner(wait)
			continue
		}
		due = append(due, dueNews{n, news, need})
		urgent, offered, byPerson = urgent || news.Urgent(), offered || news.Class() == turn.ClassTurn, byPerson || news.ByPerson
		written = written || news.Without(turn.ClassTurn).Class() == turn.ClassMessage
	}
	if len(due) == 0 {
		l.PutOff = event.Time{}
		return nil, without
	}
	if l.PutOff.IsZero() {
		l.PutOff = event.NewTime(now)
	}
	if busy {
		patience, every := busyPatience, busyPatience
		if how == hearing.ByQueue {
			patience, every = queuePatience, queueEvery
		}
		if wait := l.PutOff.Add(patience).Sub(now); wait > 0 {
			sooner(min(wait, every))
			return nil, without
		}
	}
	if wait := l.Woken.Add(messageGap).Sub(now); !urgent && !offered && wait > 0 && wait <= messageGap {
		sooner(wait)
		return nil, without
	}
	if !urgent && !byPerson {
		messages, turns := l.Messages.Left(now), l.Turns.Left(now)
		switch {
		case offered && turns == 0:
			l.Turns.Spend(now)
		case written && messages == 0:
			l.Messages.Spend(now)
		default:
			if !offered || written && messages < turns {
				turns = messages
			}
			sooner(turns)
			without.Spent = without.Later == turns
			return nil, without
		}
	}
	l.Needed = last
	return due, Wake{}
}

// need returns what the holder of the turn needs, if a person is to be told now, or how long it
// is until then.
func (a *Agent) need(l *hearing.Listener, n *mailbox.RoomNews, how string, now time.Time) (need *mailbox.Need, wait time.Duration) {
	if !a.Client.IsHuman() || how != hearing.ByExec {
		return nil, 0
	}
	if need = n.HolderNeed(); need == nil || !need.Since.After(l.Needed.Time) {
		return nil, 0
	}
	if wait = needAfter - now.Sub(need.Since.Time); wait > 0 {
		return nil, wait
	}
	return need, 0
}

// allowed returns the part of the news that the agent wants to be woken for. It does not
// need to hear of what it waits for.
func (a *Agent) allowed(l *hearing.Listener, n *mailbox.RoomNews, news turn.News) turn.News {
	if n.Waiting {
		news = news.Without(turn.ClassTurn, turn.ClassLost)
	}
	if n.Inbox || l.Off || os.Getenv(Quiet) == "1" {
		news = news.Without(turn.ClassJob, turn.ClassMessage)
	}
	return news
}
