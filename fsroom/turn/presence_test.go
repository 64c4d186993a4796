package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// TestProcessOf: one living process is enough, and only proof about all is proof.
func TestProcessOf(t *testing.T) {
	const a, g, u = turn.Alive, turn.Gone, turn.Unknown
	for _, c := range []struct {
		processes []turn.Process
		want      turn.Process
	}{
		{nil, u},
		{[]turn.Process{a}, a},
		{[]turn.Process{g}, g},
		{[]turn.Process{u}, u},
		{[]turn.Process{g, g}, g},
		{[]turn.Process{g, u}, u},
		{[]turn.Process{u, g}, u},
		{[]turn.Process{g, u, a}, a},
		{[]turn.Process{""}, u},
	} {
		equal(t, words(c.processes), turn.ProcessOf(c.processes), c.want)
	}
}

// TestWithGuardian: a guardian stands only for an agent of which no process is known.
func TestWithGuardian(t *testing.T) {
	for _, c := range []struct{ own, guardian, want turn.Process }{
		{turn.Alive, turn.Gone, turn.Alive},
		{turn.Gone, turn.Alive, turn.Gone},
		{turn.Unknown, turn.Alive, turn.Alive},
		{turn.Unknown, turn.Gone, turn.Gone},
	} {
		p := turn.Presence{Process: c.own}.WithGuardian(c.guardian, 7)
		equal(t, words(c.own, c.guardian), p.Process, c.want)
		equal(t, words(c.own, c.guardian, "lingers"), p.OutlivesProcess && p.Guardian && p.PID == 7, c.own == turn.Unknown)
	}
}

// TestOfCaller: an agent that runs a command is not gone.
func TestOfCaller(t *testing.T) {
	for own, want := range map[turn.Process]turn.Process{turn.Alive: turn.Alive, turn.Gone: turn.Unknown, turn.Unknown: turn.Unknown} {
		p := turn.Presence{Process: own, SessionEnded: own == turn.Gone}.OfCaller(began)
		equal(t, string(own), p.Process, want)
		equal(t, string(own)+", its session", p.SessionEnded, false)
		equal(t, string(own)+" seen", p.Seen, began)
	}
}

// guardianOf: the guardian, with the given verdict, is the only known process of the agent.
func guardianOf(id string, guardian turn.Process) step {
	return func(w *world) {
		p := w.presence(id)
		*p = turn.Presence{Seen: p.Seen, Waited: p.Waited, Waiting: p.Waiting, Process: turn.Unknown}.WithGuardian(guardian, 42)
	}
}

// TestEvidence: what an offer says besides its reason.
func TestEvidence(t *testing.T) {
	owned := steps{members("a", "b"), held("a")}
	graced := 10 * time.Minute
	endedAt := func(id string, d time.Duration) step {
		return func(w *world) { w.presence(id).EndedAt = began.Add(d) }
	}
	for _, c := range []struct {
		name      string
		steps     steps
		got       string // status and reason
		evidence  string
		goneSince string
	}{
		{"a guardian alone proves nothing", append(owned, guardianOf("a", turn.Gone)), "not_yet", "", ""},
		{"at the grace", append(owned, guardianOf("a", turn.Gone), later(graced)), "not_yet", "", ""},
		{"beyond the grace", append(owned, guardianOf("a", turn.Gone), later(graced+ms)), "takeover_available owner_gone",
			"the guardian of a (process 42) has ended; a was last heard of 10m ago", "2026-01-02T03:14:05.000Z"},
		{"heard of meanwhile", append(owned, guardianOf("a", turn.Gone), later(graced), seen("a"), later(ms)), "not_yet", "", ""},
		{"a living guardian", append(owned, guardianOf("a", turn.Alive), later(graced+ms)), "not_yet", "", ""},
		{"its process", append(owned, gone("a"), later(90*time.Second)), "takeover_available owner_gone", "the process of a has ended; a was last heard of 1m ago", ""},
		{"its process, seen to end", append(owned, gone("a"), endedAt("a", time.Second), later(90*time.Second)), "takeover_available owner_gone",
			"the process of a has ended; a was last heard of 1m ago", "2026-01-02T03:04:06.000Z"},
		{"the lease", append(owned, later(leased+140*time.Minute)), "takeover_available owner_timeout",
			"the lease of a ran out 2h20m ago and was not renewed; a was last heard of 3h5m ago", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			res, _ := w.try("b")
			equal(t, "status", strings.TrimSpace(res.Status+" "+res.Reason), c.got)
			equal(t, "evidence", res.Evidence.Sentence, c.evidence)
			since := ""
			if at := res.Evidence.GoneSince; at != nil {
				since = at.String()
			}
			equal(t, "gone_since", since, c.goneSince)
		})
	}
}

