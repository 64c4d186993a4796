package listen

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/turn"
)

func TestWhatWasShownWakesNobody(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	b := f.join("b:1")
	f.send(b, "a:1", "one", false)
	if !strings.Contains(f.show(a), "one") {
		t.Error("not shown")
	}
	f.wants(a, "")
}

// What was printed is said again until the model was asked with it, and while it may be
// about to be asked nobody is woken for it once more.
func TestPrintedIsNotShownYet(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, r := f.listener("a:1")
	b := f.join("b:1")
	a.Session = "s1"
	f.must(a.Begin(ctx, Session{ID: "s1"}))
	unread := func() int64 {
		snap, err := r.FS.View()
		f.must(err)
		return mailbox.Of(r).Unread(snap.State).Messages
	}
	f.send(b, "a:1", "which branch?", false)
	f.wants(a, "1 message")
	a.Note(doing(turn.ActivityWorking))
	for range 2 {
		if text := f.print(a); !strings.Contains(text, "which branch?") {
			t.Errorf("printed is %q", text)
		}
	}
	f.later(time.Minute)
	f.wants(a, "")
	another := *a
	another.Session = "s2"
	f.must(another.Confirm(ctx))
	if n := unread(); n != 1 {
		t.Errorf("%d are unread before the model was asked", n)
	}
	a.Note(doing(turn.ActivityIdle)) // the turn was cancelled
	f.wants(a, "1 message")
	f.print(a)
	f.must(a.Confirm(ctx))
	if n := unread(); n != 0 || a.Client.Hearing().HasPrinted() {
		t.Errorf("%d are unread after the model was asked", n)
	}
	if text := f.print(a); text != "" {
		t.Errorf("printed is %q", text)
	}
}
