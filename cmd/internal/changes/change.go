package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A Change is an undo or a restore, as somebody asks for it.
type Change struct {
	ledger.Change
	Span   string
	OfTurn int64  // of an undo
	What   string // "undo of turn 7"
	// Force, which is called with the plan of a change by a person who is not the holder, returns an error if it
	// must not be made.
	Force func(p *ledger.Plan) error
}

// Do carries a change out: for the holder of the turn, or for a person. Where nobody holds, the room is locked while the
// change writes: nobody is granted the turn, hooks refuse, and whoever is next, and the handoff that waits, stay. What was
// changed is put back when ctx ends.
func (p *Past) Do(ctx context.Context, x Change) (*ledger.Outcome, error) {
	x.Agent, x.Turn = p.Client.Self.ID, p.Current()
	mine := p.Holder() == p.Client.Self.ID
	x.Still = func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !mine {
			return nil
		}
		return p.Room.StillHolds(p.State.Fence())
	}
	if err := x.Still(); err != nil && !x.Dry {
		return nil, err
	}
	if !mine && !x.Dry {
		if !p.Client.IsHuman() {
			return nil, p.notHolder()
		}
		dry := x
		dry.Dry = true
		out, err := p.carryOut(ctx, dry)
		if err != nil || len(out.Plan.Conflicts) > 0 || len(out.Plan.Steps) == 0 {
			return out, err
		}
		if err := x.Force(out.Plan); err != nil {
			return nil, err
		}
	}
	if p.Room != nil && p.Holder() == "" && p.State.Open {
		x.Within = func(write func() (*ledger.Outcome, error)) error {
			var out *ledger.Outcome
			return p.Room.WithoutHolder(ctx, func() (err error) { out, err = write(); return err },
				func(st *turn.State) []event.Event { return p.eventsOf(st, x, out) })
		}
	}
	return p.carryOut(ctx, x)
}

// notHolder refuses a change to an agent without the turn.
func (p *Past) notHolder() error {
	if p.Room != nil {
		return turn.NoActiveLease(p.State, p.Room.Facts(p.State), p.Client.Self.ID)
	}
	return code.New(code.NoActiveLease, "only the holder of the turn changes the tree").WithHint(`wait for it with "tt wait"`)
}

// carryOut does what is planned, records it in the room, and explains what went wrong.
func (p *Past) carryOut(ctx context.Context, x Change) (*ledger.Outcome, error) {
	out, err := p.Ledger.Do(ctx, x.Change)
	if err != nil {
		return out, explainChange(err, out)
	}
	if p.Room != nil && out.Changes != nil && x.Within == nil {
		_ = p.Room.Append(ctx, func(st *turn.State) ([]event.Event, error) { return p.eventsOf(st, x, out), nil })
		p.tellHolder(ctx, x, out)
	}
	return out, nil
}

// eventsOf says in the room what a change has changed, if that is known.
func (p *Past) eventsOf(st *turn.State, x Change, out *ledger.Outcome) []event.Event {
	if out.Changes == nil {
		return nil
	}
	f := *out.Changes
	f.Span, f.OfTurn, f.TreeID, f.Agent = x.Span, x.OfTurn, p.ID(), p.Client.Self.ID
	if x.Span == ledger.SpanRestore && out.Plan.Lost != nil {
		f.OfSnapshot = out.Plan.Lost.Name()
	}
	return p.Events(st, p.State.Turn, p.Client.Self.ID, &f)
}

// tellHolder sends a message to somebody who holds the stick while a person changes the tree.
func (p *Past) tellHolder(ctx context.Context, x Change, out *ledger.Outcome) {
	holder := p.Holder()
	if holder == "" || holder == p.Client.Self.ID {
		return
	}
	paths := slices.DeleteFunc(StepPaths(out.Plan.Steps), func(path string) bool {
		return p.Mode == turn.LedgerCounts || ledger.IsSecretPath(path)
	})
	body := fmt.Sprintf("I did this in your turn: %s, before it was %s. Files:", x.What, out.Before.Name())
	for i, path := range paths { // those of an event, of which a message that is too long would not be sent at all
		if i == 50 || len(body)+len(path)+len(", and 1000000 more") > talk.MaxMessage {
			paths = paths[:i]
			break
		}
		body += " " + path + ","
	}
	body = strings.TrimSuffix(body, ",")
	if more := len(out.Plan.Steps) - len(paths); len(paths) == 0 {
		body += fmt.Sprintf(" %d", more)
	} else if more > 0 {
		body += fmt.Sprintf(" and %d more", more)
	}
	request := turn.MessageRequest{Agent: p.Client.Self.ID, To: holder, Body: body, Interrupt: true}
	_, _, _ = p.Room.UpdateAsPerson(ctx, nil, func(st *turn.State, f turn.Facts) ([]event.Event, error) { return turn.Send(st, f, request) })
}

// explainChange gives an error of a change its code.
func explainChange(err error, out *ledger.Outcome) error {
	var failed *ledger.ApplyError
	if !errors.As(err, &failed) {
		return Explain(err)
	}
	e := (*code.Error)(nil)
	switch {
	case errors.As(failed.Err, &e):
		if !slices.Contains([]code.Code{code.NoActiveLease, code.LockTimeout, code.NoSnapshot}, e.Code) { // else nothing was written
			e.WithHint("what was written is put back; tt why says who has the turn")
		}
	case errors.Is(err, ledger.ErrChanging):
		e = code.New(code.TreeChanging, "%s changes at this moment; what was written is put back", failed.Path).
			WithHint("try again when nothing else writes").With("paths", []string{failed.Path}).Because(err)
	default:
		e = code.New(code.ApplyFailed, "%s could not be changed: %v; what was written is put back", failed.Path, failed.Err).
			WithHint("mend the cause and try again").With("path", failed.Path).With("error", failed.Err.Error()).Because(err)
	}
	if out != nil && out.Before != nil {
		e.With("before", out.Before.Name())
	}
	return e
}

// StepPaths returns the paths that a plan changes, as they are shown.
func StepPaths(steps []ledger.Step) []string {
	paths := make([]string, 0, len(steps))
	for _, s := range steps {
		paths = append(paths, ledger.Printable(s.Path))
	}
	slices.Sort(paths)
	return paths
}
