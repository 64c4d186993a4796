package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

const years = 10 * 365 * 24 * time.Hour

// TestStatus has the reported states, the most actionable first.
func TestStatus(t *testing.T) {
	owned := steps{members("a", "b"), held("a")}
	reserved := steps{members("a", "b"), held("a"), assigned("b")}
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"never opened", steps{}, turn.StateClosed},
		{"free", steps{members("a")}, turn.StateIdle},
		{"a handoff is pending", steps{members("a"), held("a"), released("open")}, turn.StateIdle},
		{"54 everybody gone", steps{members("a", "b"), gone("a", "b")}, turn.StateDormant},
		{"everybody silent", steps{members("a", "b"), later(silent)}, turn.StateDormant},
		{"everybody silent, -1 ms", steps{members("a", "b"), later(silent - ms)}, turn.StateIdle},
		{"one waits", steps{members("a", "b"), waiting("b"), later(silent)}, turn.StateIdle},
		{"everybody silent, a handoff is pending", steps{members("a"), held("a"), released("open"), later(silent)}, turn.StateDormant},
		{"53 a session that may live on", steps{members("a"), dropped("a")}, turn.StateIdle},
		{"a session that did not", steps{members("a"), dropped("a"), later(10*time.Minute + ms)}, turn.StateDormant},
		{"owned", owned, turn.StateOwned},
		{"owned, everybody silent, the lease renewed", append(owned, later(silent), heartbeat), turn.StateOwned},
		{"lease run out", append(owned, later(leased)), turn.StateStaleOwner},
		{"lease run out, everybody silent", append(owned, later(silent)), turn.StateStaleOwner},
		{"owner gone", append(owned, gone("a")), turn.StateOwnerGone},
		{"owner gone, lease run out", append(owned, gone("a"), later(leased)), turn.StateOwnerGone},
		{"owner gone and everybody else", append(owned, gone("a", "b")), turn.StateOwnerGone},
		{"111 the owner's session may live on", append(owned, dropped("a"), later(10*time.Minute)), turn.StateOwned},
		{"111 the owner's session did not", append(owned, dropped("a"), later(10*time.Minute+ms)), turn.StateOwnerGone},
		{"its owner waits for it", append(owned, gone("a"), waiting("a")), turn.StateOwned},
		{"reserved", reserved, turn.StateReserved},
		{"104 claim time over", append(reserved, later(claimed)), turn.StateReserved},
		{"recipient gone", append(reserved, gone("b")), turn.StateRecipientGone},
		{"recipient gone, claim time over", append(reserved, gone("b"), later(claimed)), turn.StateRecipientGone},
		{"recipient gone and everybody else", append(reserved, gone("a", "b")), turn.StateRecipientGone},
		{"48 ended", steps{members("a"), left("a")}, turn.StateClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			equal(t, "status", w.state.Status(w.facts()), c.want)
			view := w.state.Room(w.facts())
			equal(t, "room", view.State, c.want)
		})
	}
}

// TestNobodyKnows: without facts about members everything is decided by time.
func TestNobodyKnows(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	f := turn.Facts{Now: w.now()}
	equal(t, "owned", w.state.Status(f), turn.StateOwned)
	equal(t, "process", w.state.MemberViews(f)[0].Process, turn.Unknown)
	w.later(leased)
	equal(t, "stale", w.state.Status(turn.Facts{Now: w.now()}), turn.StateStaleOwner)
}

// TestClockSet: setting the wall clock neither ends nor extends anything that
// lasts for a time.
func TestClockSet(t *testing.T) {
	for _, c := range []struct {
		name       string
		steps      steps
		end        time.Duration
		who        string
		before, at string
	}{
		{"lease", steps{members("a", "b"), held("a")}, leased, "b", "not_yet owned", "takeover_available owner_timeout"},
		{"renewed lease", steps{members("a", "b"), held("a"), later(time.Hour), heartbeat}, leased, "b", "not_yet owned", "takeover_available owner_timeout"},
		{"claim time", steps{members("a", "b", "c"), held("a"), assigned("b")}, claimed, "c", "not_yet reserved", "takeover_available claim_timeout"},
		{"waiter grace", steps{members("a", "b", "c"), waiting("b", "c"), held("a"), later(grace), each([]string{"b"}, func(p *present) { p.Waiting = false }), released("kept for b")},
			grace, "c", "not_yet idle", "your_turn sequence"},
		{"author's graces", steps{members("a", "b", "c"), held("a"), later(grace), released("kept for b"), waiting("c")}, graces, "a", "not_yet idle", "your_turn sequence"},
	} {
		for _, d := range []time.Duration{-time.Hour, time.Hour, years} {
			t.Run(c.name+" "+d.String(), func(t *testing.T) {
				early := room(t, append(c.steps, clockSet(d), later(c.end-ms))...)
				equal(t, "before", early.tries(c.who), c.before)
				early.set(-d)
				equal(t, "before, set right again", early.tries(c.who), c.before)
				due := room(t, append(c.steps, later(c.end), clockSet(d))...)
				equal(t, "at the end", due.tries(c.who), c.at)
			})
		}
	}
}

