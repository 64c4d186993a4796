package turn_test

import (
	"testing"
	"time"

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
			st := *w.state
			if c.policy != nil {
				c.policy(&st.Policy)
			}
			f := w.facts()
			f.Support = func() turn.Support { return turn.Support{Guardian: turn.ProcessAlive, PID: 42} }
			f.Activity = func(id string) turn.Activity {
				return turn.Activity{What: map[string]string{"a": c.what}[id], Since: event.NewTime(began.Time)}
			}
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
			_, res, err = turn.Take(&st, f, turn.TakeRequest{Agent: "b", Lease: "l", Reason: "r"})
			if took := err == nil; took != (c.want != "") {
				t.Errorf("take: %s %v", res.Status, err)
			}
			// It counts from the grant and from the holder's last command.
			w.presence("a").Seen = f.Now.Wall.Time
			if _, res, _ := turn.Try(&st, doing(w, f), turn.TryRequest{Agent: "b", Lease: "l"}); res.Reason != "" {
				t.Errorf("just heard of: %q", res.Reason)
			}
		})
	}
}

// doing returns the facts once more, with the activity of f.
func doing(w *world, f turn.Facts) turn.Facts {
	again := w.facts()
	again.Activity = f.Activity
	return again
}
