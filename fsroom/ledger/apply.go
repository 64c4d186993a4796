package ledger

import (
	"context"
	"errors"
	"fmt"
)

// ErrChanging means that a file changed while the plan was carried out.
var ErrChanging = errors.New("the tree changes at this moment")

// An ApplyError means that the system or [Change].Still refused a step, or [ErrChanging]. Everything is as it was
// before, but a file that somebody else has changed.
type ApplyError struct {
	Path string
	Err  error
}

func (e *ApplyError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }
func (e *ApplyError) Unwrap() error { return e.Err }

// A Change is a restore or an undo.
type Change struct {
	Request // of the snapshot after it: Why is [WhyUndo] or [WhyRestore]
	Plan    func(*View) (*Plan, error)
	Dry     bool // plan only
	// Still, if it is not nil, is asked before each step whether the change may go on. Its error ends the change,
	// and is in the [ApplyError].
	Still func() error
	// Within, if it is not nil, has to call write, which carries out the steps; it may refuse.
	Within func(write func() (*Outcome, error)) error
}

// An Outcome is what became of a [Change].
type Outcome struct {
	Plan       *Plan
	Before     *Snapshot // nil if nothing was done
	After      *Snapshot
	Changes    *Changes // between the two
	InProgress string   // what git is in the middle of, see [View.InProgress]
}

// MostPaths is how many paths the facts about a stretch of time name.
const MostPaths = 20

// Do carries out a change while nobody else uses the store. A plan with conflicts or without
// steps changes nothing and takes no snapshot.
//
// The error is an [ApplyError], or that of the snapshot before, which could not be taken: see
// [WhyUnknown]. The tree is as before then, in so far as this process has changed it.
func (l *Ledger) Do(ctx context.Context, c Change) (*Outcome, error) {
	out := &Outcome{}
	var failed error
	if c.Still == nil {
		c.Still = func() error { return nil }
	}
	if c.Within == nil {
		c.Within = func(write func() (*Outcome, error)) error { _, err := write(); return err }
	}
	err := l.locked(ctx, !c.Dry, c.Request, func(v *View) (err error) {
		if out.Plan, err = c.Plan(v); err != nil {
			failed = &ApplyError{Path: l.opts.Root, Err: err}
			return nil
		}
		out.InProgress = v.InProgress()
		if c.Dry || len(out.Plan.Conflicts) > 0 || len(out.Plan.Steps) == 0 {
			return nil
		}
		before := c.Request
		before.Why = whyBefore + c.Why
		if out.Before, err = l.record(v, before); err != nil {
			return err
		}
		failed = c.Within(func() (*Outcome, error) {
			err := l.apply(v, out.Plan.Steps, out.Before, c.Still)
			if err == nil {
				l.after(ctx, c.Request, v, out)
			}
			return out, err
		})
		if refused := (*ApplyError)(nil); failed != nil && !errors.As(failed, &refused) {
			failed = &ApplyError{l.opts.Root, failed}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, failed
}

// after takes the snapshot after a change, and compares it with the one before. The change is
// done: an error only means that this is not known.
func (l *Ledger) after(ctx context.Context, r Request, before *View, out *Outcome) {
	v, err := l.look(ctx, true, r)
	if err != nil {
		return
	}
	defer v.Close()
	r.Line = true
	if out.After, err = l.record(v, r); err == nil {
		out.Changes, _ = before.Changes(out.Before, out.After, nil, MostPaths)
	}
}
