package turn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestTrouble: what is wrong with a holder, for every state of its guardian and of its
// harness, and what is said of it. Nothing says that a process is alive, or that it renews
// the lease, if it does not run.
func TestTrouble(t *testing.T) {
	const leaseEnds, goneAt = "03:49:05", "03:14:05" // 45 and 10 minutes after the start of the test
	for _, c := range []struct {
		guardian turn.Process
		harness  string
		want     string // what pid until, of each
	}{
		{turn.Alive, "alive", ""},
		{turn.Alive, "stopped", "harness_stopped 7 -"},
		{turn.Alive, "ended", "harness_ended 7 " + goneAt},
		{turn.Alive, "unknown", ""},
		{turn.Stopped, "alive", "guardian_stopped 42 " + leaseEnds},
		{turn.Stopped, "stopped", "harness_stopped 7 " + leaseEnds + ", guardian_stopped 42 " + leaseEnds},
		{turn.Stopped, "ended", "harness_ended 7 " + goneAt + ", guardian_stopped 42 " + goneAt},
		{turn.Stopped, "unknown", "guardian_stopped 42 " + leaseEnds},
		{turn.Gone, "alive", "guardian_ended 42 " + leaseEnds},
		{turn.Gone, "stopped", "harness_stopped 7 " + leaseEnds + ", guardian_ended 42 " + leaseEnds},
		{turn.Gone, "ended", "harness_ended 7 " + goneAt + ", guardian_ended 42 " + goneAt},
		{turn.Gone, "unknown", "guardian_ended 42 " + goneAt}, // only the guardian stands for the agent
		{turn.Unseen, "alive", "guardian_unseen 42 " + leaseEnds},
		{turn.Unknown, "alive", ""},
	} {
		t.Run(fmt.Sprintf("guardian %s, harness %s", c.guardian, c.harness), func(t *testing.T) {
			w := room(t, members("a", "b"), held("a"))
			p := w.presence("a")
			p.PID, p.OutlivesProcess = 7, true
			switch c.harness {
			case "alive":
				p.Process = turn.Alive
			case "stopped":
				p.Process, p.Stopped = turn.Alive, true
			case "ended":
				p.Process = turn.Gone
			case "unknown":
				verdict := turn.Alive
				if c.guardian == turn.Gone {
					verdict = turn.Gone
				}
				*p = turn.Presence{Seen: p.Seen, Waiting: p.Waiting, Process: turn.Unknown}.WithGuardian(verdict, 42)
				p.Stopped = c.guardian == turn.Stopped
			}
			f := w.facts()
			f.Support = func() turn.Support { return turn.Support{Guardian: c.guardian, PID: 42} }
			var got []string
			list := w.state.Trouble(f)
			for _, x := range list {
				until := "-"
				if x.Until != nil {
					until = x.Until.Format("15:04:05")
				}
				got = append(got, fmt.Sprint(x.What, " ", x.PID, " ", until))
				if x.Do == "" || !strings.Contains(x.Sentence(), fmt.Sprint(x.PID)) {
					t.Errorf("%s: %q, do %q", x.What, x.Sentence(), x.Do)
				}
			}
			equal(t, "trouble", strings.Join(got, ", "), c.want)

			outlook := strings.Join(w.state.Outlook(f), "\n")
			renews := c.guardian == turn.Alive || c.guardian == turn.Unknown
			equal(t, "why says that the guardian renews", strings.Contains(outlook, "renews"), renews && len(list) == 0)
			for _, x := range list {
				if !strings.Contains(outlook, x.Sentence()) {
					t.Errorf("why lacks %q:\n%s", x.Sentence(), outlook)
				}
			}
			equal(t, "trouble of the room", len(w.state.Room(f).Trouble), len(list))
			equal(t, "trouble of the turn", len(w.state.Standing(f).Trouble), len(list))
			says := w.state.MemberViews(f)[0]
			equal(t, "a member is said to be alive", says.Process == turn.Alive, c.harness == "alive" || c.harness == "unknown" && c.guardian == turn.Alive)
			equal(t, "a member that has ended is said to count as gone later", says.GoneAt != nil,
				c.harness == "ended" || c.harness == "unknown" && c.guardian == turn.Gone)

			// When the turn can be taken over, the evidence says the same.
			w.later(46 * time.Minute)
			w.seen("b")
			f.Now = w.now()
			_, res, err := turn.Try(w.state, f, turn.TryRequest{Agent: "b", Lease: "l"})
			if err != nil || res.Status != turn.TakeoverAvailable {
				t.Fatalf("%+v, %v", res, err)
			}
			for _, x := range w.state.Trouble(f) {
				if x.What == turn.GuardianEnded && c.harness == "ended" {
					continue // it ended with its agent
				}
				if !strings.Contains(res.Evidence.Sentence, x.Fact()) {
					t.Errorf("the evidence lacks %q: %s", x.Fact(), res.Evidence.Sentence)
				}
				equal(t, x.What+" until", x.Until == nil, true)
			}
		})
	}
}

