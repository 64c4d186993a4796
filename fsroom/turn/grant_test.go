package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

const (
	ms      = time.Millisecond
	grace   = 10 * time.Second
	graces  = 6 * grace
	leased  = 45 * time.Minute
	claimed = 20 * time.Minute
	silent  = 4 * time.Hour
)

type steps []step

// The numbers in the names of rows are those of the project's scenarios.
func TestTry(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  string
	}{
		{"a room that was never opened", steps{}, "a", "closed"},
		{"a stranger", steps{members("a")}, "b", "not_joined"},
		{"59 the first claim", steps{members("a")}, "a", "your_turn open_claim"},
		{"59 whoever comes first", steps{members("a", "b")}, "b", "your_turn open_claim"},
		{"60 the owner", steps{members("a"), held("a")}, "a", "your_turn already_owner"},
		{"61 another one owns", steps{members("a", "b"), held("a")}, "b", "not_yet owned"},
		{"62 reserved for another one", steps{members("a", "b", "c"), held("a"), released("reserved for b")}, "c", "not_yet reserved"},
		{"64 the owner after its lease", steps{members("a"), held("a"), later(leased)}, "a", "your_turn already_owner"},
		{"an owner that counts as gone", steps{members("a"), held("a"), gone("a")}, "a", "your_turn already_owner"},

		{"76 reserved for me", steps{members("a", "b"), held("a"), released("reserved for b")}, "b", "your_turn sequence"},
		{"93 assigned to me", steps{members("a", "b"), held("a"), assigned("b")}, "b", "your_turn direct_pass"},
		{"107 reserved for me, past the claim time", steps{members("a", "b"), held("a"), assigned("b"), later(claimed)}, "b", "your_turn direct_pass"},
		{"reserved for me, who counts as gone", steps{members("a", "b"), held("a"), assigned("b"), gone("b")}, "b", "your_turn direct_pass"},

		{"79 kept for me", steps{members("a", "b"), held("a"), later(grace), released("kept for b")}, "b", "your_turn sequence"},
		{"81 my own handoff, alone", steps{members("a"), held("a"), released("open")}, "a", "your_turn sequence"},
		{"81 my own handoff, the other one gone", steps{members("a", "b"), held("a"), gone("b"), released("open")}, "a", "your_turn sequence"},
		{"82 my own handoff, the other one long silent", steps{members("a", "b"), held("a"), later(silent), released("open")}, "a", "your_turn sequence"},
		{"50 my own handoff, the recipient left", steps{members("a", "b"), held("a"), assigned("b"), left("b")}, "a", "your_turn direct_pass"},
		{"the recipient left, another one", steps{members("a", "b", "c"), held("a"), assigned("b"), left("b")}, "c", "your_turn direct_pass"},
		{"the recipient left, my own handoff, another one there", steps{members("a", "b", "c"), held("a"), assigned("b"), left("b")}, "a", "not_yet idle"},
		{"it was kept for one who left", steps{members("a", "b", "c"), held("a"), later(grace), released("kept for b"), left("b")}, "c", "your_turn sequence"},

		{"104 the claim time has passed", steps{members("a", "b", "c"), held("a"), assigned("b"), later(claimed)}, "c", "takeover_available claim_timeout"},
		{"105 the author while another one could take it up", steps{members("a", "b", "c"), held("a"), assigned("b"), later(claimed)}, "a", "not_yet reserved"},
		{"106 the author with nobody but the recipient", steps{members("a", "b"), held("a"), assigned("b"), later(claimed)}, "a", "takeover_available claim_timeout"},
		{"108 the lease has run out", steps{members("a", "b"), held("a"), later(leased)}, "b", "takeover_available owner_timeout"},
		{"110 a lease that was renewed", steps{members("a", "b"), held("a"), later(leased), heartbeat}, "b", "not_yet owned"},
		{"111 the owner gone", steps{members("a", "b"), held("a"), gone("a")}, "b", "takeover_available owner_gone"},
		{"the owner gone beats its lease", steps{members("a", "b"), held("a"), gone("a"), later(leased)}, "b", "takeover_available owner_gone"},
		{"113 the recipient gone", steps{members("a", "b", "c"), held("a"), assigned("b"), gone("b")}, "c", "takeover_available recipient_gone"},
		{"the recipient gone beats the claim time", steps{members("a", "b", "c"), held("a"), assigned("b"), gone("b"), later(claimed)}, "c", "takeover_available recipient_gone"},
		{"the recipient gone, its author while another one is there", steps{members("a", "b", "c"), held("a"), assigned("b"), gone("b")}, "a", "not_yet recipient_gone"},
		{"114 a recipient nothing is known of", steps{members("a", "b", "c"), held("a"), assigned("b")}, "c", "not_yet reserved"},
		{"a recipient that waits is not gone", steps{members("a", "b", "c"), held("a"), assigned("b"), gone("b"), waiting("b")}, "c", "not_yet reserved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			equal(t, "answer", w.tries(c.who), c.want)
		})
	}
}

