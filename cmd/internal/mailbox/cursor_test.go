package mailbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A fixture is a workspace and a data directory.
type fixture struct {
	*testing.T
	data, dir string
	options   fsroom.Options
	before    int64 // the size of the journal
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, data: t.TempDir(), dir: t.TempDir()}
	f.must(os.WriteFile(filepath.Join(f.dir, "go.mod"), nil, 0o600))
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// join makes an agent a member.
func (f *fixture) join(id string) *Mailbox {
	f.Helper()
	store, err := fsroom.Open(f.data, f.options)
	f.must(err)
	w, err := workspace.Locate(f.dir, f.dir, f.dir)
	f.must(err)
	c := &member.Client{
		Store: store, Table: identity.System(), Self: identity.Agent{ID: id, Source: identity.SourceOverride},
		Policy: func() (turn.Policy, error) { return turn.DefaultPolicy(), nil }, Warn: func(line string) { f.Log(line) },
	}
	r, _, err := c.Join(f.Context(), w, false, false)
	f.must(err)
	return Of(r)
}

func (f *fixture) state(m *Mailbox) *turn.State {
	f.Helper()
	snap, err := m.Room.FS.View()
	f.must(err)
	return snap.State
}

// TestCursorShared: one that shows and one that wakes store their parts at the same time,
// and both stay.
func TestCursorShared(t *testing.T) {
	const rounds = 200
	f := newFixture(t)
	first := f.join("a:1")
	joined := f.state(first).Member("a:1").JoinedAt
	f.join("b:1")
	_, _, err := first.Room.Update(f.Context(), nil, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		sent, err := turn.Send(st, facts, turn.MessageRequest{Agent: "a:1", To: "b:1", Body: "hello"})
		return slices.Repeat(sent, rounds), err
	})
	f.must(err)
	hook := *first.Room.Client
	hook.Shows = "hook"
	second := Of(hook.Room(first.Room.FS.Name(), nil))
	var both sync.WaitGroup
	both.Go(func() {
		for n := range int64(rounds) {
			first.AdvanceCursor(Cursor{JoinedAt: joined, Woken: hearing.Woken{EventSeq: n + 1, Tries: 1}})
		}
	})
	both.Go(func() {
		for n := range int64(rounds) {
			second.show(Cursor{JoinedAt: joined, Seen: talk.Seen{EventSeq: n + 1}})
		}
	})
	both.Wait()
	got := first.Cursor(f.state(first))
	if got.EventSeq != rounds || got.Woken.EventSeq != rounds || got.Shown.How != "hook" {
		t.Errorf("%+v", got)
	}
}

// TestCursorLost: without the file, everything is shown again, and nothing fails.
func TestCursorLost(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	_, _, err := a.Room.Update(context.Background(), nil, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		return turn.Send(st, facts, turn.MessageRequest{Agent: "a:1", To: "b:1", Body: "hello"})
	})
	f.must(err)
	st := f.state(b)
	for _, content := range []string{"", "{", `{"joined_at":"2000-01-01T00:00:00Z","event_seq":99,"read":99}`} {
		c := b.Reader()
		f.must(b.Room.EachEvent(context.Background(), 0, false, func(e *event.Event) error { c.Show(e); return nil }))
		c.Save(f.Context())
		if n := b.Unread(st).Messages; n != 0 {
			t.Errorf("%d unread after reading", n)
		}
		f.must(os.WriteFile(b.own().Path(hearing.CursorFile), []byte(content), 0o600))
		if n := b.Unread(st).Messages; n != 1 {
			t.Errorf("%d unread with the file %q", n, content)
		}
	}
}

// TestReader: messages count as read that were shown, also before an older one, and a reader that is behind another
// does not set it back.
func TestReader(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	for _, body := range []string{"one", "two", "three"} {
		_, _, err := a.Room.Update(context.Background(), nil, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
			return turn.Send(st, facts, turn.MessageRequest{Agent: "a:1", To: "b:1", Body: body, Interrupt: body == "three"})
		})
		f.must(err)
	}
	st := f.state(b)
	mail, err := b.Room.LastEvents(context.Background(), st, false, 3, func(e *event.Event) bool { return e.Type == turn.MessageSent })
	f.must(err)
	read := func(shown ...bool) {
		t.Helper()
		c := b.Reader()
		for i := range shown {
			if shown[i] {
				c.Show(&mail[i])
			}
		}
		c.Save(f.Context())
	}
	unread := func(want int64) {
		t.Helper()
		if got := b.Unread(st).Messages; got != want {
			t.Errorf("%d unread, want %d", got, want)
		}
	}
	unread(3)
	late := b.Reader()
	late.Show(&mail[0])
	read(false, true, false)
	unread(2)
	read(true, true, false)
	unread(1)
	late.Save(f.Context())
	unread(1)
	if n, err := b.UnreadInterrupts(context.Background(), st); n != 1 || err != nil {
		t.Errorf("%d unread interrupts, %v", n, err)
	}
	if got := b.Read(st); !got.Has(talk.KindMessage, mail[1].Seq) || got.Has(talk.KindMessage, mail[2].Seq) {
		t.Errorf("read: %v", got)
	}
	read(true, true, true)
	unread(0)
}

// TestCursorAfterCopy: what was shown in a room that was put back to an earlier membership is remembered, and what was
// printed in an earlier membership is not.
func TestCursorAfterCopy(t *testing.T) {
	f := newFixture(t)
	m := f.join("a:1")
	joined := m.Cursor(f.state(m)).JoinedAt
	for _, c := range []struct {
		stored, at time.Duration // since the agent joined
		want       int64
	}{{time.Hour, 0, 2}, {0, -time.Hour, 0}, {time.Hour, -time.Hour, 0}} {
		f.must(m.own().Write(hearing.CursorFile, &Cursor{JoinedAt: event.NewTime(joined.Add(c.stored))}))
		f.must(m.AdvanceCursor(Cursor{JoinedAt: event.NewTime(joined.Add(c.at)), Seen: talk.Seen{EventSeq: 2}}))
		if got := m.Cursor(f.state(m)).EventSeq; got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
