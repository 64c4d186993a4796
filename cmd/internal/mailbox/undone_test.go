package mailbox

import (
	"os"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// send sends a message to an agent.
func (f *fixture) send(from *Mailbox, to, body string) {
	f.Helper()
	_, _, err := from.Room.Update(f.Context(), nil, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
		return turn.Send(st, facts, turn.MessageRequest{Agent: from.Room.Self.ID, To: to, Body: body})
	})
	f.must(err)
}

// TestUndoneMessage: a message that was shown before its writer had synced it, and that was
// undone since, does not count as shown: the next one, which gets its number, is unread.
func TestUndoneMessage(t *testing.T) {
	// Each way of showing returns what records that.
	for name, show := range map[string]func(*fixture, *Mailbox) func(){
		"a reader": func(f *fixture, m *Mailbox) func() {
			read := m.Reader()
			f.must(m.Room.EachEvent(f.Context(), 0, false, func(e *event.Event) error { read.Show(e); return nil }))
			return func() { read.Save(f.Context()) }
		},
		"an inbox": func(f *fixture, m *Mailbox) func() {
			in, err := m.Inbox(f.Context())
			f.must(err)
			return func() { m.InboxShown(f.Context(), in) }
		},
		"a hook": func(f *fixture, m *Mailbox) func() {
			n, err := m.News(f.Context(), nil)
			f.must(err)
			n.Unshown(func(*talk.Word) bool { return true })
			printed, ok := n.Printed(false)
			return func() {
				if ok {
					f.must(m.Shown(f.Context(), &printed))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.options.Patience = 20 * time.Millisecond
			b := f.join("b:1")
			var record func()
			undo := false
			f.options.Fault = func(step fsroom.Step) error {
				if step == fsroom.StepReplace && undo { // the event is in the journal, and the room is locked
					undo = false
					info, err := os.Stat(b.Room.FS.JournalPath())
					f.must(err)
					record = show(f, b)
					f.must(os.Truncate(b.Room.FS.JournalPath(), f.before))
					if info.Size() <= f.before {
						t.Error("nothing to undo")
					}
					return os.ErrInvalid
				}
				return nil
			}
			a := f.join("a:1")
			f.send(a, "b:1", "zero")
			in, err := b.Inbox(f.Context())
			f.must(err)
			b.InboxShown(f.Context(), in)
			info, err := os.Stat(a.Room.FS.JournalPath())
			f.must(err)
			f.before, undo = info.Size(), true
			f.send(a, "b:1", "one")
			record()
			f.send(a, "b:1", "two")
			if n := b.Unread(f.state(b)).Messages; n != 1 {
				t.Errorf("%d unread messages, want 1", n)
			}
			in, err = b.Inbox(f.Context())
			if err != nil || len(in.Messages) != 1 || talk.Of(&in.Messages[0]).Text != "two" {
				t.Errorf("%v, %v", in.Messages, err)
			}
		})
	}
}

// TestPassTwice: an event that comes twice counts once.
func TestPassTwice(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	f.send(a, "b:1", "one")
	f.send(a, "b:1", "two")
	read, one := b.Reader(), true
	f.must(b.Room.EachEvent(f.Context(), 0, false, func(e *event.Event) error {
		if talk.IsMail(e, "b:1") && one {
			read.Show(e)
			read.Show(e)
			one = false
		}
		return nil
	}))
	read.Save(f.Context())
	if n := b.Unread(f.state(b)).Messages; n != 1 {
		t.Errorf("%d of 2 messages are unread", n)
	}
}