func TestPark(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  string
	}{
		{"69 a free room", steps{members("a")}, "a", "not_yet idle"},
		{"70 reserved for me", steps{members("a", "b"), held("a"), released("reserved for b")}, "b", "your_turn sequence"},
		{"kept for me", steps{members("a", "b"), held("a"), later(grace), released("kept for b")}, "b", "your_turn sequence"},
		{"kept for me, past the grace", steps{members("a", "b"), held("a"), later(grace), released("kept for b"), later(grace)}, "b", "your_turn sequence"},
		{"kept for another one, past the grace", steps{members("a", "b", "c"), held("a"), later(grace), released("kept for b"), later(grace)}, "c", "not_yet idle"},
		{"71 the owner", steps{members("a"), held("a")}, "a", "your_turn already_owner"},
		{"73 the lease has run out", steps{members("a", "b"), held("a"), later(leased)}, "b", "takeover_available owner_timeout"},
		{"73 another one owns", steps{members("a", "b"), held("a")}, "b", "not_yet owned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			equal(t, "answer", w.parks(c.who), c.want)
		})
	}
}

// TestGraces has the moments before, at and after the end of a grace.
func TestGraces(t *testing.T) {
	kept := steps{members("a", "b", "c"), held("a"), later(grace), released("kept for b")}
	alone := steps{members("a", "b"), held("a"), later(grace), released("kept for b")}
	for _, c := range []struct {
		name               string
		steps              steps
		end                time.Duration
		who                string
		before, at, beyond string
	}{
		{"78 kept for another one", kept, grace, "c", "not_yet idle", "your_turn sequence", "your_turn sequence"},
		{"80 my own handoff", kept, graces, "a", "not_yet idle", "your_turn sequence", "your_turn sequence"},
		{"80 my own handoff, two members", alone, graces, "a", "not_yet idle", "your_turn sequence", "your_turn sequence"},
		{"the fairest member", kept, grace, "b", "your_turn sequence", "your_turn sequence", "your_turn sequence"},
		{"104 the claim time", steps{members("a", "b", "c"), held("a"), assigned("b")}, claimed, "c",
			"not_yet reserved", "takeover_available claim_timeout", "takeover_available claim_timeout"},
		{"108 the lease", steps{members("a", "b"), held("a")}, leased, "b",
			"not_yet owned", "takeover_available owner_timeout", "takeover_available owner_timeout"},
		{"110 a renewed lease", steps{members("a", "b"), held("a"), later(time.Minute), heartbeat}, leased, "b",
			"not_yet owned", "takeover_available owner_timeout", "takeover_available owner_timeout"},
		{"111 an ended session", steps{members("a", "b"), held("a"), dropped("a")}, 10 * time.Minute, "b",
			"not_yet owned", "not_yet owned", "takeover_available owner_gone"},
		{"the author, another one turning inactive", steps{members("a", "b", "c"), held("a"), assigned("b"), seen("c")}, silent, "a",
			"not_yet reserved", "takeover_available claim_timeout", "takeover_available claim_timeout"},
	} {
		for off, want := range map[time.Duration]string{-ms: c.before, 0: c.at, ms: c.beyond} {
			t.Run(c.name+" "+off.String(), func(t *testing.T) {
				w := room(t, append(c.steps, later(c.end+off))...)
				equal(t, "answer", w.tries(c.who), want)
			})
		}
	}
}

// TestReady: which members count as waiting when a turn is released.
func TestReady(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"76 joined just now", steps{members("a", "b"), held("a")}, "reserved for b"},
		{"joined, -1 ms", steps{members("a", "b"), held("a"), later(grace - ms)}, "reserved for b"},
		{"78 joined, 0 ms", steps{members("a", "b"), held("a"), later(grace)}, "kept for b"},
		{"joined, +1 ms", steps{members("a", "b"), held("a"), later(grace + ms)}, "kept for b"},
		{"waits", steps{members("a", "b"), held("a"), waiting("b"), later(time.Hour)}, "reserved for b"},
		{"waits longer than members count as active", steps{members("a", "b"), held("a"), waiting("b"), later(2 * silent)}, "reserved for b"},
		{"waited, -1 ms", steps{members("a", "b"), held("a"), later(time.Hour), waited("b"), later(grace - ms)}, "reserved for b"},
		{"79 waited, 0 ms", steps{members("a", "b"), held("a"), later(time.Hour), waited("b"), later(grace)}, "kept for b"},
		{"only seen", steps{members("a", "b"), held("a"), later(time.Hour), seen("b")}, "kept for b"},
		{"kept for the fairest though another one waits", steps{members("a", "b", "c"), held("a"), waiting("c"), later(time.Minute)}, "kept for b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			equal(t, "release", w.releases(), c.want)
		})
	}
}

