package turn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

func TestPolicyChange(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	change := func(p *turn.Policy) error { p.OwnerLeaseTTL = 2000; return nil }
	events, p, err := turn.SetPolicy(w.state, "b", change)
	e := w.commit(events, err)
	equal(t, "policy", p.OwnerLeaseTTL, 2000)
	equal(t, "event", e.Type+" "+e.From, "policy_changed b")
	equal(t, "only that", w.state.Policy.ClaimTTL, turn.DefaultPolicy().ClaimTTL)
	w.later(leased - ms)
	equal(t, "a lease in progress", w.tries("b"), "not_yet owned")
	w.later(ms)
	equal(t, "a lease that was not renewed", w.tries("b"), "takeover_available owner_timeout")
	w.beat()
	w.later(2*time.Second - ms)
	equal(t, "a lease renewed under the new policy", w.tries("b"), "not_yet owned")
	w.later(ms)
	equal(t, "a lease renewed under the new policy", w.tries("b"), "takeover_available owner_timeout")

	events, _, err = turn.SetPolicy(w.state, "b", change)
	equal(t, "the same again", len(events), 0)
	equal(t, "error", err, nil)
	no := errors.New("no")
	events, _, err = turn.SetPolicy(w.state, "b", func(p *turn.Policy) error { p.ClaimTTL = 1; return no })
	w.commit(events, err)
	equal(t, "refused", err, no)
	equal(t, "unchanged", w.state.Policy, p)
	_, _, err = turn.SetPolicy(turn.New(roomID), "b", change)
	equal(t, "closed", code.Of(err), code.RoomClosed)
}

func TestDefaultPolicy(t *testing.T) {
	p := turn.DefaultPolicy()
	equal(t, "policy", mustJSON(&p), `{"owner_lease_ttl_ms":2700000,"heartbeat_interval_ms":300000,"claim_ttl_ms":1200000,"presence_ttl_ms":14400000,`+
		`"waiter_grace_ms":10000,"wait_for_turn_max_wait_ms":110000,"wait_for_events_max_wait_ms":110000,"gone_grace_ms":600000,"idle_room_ttl_ms":604800000,"wake_grace_ms":45000,"idle_ttl_ms":900000,"limit_ttl_ms":60000,"shell_guard":"on","auto":"on",`+
		`"ledger":"on","ledger_keep_ms":2592000000,"ledger_size":1073741824,"ledger_wait_ms":250,"ledger_tick_ms":60000}`)
}

// TestLimits: every field of a policy has a name of its own, and takes only
// what makes sense.
func TestLimits(t *testing.T) {
	seen := map[*int64]bool{}
	var p turn.Policy
	for _, l := range turn.Limits() {
		if f := l.Field(&p); seen[f] {
			t.Errorf("%s: its field has two names", l.Flag)
		}
		seen[l.Field(&p)] = true
		for d, ok := range map[time.Duration]bool{
			-time.Second: false, 0: l.Zero, time.Microsecond: false, time.Millisecond: true, time.Hour: true, years: true, years + ms: false,
		} {
			before := *l.Field(&p)
			err := l.Set(&p, d)
			equal(t, l.Flag+" "+d.String(), err == nil, ok)
			if ok {
				equal(t, l.Flag+" "+d.String(), *l.Field(&p), d.Milliseconds())
			} else {
				equal(t, l.Flag+" "+d.String(), code.Of(err), code.Usage)
				equal(t, l.Flag+" "+d.String(), *l.Field(&p), before)
			}
		}
	}
	equal(t, "fields", len(seen), 15)
}

func TestLimitNames(t *testing.T) {
	var names []string
	for _, l := range turn.Limits() {
		names = append(names, words(l.Flag, l.Env, l.Zero))
		if l.About == "" {
			t.Errorf("%s: what is it?", l.Flag)
		}
	}
	equal(t, "limits", strings.Join(names, "\n"), `owner-lease-ttl TALKING_STICK_OWNER_LEASE_TTL false
heartbeat-interval TALKING_STICK_HEARTBEAT_INTERVAL false
claim-ttl TALKING_STICK_CLAIM_TTL false
presence-ttl TALKING_STICK_PRESENCE_TTL false
waiter-grace TALKING_STICK_WAITER_GRACE true
wait-for-turn-max-wait  false
wait-for-events-max-wait  false
gone-grace TALKING_STICK_GONE_GRACE true
idle-room-ttl TALKING_STICK_IDLE_ROOM_TTL true
wake-grace TALKING_STICK_WAKE_GRACE true
idle-ttl TALKING_STICK_IDLE_TTL true
limit-ttl TALKING_STICK_LIMIT_TTL true
ledger-keep TALKING_STICK_LEDGER_KEEP false
ledger-wait TALKING_STICK_LEDGER_WAIT true
ledger-tick TALKING_STICK_LEDGER_TICK true`)
}

// TestExtremePolicies: the rules hold with the longest and the shortest limits.
func TestExtremePolicies(t *testing.T) {
	long := policy(func(p *turn.Policy) {
		for _, l := range turn.Limits() {
			*l.Field(p) = years.Milliseconds()
		}
	})
	w := room(t, members("a", "b", "c"), long, held("a"), assigned("b"), left("b"))
	equal(t, "my own handoff", w.tries("a"), "not_yet idle")
	equal(t, "next", w.state.NextDeadline(w.facts(), "c"), years)
	w.later(5 * years)
	waiting("c")(w)
	equal(t, "my own handoff, five graces later", w.tries("a"), "not_yet idle")
	w.later(years)
	equal(t, "my own handoff, six graces later", w.tries("a"), "your_turn direct_pass")

	none := policy(func(p *turn.Policy) { p.WaiterGrace, p.GoneGrace = 0, 0 })
	w = room(t, members("a", "b", "c"), none, held("a"), released("kept for b"))
	equal(t, "no grace for the fairest", w.tries("c"), "your_turn sequence")
	w = room(t, members("a", "b", "c"), none, held("a"), released("kept for b"))
	equal(t, "no grace for the others", w.tries("a"), "your_turn sequence")
	w = room(t, members("a", "b"), none, held("a"), dropped("a"))
	equal(t, "no grace for a session that ended", w.tries("b"), "not_yet owned")
	w.later(ms)
	equal(t, "no grace for a session that ended", w.tries("b"), "takeover_available owner_gone")
}