// TestTroubleWithoutGuardian: nothing says that a guardian has ended that was never started,
// and as long as the holder may be alive, the next step is its own.
func TestTroubleWithoutGuardian(t *testing.T) {
	for process, do := range map[turn.Process]string{turn.Alive: "have a run", turn.Unknown: "have a run", turn.Gone: "tt take"} {
		w := room(t, members("a", "b"), held("a"))
		p := w.presence("a")
		p.Process, p.OutlivesProcess = process, true
		f := w.facts()
		f.Support = func() turn.Support { return turn.Support{Guardian: turn.NoProcess} }
		list := w.state.Trouble(f)
		x := list[len(list)-1]
		equal(t, "what", x.What, turn.GuardianEnded)
		equal(t, "fact", x.Fact(), "no guardian renews the lease of a")
		if !strings.HasPrefix(x.Do, do) || x.Until == nil {
			t.Errorf("%s: do %q, until %v", process, x.Do, x.Until)
		}
	}
}

// TestTroubleOfAnIdleHolder: where its model has rested for too long, others may take the turn whatever keeps its lease.
func TestTroubleOfAnIdleHolder(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	w.presence("a").Process = turn.Alive
	w.does["a"] = turn.Activity{What: turn.ActivityIdle, Began: w.now(), Since: event.NewTime(w.wall), At: event.NewTime(w.wall)}
	idle := w.wall.Add(15 * time.Minute)
	for _, until := range []string{idle.UTC().Format("15:04:05"), ""} {
		f := w.facts()
		f.Support = func() turn.Support { return turn.Support{Guardian: turn.Gone, PID: 42} }
		x := w.state.Trouble(f)[0]
		equal(t, "what", x.What, turn.GuardianEnded)
		if got := x.Until; got == nil && until != "" || got != nil && got.UTC().Format("15:04:05") != until {
			t.Errorf("until %v, want %q", got, until)
		}
		if takes := strings.HasPrefix(x.Do, "tt take"); takes != (until == "") {
			t.Errorf("until %q: do %q", until, x.Do)
		}
		w.later(15 * time.Minute)
	}
}

// TestTroubleOfTheLock: a stopped process that has the lock keeps everybody from changing
// the room, whether somebody has the turn or not.
func TestTroubleOfTheLock(t *testing.T) {
	w := room(t, members("a"))
	f := w.facts()
	equal(t, "nothing is known", len(w.state.Trouble(f)), 0)
	f.Support = func() turn.Support { return turn.Support{Lock: 9} }
	list := w.state.Trouble(f)
	if len(list) != 1 || list[0].What != turn.LockStopped || list[0].PID != 9 || list[0].Do != "kill -CONT 9" {
		t.Fatalf("%+v", list)
	}
	if outlook := w.state.Outlook(f); !strings.Contains(outlook[0], "process 9, which has the lock of the room, is stopped") {
		t.Fatalf("%q", outlook)
	}
}

// A holder that is cut off is told when to stop, and nobody is told that it may be taken over from: only
// hosts that the engine answers know that.
func TestCutOff(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	for _, later := range []time.Duration{0, time.Hour} {
		w.later(later)
		f := w.facts()
		f.Lease = w.state.Renewed(turn.Lease{})
		f.Lease.Proof = turn.Proof{Boot: "boot", At: w.state.Grant.At.Wall}
		f.Support = func() turn.Support { return turn.Support{Guardian: turn.Alive, PID: 42, CutOff: true} }
		list := w.state.Trouble(f)
		if len(list) == 0 || list[0].What != turn.CutOff || !list[0].Until.Before(w.state.Room(f).LeaseExpiresAt.Time) {
			t.Fatalf("trouble: %+v", list)
		}
		outlook := strings.Join(w.state.Outlook(f), "\n")
		if !strings.Contains(outlook, "stop writing") || strings.Contains(outlook, "renews") || strings.Contains(outlook, "tt take") || strings.Contains(outlook, "msg send") {
			t.Errorf("after %v: %s", later, outlook)
		}
	}
}
