package mailbox

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
)

// untilTwo is a mailbox of which a wait expects more until there are two messages.
type untilTwo struct {
	*Mailbox
	looked chan int64 // how many messages each look has found
}

func (u *untilTwo) Look(ctx context.Context, st *turn.State) (member.Found, error) {
	found, err := u.Mailbox.Look(ctx, st)
	n := u.Unread(st).Messages
	if found.News == nil {
		n = 0
	}
	found.More = 0
	if n < 2 {
		found.More = time.Hour
	}
	select {
	case u.looked <- n:
	default:
	}
	return found, err
}

type answer chan turn.WaitResult

func (a answer) Answer(res turn.WaitResult) error { a <- res; return nil }
func (a answer) Waiting(turn.WaitResult)          {}

// TestWaitGathers: what comes a little after the first thing is in the same answer, and
// the wait does not outlast its limit for that.
func TestWaitGathers(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	for _, limit := range []time.Duration{3 * time.Hour, time.Minute} {
		news := &untilTwo{Mailbox: b, looked: make(chan int64, 100)}
		b.Room.News = news
		out := make(answer, 1)
		ended := make(chan error, 1)
		go func() { ended <- b.Room.Wait(f.Context(), limit, true, true, out) }()
		<-news.looked
		f.send(a, "b:1", "one")
		want := 1
		if limit > time.Hour {
			for <-news.looked < 1 {
			}
			f.send(a, "b:1", "two")
			want = 2
		}
		f.must(<-ended)
		in, ok := (<-out).Inbox.(*Inbox)
		if !ok || len(in.Messages) != want {
			t.Errorf("limit %v: %+v, want %d messages", limit, in, want)
		}
	}
}

// TestWaitClosed: what came before the room was closed is in the answer, also where the wait still expects more.
func TestWaitClosed(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	news := &untilTwo{Mailbox: b, looked: make(chan int64, 100)}
	b.Room.News = news
	out := make(answer, 1)
	ended := make(chan error, 1)
	go func() { ended <- b.Room.Wait(f.Context(), 3*time.Hour, true, true, out) }()
	f.send(a, "b:1", "last words")
	for <-news.looked < 1 {
	}
	_, err := a.Room.Close(f.Context(), "done", 0)
	f.must(err)
	f.must(<-ended)
	res := <-out
	in, ok := res.Inbox.(*Inbox)
	if res.Status != turn.WaitClosed || !ok || len(in.Messages) != 1 {
		t.Errorf("%+v", res)
	}
	n, err := b.News(f.Context(), nil)
	f.must(err)
	n.Unshown(func(w *talk.Word) bool { t.Errorf("it is told again: %q", w.Text); return true })
}

// TestGatherTime: a mailbox expects more for a while after the first thing, and not longer.
func TestGatherTime(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	if found, err := b.Look(f.Context(), f.state(b)); err != nil || found.News != nil {
		t.Errorf("nothing: %+v, %v", found, err)
	}
	f.send(a, "b:1", "one")
	found, err := b.Look(f.Context(), f.state(b))
	if err != nil || found.News == nil || found.More <= 0 || found.More > gatherTime {
		t.Errorf("the first time: %+v, %v", found, err)
	}
	b.found = b.found.Add(-gatherTime)
	if found, err = b.Look(f.Context(), f.state(b)); err != nil || found.More != 0 {
		t.Errorf("later: %+v, %v", found, err)
	}
	found.Shown()
	if found, err = b.Look(f.Context(), f.state(b)); err != nil || found.News != nil {
		t.Errorf("when it was shown: %+v, %v", found, err)
	}
}

// TestClosedUnread: who is in the room no more because that was closed is told what it had not seen then.
func TestClosedUnread(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	f.send(a, "b:1", "seen")
	in, err := b.Inbox(f.Context())
	f.must(err)
	b.InboxShown(f.Context(), in)
	f.send(a, "b:1", "last words")
	f.send(b, "a:1", "of itself")
	_, err = a.Room.Close(f.Context(), "done", 0)
	f.must(err)
	n, err := b.News(f.Context(), nil)
	f.must(err)
	var told []string
	n.Unshown(func(w *talk.Word) bool { told = append(told, w.Text); return true })
	if !slices.Equal(told, []string{"last words"}) || n.End.Type != turn.Closed {
		t.Errorf("%q, %+v", told, n.End)
	}
}
