package member

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A session that was killed and resumed is judged by the process in which a hook of it has run.
func TestHookIsSignOfLife(t *testing.T) {
	f := newFixture(t)
	a, b := f.join("a:1"), f.join("b:1")
	first, second := f.child(), f.child()
	a.Self.Root, a.Self.SessionExported = &first, true
	a.RecordSign()
	f.works(a, turn.ActivityWorking, 0)
	presence := func() turn.Presence { return b.Facts(f.state(b)).Presence("a:1") }
	if p := presence(); p.Process != turn.Alive || p.PID != first.PID {
		t.Fatalf("%+v", p)
	}
	f.must(f.killProcess(first.PID))
	if p, doing := presence(), b.Facts(f.state(b)).Activity("a:1"); p.Process != turn.Gone || doing.What != turn.ActivityEnded {
		t.Errorf("its process has ended: %+v, %+v", p, doing)
	}
	a.Self.Root = &second
	a.RecordSign()
	f.works(a, turn.ActivityWorking, 0)
	if p, doing := presence(), b.Facts(f.state(b)).Activity("a:1"); p.Process != turn.Alive || p.PID != second.PID || doing.What != turn.ActivityWorking {
		t.Errorf("it is back: %+v, %+v", p, doing)
	}
	if all := a.processRecord("a:1").Processes; len(all) != 1 || all[0] != second {
		t.Errorf("recorded: %v", all)
	}
}