// TestReboot: the monotonic clock of another boot says nothing.
func TestReboot(t *testing.T) {
	owned := steps{members("a", "b"), held("a")}
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"in time", append(owned, later(time.Minute), rebooted(leased-time.Minute-ms)), "not_yet owned"},
		{"too late", append(owned, later(time.Minute), rebooted(leased-time.Minute)), "takeover_available owner_timeout"},
		{"after a long uptime", append(owned, later(ms), rebooted(time.Minute), later(leased-time.Minute-2*ms)), "not_yet owned"},
		{"with the clock set back", append(owned, rebooted(0), clockSet(-time.Hour), later(leased)), "not_yet owned"},
		{"with the clock set forward", append(owned, rebooted(0), clockSet(time.Hour)), "takeover_available owner_timeout"},
		{"renewed before", append(owned, later(leased), heartbeat, rebooted(leased-ms)), "not_yet owned"},
		{"renewed after", append(owned, rebooted(leased), heartbeat, later(leased-ms)), "not_yet owned"},
		{"renewed after, and run out", append(owned, rebooted(leased), heartbeat, later(leased)), "takeover_available owner_timeout"},
		{"renewed with the clock set back, and run out", append(owned, rebooted(0), clockSet(-time.Hour), heartbeat, later(leased)), "takeover_available owner_timeout"},
		{"renewed, the clock set, and not run out", append(owned, rebooted(0), clockSet(years), heartbeat, clockSet(-years), later(leased-ms)), "not_yet owned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "answer", room(t, c.steps...).tries("b"), c.want)
		})
	}
}

// TestDeadlines: the ends that are shown.
func TestDeadlines(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	shown := func(want string) {
		t.Helper()
		view := w.state.Room(w.facts())
		lease, claim := "-", "-"
		if view.LeaseExpiresAt != nil {
			lease = view.LeaseExpiresAt.String()[11:]
		}
		if view.ClaimExpiresAt != nil {
			claim = view.ClaimExpiresAt.String()[11:]
		}
		equal(t, "lease and claim", lease+" "+claim, want)
	}
	shown("03:49:05.000Z -")
	w.later(5 * time.Minute)
	w.beat()
	shown("03:54:05.000Z -")
	w.later(time.Hour)
	shown("03:54:05.000Z -")
	w.assigns("b")
	shown("- 04:29:05.000Z")
	w.tries("b")
	shown("04:54:05.000Z -") // the renewal was of the turn before
	w.releases()
	w.leave("a")
	shown("- -")
}

// TestNext: how long nothing can change by time alone.
func TestNext(t *testing.T) {
	owned := steps{members("a", "b", "c"), held("a")}
	reserved := steps{members("a", "b", "c"), held("a"), assigned("b")}
	kept := steps{members("a", "b", "c"), held("a"), later(grace), released("kept for b")}
	const minute = time.Minute
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  time.Duration
	}{
		{"closed", steps{}, "a", 0},
		{"free", steps{members("a")}, "a", 0},
		{"owned", append(owned, later(minute)), "b", leased - minute},
		{"renewed", append(owned, later(minute), heartbeat, later(2*minute)), "b", leased - 2*minute},
		{"run out", append(owned, later(leased)), "b", 0},
		{"rebooted", append(owned, rebooted(minute)), "b", leased - minute},
		{"the owner's session ended", append(owned, later(minute), dropped("a")), "b", 9*minute + ms},
		{"the owner's session ended long ago", append(owned, dropped("a"), later(10*minute+ms)), "b", leased - 10*minute - ms},
		{"the owner's session ended just before the lease", append(owned, later(40*minute), seen("a"), dropped("a")), "b", 5 * minute},
		{"the owner's session goes on", append(owned, dropped("a"), alive("a")), "b", leased},
		{"the owner is gone", append(owned, gone("a")), "b", leased},
		{"reserved", append(reserved, later(minute)), "c", claimed - minute},
		{"the recipient's session ended", append(reserved, dropped("b"), later(minute)), "c", 9*minute + ms},
		{"claim time over", append(reserved, later(claimed)), "c", 0},
		{"kept for another one", append(kept, later(4*time.Second)), "c", 6 * time.Second},
		{"kept for me", append(kept, later(4*time.Second)), "b", 6 * time.Second},
		{"my own handoff", append(kept, later(grace)), "a", graces - grace},
		{"my own handoff, after its graces", append(kept, later(graces)), "c", 0},
		{"the author, another one turning inactive", append(reserved, later(claimed), seen("b", "c"), later(minute)), "a", silent - minute},
		{"the author, a session that ended", append(reserved, later(claimed), seen("b", "c"), dropped("c"), later(minute)), "a", 9*minute + ms},
		{"somebody else, a session that ended", append(reserved, later(claimed), seen("b", "d"), dropped("d"), later(minute)), "c", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			equal(t, "next", w.state.NextDeadline(w.facts(), c.who), c.want)
		})
	}
	w := room(t, members("a"), dropped("stranger"))
	equal(t, "a stranger", w.state.UntilGone(w.facts(), "stranger"), 0)
}

