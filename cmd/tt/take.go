package main

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

var takeCommand = &front.Command{
	Name:    "take",
	Aliases: []string{"takeover"},
	Group:   groupTurns,
	Args:    []front.Arg{pathArg()},
	Short:   "take the turn over from somebody who cannot go on",
	Long: "Claims the turn if it is free. Else takes it over, where that is allowed: the lease or the claim time has run out, or the " +
		"owner or the recipient is known to be gone. A person may always; a harness that was told to says so with --operator-requested.",
	Examples: []front.Example{{Line: `tt take --reason "claude's terminal was closed"`}},
	Flags: func(f *front.Flags) {
		f.String("reason", "TEXT", "why; it is kept in the journal")
		f.Bool("operator-requested", "a person asked for it, so nothing needs to have run out")
		pathFlag(f)
	},
	Errors: []code.Code{code.ReasonRequired, code.TakeoverNotAvailable, code.TakeoverIneligible, code.GuardianFailed},
	Run:    runTake,
}

func runTake(ctx context.Context, c *front.Call) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	r := turn.TakeRequest{
		Agent: d.me.ID, Lease: fsroom.NewID(), Reason: c.String("reason"),
		Operator: c.Bool("operator-requested") || d.isHuman(),
	}
	if r.Reason == "" && !c.Given("reason") {
		r.Reason = defaultReason(d, c)
	}
	if err := turn.CheckReason(r.Reason); err != nil {
		return err
	}
	s, err := d.seatToTake(ctx, r)
	if err != nil {
		return err
	}
	w := waiting{seat: s}
	snap, err := s.view()
	if err != nil {
		return err
	}
	if _, err := w.ask(ctx, snap, func(st *turn.State, f turn.Facts) ([]journal.Event, turn.WaitResult, error) {
		return turn.Take(st, f, r)
	}); err != nil {
		w.ahead.abandon()
		return err
	}
	return w.answer()
}

// seatToTake is the caller's place, if it will be given the turn. A turn that is
// free is anybody's, and so is any turn for a person. To take one from somebody
// else an agent has to be a member that was heard of lately. A refusal writes
// nothing, so it is found out before the caller is made a member.
func (d *desk) seatToTake(ctx context.Context, r turn.TakeRequest) (*seat, error) {
	w, err := d.workspace()
	if err != nil {
		return nil, err
	}
	s, _, err := d.choose(w, false)
	if err != nil {
		return nil, err
	}
	snap, err := s.room.View()
	if err != nil {
		return nil, err
	}
	if st := snap.State; st.Open && !s.idle(st) {
		if err := s.mayTake(st, r); err != nil {
			return nil, err
		}
	}
	_, err = s.enter(ctx)
	return s, err
}

func (s *seat) mayTake(st *turn.State, r turn.TakeRequest) error {
	as := st
	if !s.isMember(st) {
		as = st.Clone()
		for _, e := range turn.Join(as, turn.JoinRequest{Agent: s.me.ID}) {
			e.CreatedAt = journal.NewTime(time.Now())
			if err := as.Apply(&e); err != nil {
				return err
			}
		}
	}
	events, _, err := turn.Take(as, s.facts(as), r)
	takesOver := err != nil || (len(events) > 0 && events[0].Type == turn.Takeover)
	if takesOver && !s.isHuman() {
		if err := turn.CheckMembership(st, s.facts(st), s.me.ID, s.lastSeen()); err != nil {
			return err
		}
	}
	return err
}

// lastSeen is when the caller was here before this command.
func (s *seat) lastSeen() time.Time {
	seen, waited := s.mine().Marked(markSeen), s.mine().Marked(markWaiting)
	if waited.After(seen) {
		return waited
	}
	return seen
}

// defaultReason is what the journal says when a person gives none. A harness
// has to.
func defaultReason(d *desk, c *front.Call) string {
	switch {
	case c.Bool("operator-requested"):
		return "operator requested takeover"
	case d.isHuman():
		return "operator takeover"
	}
	return ""
}
