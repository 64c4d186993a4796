package turn_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestRestingHolder: the turn of a holder is offered when its model is idle or limited for
// long enough, and of one that works or asks its user never.
func TestRestingHolder(t *testing.T) {
	for _, c := range []struct {
		what   string
		after  time.Duration // since it does that
		policy func(*turn.Policy)
		want   string
		wrong  string // the trouble
	}{
		{turn.ActivityWorking, 10 * time.Hour, nil, "", ""},
		{turn.ActivityAsks, 10 * time.Hour, nil, "", turn.HolderAsks},
		{turn.ActivityIdle, 15*time.Minute - ms, nil, "", turn.HolderIdle},
		{turn.ActivityIdle, 15 * time.Minute, nil, turn.ReasonOwnerIdle, turn.HolderIdle},
		{turn.ActivityIdle, 40 * time.Minute, func(p *turn.Policy) { p.IdleTTL = 0 }, "", turn.HolderIdle},
		{turn.ActivityLimited, time.Minute - ms, nil, "", turn.HolderLimited},
		{turn.ActivityLimited, time.Minute, nil, turn.ReasonOwnerLimited, turn.HolderLimited},
		{turn.ActivityLimited, 40 * time.Minute, func(p *turn.Policy) { p.LimitTTL = 0 }, "", turn.HolderLimited},
		{turn.ActivityEnded, 40 * time.Minute, nil, "", ""},
		{"", 40 * time.Minute, nil, "", ""},
		{"dreams", 40 * time.Minute, nil, "", ""},
	} {
		t.Run(c.what+" for "+c.after.String(), func(t *testing.T) {
			w := room(t, members("a", "b"), held("a"))
			began := w.facts().Now.Wall
			for range 10 { // the guardian lives
				later(c.after / 10)(w)
				heartbeat(w)
			}
			w.does["a"] = turn.Activity{What: c.what, Since: event.NewTime(began.Time)}
			st := *w.state
			if c.policy != nil {
				c.policy(&st.Policy)
			}
			f := w.facts()
			f.Support = func() turn.Support { return turn.Support{Guardian: turn.Alive, PID: 42} }
			_, res, err := turn.Try(&st, f, turn.TryRequest{Agent: "b", Lease: "l"})
			if err != nil || res.Reason != c.want {
				t.Errorf("try: %s %q, %v; want %q", res.Status, res.Reason, err, c.want)
			}
			wrong := ""
			if list := st.Trouble(f); len(list) > 0 {
				wrong = list[0].What
			}
			if wrong != c.wrong {
				t.Errorf("trouble %q, want %q", wrong, c.wrong)
			}
			_, res, err = turn.Take(&st, f, turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b", Lease: "l"}, Reason: "r"})
			if took := err == nil; took != (c.want != "") {
				t.Errorf("take: %s %v", res.Status, err)
			}
			// It counts from the grant and from the holder's last command.
			w.presence("a").Seen = f.Now.Wall.Time
			if _, res, _ := turn.Try(&st, w.facts(), turn.TryRequest{Agent: "b", Lease: "l"}); res.Reason != "" {
				t.Errorf("just heard of: %q", res.Reason)
			}
		})
	}
}

// TestOwnerReturns: an owner that comes back at the very moment at which another takes its turn
// over keeps it if it is first, and has lost it if it is second. In each order one of them
// has the turn, and both know which.
func TestOwnerReturns(t *testing.T) {
	acts := []string{"a works", "a asks", "b asks", "b takes", "a releases"}
	var each func(done, left []string)
	each = func(done, left []string) {
		if len(left) == 0 {
			ownerReturns(t, done)
		}
		for i, act := range left {
			each(append(slices.Clone(done), act), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	each(nil, acts)
}

func ownerReturns(t *testing.T, order []string) {
	w := room(t, members("a", "b"), held("a"))
	old := w.fence()
	w.does["a"] = turn.Activity{What: turn.ActivityIdle, Began: w.now(), Since: event.NewTime(w.wall)}
	for range 15 { // the guardian lives
		later(time.Minute)(w)
		heartbeat(w)
	}
	back, owner := false, "a" // whether a was heard of, and who has to have the turn
	for _, act := range order {
		got, want := "", ""
		switch act {
		case "a works":
			w.does["a"] = turn.Activity{What: turn.ActivityWorking, Began: w.now(), Since: event.NewTime(w.wall)}
			back = true
			continue
		case "a asks":
			got, back = w.tries("a"), true
			switch owner {
			case "a":
				want = "your_turn already_owner"
			case "b":
				want = "not_yet owned"
			default: // b goes first if it has asked
				owner, want = w.state.Owner, got
			}
		case "b asks", "b takes":
			got = map[string]func(string) string{"b asks": w.tries, "b takes": w.takes}[act]("b")
			switch {
			case owner == "b":
				want = "your_turn already_owner"
			case owner == "":
				owner, want = "b", got
			case act == "b asks" && back:
				want = "not_yet owned"
			case act == "b asks":
				want = "takeover_available owner_idle"
			case back:
				want = "takeover_not_available"
			default:
				owner, want = "b", "your_turn owner_idle"
			}
		case "a releases":
			_, err := w.release(old)
			got, back = string(code.Of(err)), true
			if owner == "a" && w.state.Turn == old.Turn {
				owner = ""
			} else {
				want = string(code.TurnMismatch)
			}
		}
		if got != want || w.state.Owner != owner {
			t.Fatalf("%q: %s: %q, want %q; %q has the turn, want %q", order, act, got, want, w.state.Owner, owner)
		}
	}
}

// An idle holder whose turn a hook took is not waited for: the guardian releases the turn, and whoever asks is told so.
// One that is limited is: others may take its turn.
func TestIdleHolderOfAutomaticTurn(t *testing.T) {
	for _, c := range []struct {
		auto       bool
		what, want string
	}{
		{false, turn.ActivityIdle, "others may take the turn from"},
		{true, turn.ActivityIdle, "is released by itself at"},
		{true, turn.ActivityLimited, "others may take the turn from"},
	} {
		w := room(t, members("a", "b"), held("a"))
		st := *w.state
		st.Grant.Auto = c.auto
		w.does["a"] = turn.Activity{What: c.what, Since: event.NewTime(w.facts().Now.Wall.Time)}
		f := w.facts()
		f.Support = func() turn.Support { return turn.Support{Guardian: turn.Alive, PID: 42} }
		if next := st.Outlook(f)[0]; !strings.Contains(next, c.want) {
			t.Errorf("auto %v, %s: %q", c.auto, c.what, next)
		}
	}
}