// TestNextBetweenMilliseconds: marks on files have nanoseconds, the clock of
// decisions has not. The moment named is the first that is judged differently.
func TestNextBetweenMilliseconds(t *testing.T) {
	for _, off := range []time.Duration{0, time.Nanosecond, 300 * time.Microsecond, ms - time.Nanosecond} {
		w := room(t, members("a", "b"), held("a"), dropped("a"), later(time.Minute))
		w.presence("a").Seen = w.wall.Add(-time.Second + off)
		want := 10*time.Minute - time.Second + ms
		equal(t, "next", w.state.NextDeadline(w.facts(), "b"), want)
		w.later(want - ms)
		equal(t, "before", w.tries("b"), "not_yet owned")
		w.later(ms)
		equal(t, "then", w.tries("b"), "takeover_available owner_gone")
	}
}

func TestInstant(t *testing.T) {
	at := func(wall time.Duration, boot string, mono time.Duration) turn.Instant {
		return turn.At(began.Add(wall), boot, mono)
	}
	for _, c := range []struct {
		name      string
		now, then turn.Instant
		want      time.Duration
	}{
		{"same boot", at(time.Hour, "x", 5*time.Second), at(0, "x", 2*time.Second), 3 * time.Second},
		{"same boot, clock set back", at(-time.Hour, "x", 5*time.Second), at(0, "x", 2*time.Second), 3 * time.Second},
		{"same boot, out of order", at(0, "x", time.Second), at(0, "x", 2*time.Second), 0},
		{"another boot", at(time.Hour, "y", time.Second), at(0, "x", 2*time.Second), time.Hour},
		{"another boot, clock set back", at(-time.Hour, "y", time.Second), at(0, "x", 2*time.Second), 0},
		{"boot unknown", at(time.Hour, "", time.Second), at(0, "", 0), time.Hour},
		{"one boot unknown", at(time.Hour, "x", 9*time.Hour), at(0, "", 0), time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "since", c.now.Since(c.then), c.want)
			equal(t, "expired in time", c.now.Expired(c.then, c.want), true)
			equal(t, "expired early", c.now.Expired(c.then, c.want+ms), false)
			equal(t, "left", c.now.Left(c.then, c.want+ms), ms)
			equal(t, "left of less", c.now.Left(c.then, c.want/2), 0)
		})
	}
	equal(t, "zero", turn.Instant{}.IsZero(), true)
	equal(t, "not zero", at(0, "", 0).IsZero(), false)
}

// TestHolds: which agent may change shared files, and why the others may not.
func TestHolds(t *testing.T) {
	owned := steps{members("a", "b"), held("a")}
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		fence func(turn.Fence) turn.Fence
		want  string
	}{
		{"the owner", owned, "a", nil, ""},
		{"somebody else", owned, "b", nil, turn.NotOwner},
		{"a free stick", steps{members("a")}, "a", nil, turn.NotOwner},
		{"a closed room", steps{members("a"), held("a"), left("a")}, "", nil, turn.NotOwner},
		{"the recipient", append(owned, assigned("b")), "b", nil, turn.NotOwner},
		{"the lease ran out", append(owned, later(leased)), "a", nil, turn.LeaseRanOut},
		{"the lease was renewed", append(owned, later(leased), heartbeat), "a", nil, ""},
		{"nothing recorded", owned, "a", func(turn.Fence) turn.Fence { return turn.Fence{} }, turn.LeaseNotShown},
		{"an old lease recorded", owned, "a", func(f turn.Fence) turn.Fence { f.Lease = "old"; return f }, turn.LeaseNotShown},
		{"an old turn recorded", owned, "a", func(f turn.Fence) turn.Fence { f.Turn = 0; return f }, turn.LeaseNotShown},
	} {
		w := room(t, c.steps...)
		fence := turn.Fence{Agent: c.who, Turn: w.state.Turn, Lease: w.state.Grant.Lease}
		if c.fence != nil {
			fence = c.fence(fence)
		}
		equal(t, c.name, w.state.Holds(w.facts(), c.who, fence), c.want)
	}
}