// TestGrant looks at everything a grant says and changes.
func TestGrant(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	first := w.fence()
	w.releases()
	handoff := w.state.Seq
	res, err := w.try("b")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "result", mustJSON(&res), mustJSON(&turn.WaitResult{
		Status: turn.YourTurn, RoomID: roomID, TurnID: 2, LeaseID: res.LeaseID, From: "a", Reason: turn.ReasonSequence,
	}))
	equal(t, "handoff", res.HandoffSeq, handoff)
	equal(t, "turn", res.TurnID, first.Turn+1)
	if res.LeaseID == first.Lease || res.LeaseID == "" {
		t.Errorf("lease %q after %q", res.LeaseID, first.Lease)
	}
	e := w.events[len(w.events)-1]
	equal(t, "event", e.Type+" "+e.From+" "+e.To, "claim a b")
	equal(t, "owner", w.state.Owner, "b")
	equal(t, "pending", w.state.Pending, turn.PendingHandoff{})
}

// TestAlreadyOwner: an owner that asks again gets the whole answer again, with the
// handoff, since the first answer may have been lost; and nothing changes.
func TestAlreadyOwner(t *testing.T) {
	for name, more := range map[string]steps{
		"60 at once":        {},
		"64 lease run out":  {later(leased + ms)},
		"gone by its looks": {gone("b")},
	} {
		t.Run(name, func(t *testing.T) {
			w := room(t, append(steps{members("a", "b"), held("a"), assigned("b")}, more...)...)
			first, _ := w.try("b")
			events := len(w.events)
			for range 2 {
				again, err := w.try("b")
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "reason", again.Reason, turn.ReasonOwner)
				again.Reason = first.Reason
				equal(t, "result", mustJSON(&again), mustJSON(&first))
				equal(t, "handoff", again.HandoffSeq, first.HandoffSeq)
			}
			equal(t, "events", len(w.events), events)
		})
	}
}

// TestNotYet: what the answer to a waiting agent says.
func TestNotYet(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("a"), later(time.Second))
	res, _ := w.try("b")
	equal(t, "61 owned", mustJSON(&res), `{"status":"not_yet","room_id":"`+roomID+`","room_state":"owned","turn_id":1,"current_owner":"a","lease_expires_at":"2026-01-02T03:49:05.000Z"}`)
	w.assigns("b")
	res, _ = w.try("c")
	equal(t, "62 reserved", mustJSON(&res), `{"status":"not_yet","room_id":"`+roomID+`","room_state":"reserved","turn_id":1,"reserved_for":"b","claim_expires_at":"2026-01-02T03:24:06.000Z"}`)
	w.later(claimed)
	res, _ = w.try("c")
	equal(t, "104 offered", mustJSON(&res), `{"status":"takeover_available","room_id":"`+roomID+`","room_state":"reserved","turn_id":1,"reason":"claim_timeout","reserved_for":"b",`+
		`"last_seen_at":"2026-01-02T03:04:06.000Z","evidence":"b did not claim the turn within 20m; b was last heard of 20m ago",`+
		`"hint":"make sure that b does not work any more: ask it with \"tt msg send b …\" and look at the uncommitted changes; then \"tt take --reason …\""}`)
}

// TestOtherWindow: another window of the session that has the turn is told which process has it, also when the lease has run
// out. It may then take the turn over, and an operator may at any time.
func TestOtherWindow(t *testing.T) {
	for _, c := range []struct {
		end              time.Duration
		operator         bool
		tries, held      string
		takes, heldTaken string
	}{
		{0, false, "not_yet ", "7", "not_yet ", "7"},
		{0, true, "not_yet ", "7", "your_turn operator_override", "0"},
		{leased, false, "takeover_available owner_timeout", "7", "your_turn owner_timeout", "0"},
	} {
		w := room(t, members("a", "b"), held("a"), later(c.end))
		f, r := w.facts(), turn.TryRequest{Agent: "a", Lease: "l"}
		f.Window = 7
		_, res, err := turn.Try(w.state, f, r)
		equal(t, "tries", words(res.Status, res.Reason, res.HeldBy, err), words(c.tries, c.held, nil))
		_, res, err = turn.Take(w.state, f, turn.TakeRequest{TryRequest: r, Reason: "x", Operator: c.operator})
		equal(t, "takes", words(res.Status, res.Reason, res.HeldBy, err), words(c.takes, c.heldTaken, nil))
	}
}