// TestEnd: a deadline is shown on the wall clock as it is decided on the monotonic.
func TestEnd(t *testing.T) {
	start := turn.At(began, "boot", time.Hour)
	for _, c := range []struct {
		name string
		now  turn.Instant
		want time.Duration // after began
	}{
		{"later", turn.At(began.Add(time.Minute), "boot", time.Hour+time.Minute), time.Hour},
		{"readings that differ a little", turn.At(began.Add(time.Minute), "boot", time.Hour+time.Minute+20*ms), time.Hour},
		{"the machine slept for a day", turn.At(began.Add(24*time.Hour), "boot", time.Hour+time.Minute), 25*time.Hour - time.Minute},
		{"the clock was set back", turn.At(began.Add(-time.Hour), "boot", time.Hour+time.Minute), -time.Minute},
		{"another boot", turn.At(began.Add(2*time.Hour), "other", time.Second), time.Hour},
		{"run out", turn.At(began.Add(2*time.Hour), "boot", 3*time.Hour), time.Hour},
	} {
		equal(t, c.name, c.now.End(start, time.Hour).Time, began.Add(c.want))
	}
}

// TestRenewalInterval: no policy lets a turn that has a guardian run out.
func TestRenewalInterval(t *testing.T) {
	for _, c := range []struct{ lease, heartbeat, want time.Duration }{
		{45 * time.Minute, 5 * time.Minute, 5 * time.Minute},
		{15 * time.Minute, 5 * time.Minute, 5 * time.Minute},
		{2 * time.Second, 5 * time.Minute, 2000 * ms / 3},
		{time.Minute, 10 * time.Hour, 20 * time.Second},
		{time.Minute, ms, 10 * ms},
	} {
		p := turn.Policy{OwnerLeaseTTL: c.lease.Milliseconds(), HeartbeatInterval: c.heartbeat.Milliseconds()}
		equal(t, words(c.lease, c.heartbeat), p.RenewalInterval(), c.want)
		equal(t, words(c.lease, "warning"), p.Warning(), "")
		if p.RenewalInterval() > c.lease/3 {
			t.Errorf("a beat of %v in a lease of %v", p.RenewalInterval(), c.lease)
		}
	}
	if (turn.Policy{OwnerLeaseTTL: 50}).Warning() == "" {
		t.Error("no warning of a lease of 50 ms")
	}
}

// TestRenewalIntervalOfALease: a policy that makes leases longer does not let one run out
// that was promised for less.
func TestRenewalIntervalOfALease(t *testing.T) {
	for _, c := range []struct{ promised, policy, want time.Duration }{
		{time.Minute, 45 * time.Minute, 20 * time.Second},
		{45 * time.Minute, time.Minute, 20 * time.Second},
		{45 * time.Minute, 45 * time.Minute, 5 * time.Minute},
		{ms, time.Minute, 10 * ms},
	} {
		p := turn.Policy{OwnerLeaseTTL: c.policy.Milliseconds(), HeartbeatInterval: (5 * time.Minute).Milliseconds()}
		equal(t, words(c.promised, c.policy), turn.Lease{TTL: c.promised}.RenewalInterval(p), c.want)
	}
}

// TestGoneWithJob: a turn that a hook has taken stays while a job of its agent runs, unless a command asked for it too.
func TestGoneWithJob(t *testing.T) {
	for _, c := range []struct {
		job    string
		byHand bool
		want   string
	}{{"", false, "takeover_available owner_gone"}, {"x", false, "not_yet owned"}, {"x", true, "takeover_available owner_gone"}} {
		w := room(t, members("a", "b"))
		w.tryWith(turn.TryRequest{Agent: "a", Lease: w.newID("lease"), Auto: true})
		w.lease = turn.Lease{Fence: w.state.Fence(), TTL: leased, Renewed: w.now(), ByHand: c.byHand}
		w.presence("a").Process, w.does["a"] = turn.Gone, turn.Activity{Job: c.job}
		equal(t, words(c.job, c.byHand), w.tries("b"), c.want)
	}
}

// TestGoneAt: a member whose process has ended says so, and when it counts as gone.
func TestGoneAt(t *testing.T) {
	graced := 10 * time.Minute
	for _, c := range []struct {
		name  string
		steps steps
		want  string // process, status, gone_at, why
	}{
		{"alive", steps{members("a", "b"), alive("a")}, "alive active - "},
		{"its session may live on", steps{members("a", "b"), dropped("a"), later(time.Minute)},
			"gone active 03:14:05 its process has ended; it counts as gone at 03:14:05 UTC"},
		{"its session may live on, and is heard of", steps{members("a", "b"), dropped("a"), later(time.Minute), seen("a")},
			"gone active 03:15:05 its process has ended; it counts as gone at 03:15:05 UTC"},
		{"its session may live on, and waits", steps{members("a", "b"), dropped("a"), waiting("a")}, "gone active - "},
		{"its guardian has ended", steps{members("a", "b"), held("a"), guardianOf("a", turn.Gone)},
			"gone active 03:14:05 its guardian has ended; it counts as gone at 03:14:05 UTC"},
		{"long silent", steps{members("a", "b"), dropped("a"), later(graced + ms)}, "gone inactive - its process has ended, and it is silent"},
		{"proved to be gone", steps{members("a", "b"), gone("a")}, "gone inactive - its process has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			for _, v := range w.state.MemberViews(w.facts()) {
				at := "-"
				if v.GoneAt != nil {
					at = v.GoneAt.Format("15:04:05")
				}
				if v.AgentID == "a" {
					equal(t, "member", string(v.Process)+" "+v.Status+" "+at+" "+v.Why, c.want)
				}
			}
		})
	}
}