// TestWatched: whose end concerns an agent that waits.
func TestWatched(t *testing.T) {
	three := members("a", "b", "c")
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  string
	}{
		{"a free stick", steps{three}, "b", "[]"},
		{"owned", steps{three, held("a")}, "b", "[a]"},
		{"my own", steps{three, held("a")}, "a", "[]"},
		{"reserved", steps{three, held("a"), assigned("b")}, "c", "[b]"},
		{"reserved for me", steps{three, held("a"), assigned("b")}, "b", "[]"},
		{"my handoff, reserved", steps{three, held("a"), assigned("b")}, "a", "[b c]"},
		{"my handoff, pending", steps{three, held("a"), later(grace), released("kept for b")}, "a", "[b c]"},
		{"another one's handoff", steps{three, held("a"), later(grace), released("kept for b")}, "c", "[]"},
	} {
		w := room(t, c.steps...)
		equal(t, c.name, words(w.state.WatchedBy(c.who)), c.want)
	}
}

// TestTold: what an engine has ordered later counts more than a record that was fetched
// before.
func TestTold(t *testing.T) {
	at := func(d time.Duration) turn.Instant { return turn.Instant{Wall: event.NewTime(began.Add(d))} }
	fence := turn.Fence{Agent: "a", Turn: 1, Lease: "l"}
	one, two := turn.ProcessID{PID: 1}, turn.ProcessID{PID: 2}
	ended := turn.Ending{Why: "the agent's process has ended", At: event.NewTime(began.Add(time.Minute))}
	record := turn.Lease{Fence: fence, TTL: time.Hour, Renewed: at(0), Guardian: one}
	stopped := record
	stopped.Ended = ended
	for _, c := range []struct {
		name   string
		record turn.Lease
		told   turn.Lease
		want   turn.Lease
	}{
		{"no record", turn.Lease{}, record, record},
		{"the same guardian renews", record, turn.Lease{Fence: fence, TTL: time.Minute, Renewed: at(time.Second), Guardian: one},
			turn.Lease{Fence: fence, TTL: time.Minute, Renewed: at(time.Second), Guardian: one}},
		{"an older renewal", record, turn.Lease{Fence: fence, TTL: time.Minute, Renewed: at(-time.Second), Guardian: one}, record},
		{"it renewed, and ended after that", stopped, turn.Lease{Fence: fence, TTL: time.Hour, Renewed: at(time.Second), Guardian: one},
			turn.Lease{Fence: fence, TTL: time.Hour, Renewed: at(time.Second), Guardian: one, Ended: ended}},
		{"another guardian renews since the end", stopped, turn.Lease{Fence: fence, TTL: time.Hour, Renewed: at(2 * time.Minute), Guardian: two},
			turn.Lease{Fence: fence, TTL: time.Hour, Renewed: at(2 * time.Minute), Guardian: two}},
	} {
		equal(t, c.name, c.record.Told(c.told), c.want)
	}
}

// TestRenewed: what is known of the lease of another turn says nothing of this one.
func TestRenewed(t *testing.T) {
	w := room(t, members("a"), held("a"))
	own := turn.Lease{Fence: w.state.Fence(), TTL: time.Second, Renewed: w.now()}
	other := own
	other.Turn--
	granted := turn.Lease{Fence: own.Fence, TTL: w.state.Grant.TTL, Renewed: w.state.Grant.At}
	equal(t, "its own", w.state.Renewed(own), own)
	equal(t, "another turn's", w.state.Renewed(other), granted)
	equal(t, "never renewed", w.state.Renewed(turn.Lease{Fence: own.Fence}), granted)
	own.Ended.Why = "it was stopped"
	own.Renew(w.now(), w.state.Policy, turn.ProcessID{PID: 1})
	equal(t, "the end, once another guardian renews", own.Ended, turn.Ending{})
}

// TestLeaseFields: a lease is read as it was written.
func TestLeaseFields(t *testing.T) {
	l := turn.Lease{
		Fence: turn.Fence{Agent: "a", Turn: 7, Lease: "l"}, TTL: time.Minute, Renewed: turn.At(began, "boot", time.Hour),
		Guardian: turn.ProcessID{Host: "h", Boot: "boot", PID: 3, Start: 4, Namespace: "n"}, GrantedTo: 5,
		Ended: turn.Ending{Why: "w", At: event.NewTime(began)}, Proof: turn.Proof{Boot: "boot", Uptime: time.Hour, At: event.NewTime(began)},
	}
	var read turn.Lease
	if err := wire.Decode([]byte(mustJSON(&l)), &read); err != nil {
		t.Fatal(err)
	}
	equal(t, "written and read", mustJSON(&read), mustJSON(&l))

}
