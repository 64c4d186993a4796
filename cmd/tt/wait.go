package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

var waitCommand = &front.Command{
	Name:  "wait",
	Group: groupTurns,
	Args:  []front.Arg{pathArg()},
	Short: "wait for the turn, and take it when it comes",
	Long: "Joins if need be, then waits until the turn is yours, a takeover is possible, the room ends, or the time is up. " +
		"A turn comes with the handoff of the one before and with a guardian, a process that keeps your lease alive until you release. " +
		"Run it again after any crash: a turn that is yours is given back, with the same lease.",
	Examples: []front.Example{
		{Line: "tt wait", What: "wait for the usual 110 seconds"},
		{Line: "tt wait --timeout 10m --exit-code && make", What: "do something only with the stick"},
	},
	Flags: func(f *front.Flags) {
		f.Duration("timeout", "D", 0, "how long to wait (default: the room's limit, 110s)")
		f.Bool("park", "leave a room that is free alone; take only what is meant for you")
		exitCodeFlag(f)
		pathFlag(f)
	},
	Exits:  waitExits,
	Errors: []code.Code{code.NotJoined, code.GuardianFailed, code.LockTimeout},
	Run:    runWait,
}

var tryCommand = &front.Command{
	Name:  "try",
	Group: groupTurns,
	Args:  []front.Arg{pathArg()},
	Short: "take the turn if it is there, without waiting",
	Long:  "One pass of tt wait.",
	Flags: func(f *front.Flags) {
		exitCodeFlag(f)
		pathFlag(f)
	},
	Exits:  waitExits,
	Errors: []code.Code{code.GuardianFailed, code.LockTimeout},
	Run:    runTry,
}

func exitCodeFlag(f *front.Flags) {
	f.Bool("exit-code", "say the result with the exit status too")
}

var waitExits = []front.ExitStatus{
	{Status: 3, Meaning: "not_yet, with --exit-code"},
	{Status: 4, Meaning: "takeover_available, with --exit-code"},
	{Status: 5, Meaning: "closed, with --exit-code"},
}

func runTry(ctx context.Context, c *front.Call) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s, _, _, err := d.join(ctx, false)
	if err != nil {
		return err
	}
	w := waiting{seat: s}
	snap, err := s.view()
	if err != nil {
		return err
	}
	if _, err := w.pass(ctx, snap); err != nil {
		w.ahead.abandon()
		return err
	}
	return w.answer(ctx)
}

func runWait(ctx context.Context, c *front.Call) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s, snap, _, err := d.join(ctx, false)
	if err != nil {
		return err
	}
	release, err := s.mine().Hold(markWaiting)
	if err != nil {
		return err
	}
	defer release()
	if err := s.mine().HangBell(); err != nil {
		return err
	}
	limit := time.Duration(snap.State.Policy.WaitForTurn) * time.Millisecond
	if c.Given("timeout") {
		limit = c.Duration("timeout")
	}
	w := waiting{seat: s, park: c.Bool("park")}
	interrupted, err := w.until(ctx, limit)
	if err != nil {
		w.ahead.abandon()
		return err
	}
	if w.result.Status != turn.WaitClosed { // there is nothing to write to any more
		_ = s.mine().Mark(markWaiting, time.Now())
		s.touch()
	}
	if err := w.answer(ctx); err != nil || interrupted == nil || w.result.Status == turn.YourTurn {
		return err
	}
	return front.Exit(128 + int(interrupted.(syscall.Signal)))
}

// A waiting is one wait for the turn.
type waiting struct {
	*seat
	park   bool
	result turn.WaitResult // of the last pass
	ahead  *early          // the guardian of a turn about to be granted
	letter *letter         // the handoff that comes with it
	told   chan error      // how the answer to a grant got out; nil: none was tried
	exits  exits
}

// until waits until there is something to say or the limit has passed. A signal
// ends it between two passes, never within one: what was granted is told.
func (w *waiting) until(ctx context.Context, limit time.Duration) (os.Signal, error) {
	ctx, timeUp := context.WithTimeout(ctx, limit)
	defer timeUp()
	ctx, caught := onSignal(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer w.exits.close()
	var failed error // of a pass; its result is not what happened, whatever else ends the wait meanwhile
	err := w.room.AwaitAs(ctx, w.me.ID, func(snap *snapshot) (bool, fsroom.Pause, error) {
		before := now() // a deadline that passes while we look is still ahead
		done, err := w.pass(context.WithoutCancel(ctx), snap)
		if failed = err; done || err != nil {
			return true, fsroom.Pause{}, err
		}
		w.ahead.abandon() // of a turn that somebody else was quicker to take
		w.ahead, w.letter = nil, nil
		w.exits.watch(w.watched(snap.State))
		f := w.decided // what was looked up for the pass is not looked up again
		f.Now = before
		return false, fsroom.Pause{For: snap.State.Next(f, w.me.ID), Exit: w.exits.any()}, nil
	})
	if failed != nil || (err != nil && ctx.Err() == nil) {
		return nil, err
	}
	return caught(), nil
}

// pass looks at the room once, and claims the turn if it is the caller's. It
// reports whether the wait is over.
func (w *waiting) pass(ctx context.Context, snap *snapshot) (bool, error) {
	request := turn.TryRequest{Agent: w.me.ID, Lease: fsroom.NewID(), Park: w.park}
	decide := func(st *turn.State, f turn.Facts) (events []journal.Event, err error) {
		events, w.result, err = turn.Try(st, f, request)
		if len(events) > 0 && w.letter == nil {
			w.letter = w.open(ctx, w.result.HandoffSeq)
		}
		if len(events) > 0 && w.ahead == nil {
			w.ahead = w.spawnEarly(fenceOf(w.me.ID, w.result))
		}
		return events, err
	}
	for {
		w.first = snap
		if _, _, err := w.updateThen(ctx, decide, func() { w.granted(ctx) }); err != nil {
			return false, err
		}
		if w.result.Status != turn.TakeoverAvailable {
			return w.result.Status != turn.NotYet, nil
		}
		// The look at the processes is younger than the one at the room: the
		// guardian of a turn that was released in between is no crash.
		later, err := w.room.View()
		if err != nil || later.Position == snap.Position {
			return true, err
		}
		snap = later
	}
}

// resultSize is what a result has at most besides its handoff, which as text may
// take more room than as JSON.
const resultSize = 2 << 10

// granted answers as soon as the turn is the caller's for good; state.json can
// still follow. The guardian is written down first: whoever reads the answer may
// release at once. A reader that does not read must not keep the room locked: if
// the answer would have to wait for it, that does not wait here.
func (w *waiting) granted(ctx context.Context) {
	fence := fenceOf(w.me.ID, w.result)
	child, failure := w.childFor(fence, w.ahead)
	pid, err := w.install(fence, child, failure)
	w.result.GuardianPID = pid
	if err == nil {
		w.result.Handoff, err = w.read(ctx, w.result.HandoffSeq, w.letter)
	}
	w.told = make(chan error, 1)
	switch {
	case err != nil:
		w.told <- owned(fence.Turn, err)
	case w.call.Out.TakesAtOnce(resultSize + 2*len(w.result.Handoff)):
		w.told <- w.print()
	default:
		go func() { w.told <- w.print() }()
	}
}

// answer prints the result of the last pass if that was not done yet. A turn
// that the caller had already needs a guardian as well.
func (w *waiting) answer(ctx context.Context) error {
	var err error
	switch {
	case w.told != nil:
		err = <-w.told
	case w.result.Status == turn.YourTurn:
		err = w.secure(context.WithoutCancel(ctx), &w.result)
		w.ahead.abandon()
		if err == nil {
			err = w.print()
		}
	default:
		w.ahead.abandon()
		err = w.print()
	}
	if err == nil && w.call.Bool("exit-code") {
		err = front.Exit(waitStatus(w.result.Status))
	}
	return err
}

func (w *waiting) print() error {
	return w.call.Out.Result(&w.result, func(t *front.Text) { writeWait(t, w.result) })
}

// secure reads the handoff of a turn that is the caller's and sees to its
// guardian.
func (s *seat) secure(ctx context.Context, res *turn.WaitResult) (err error) {
	if res.Handoff, err = s.read(ctx, res.HandoffSeq, nil); err != nil {
		return owned(res.TurnID, err)
	}
	res.GuardianPID, err = s.guarded(ctx, fenceOf(s.me.ID, *res))
	return owned(res.TurnID, err)
}

// owned is what an error is when the turn is the caller's all the same: it must
// not look as if nothing had happened.
func owned(turnID int64, err error) error {
	if err == nil || code.Of(err) == code.GuardianFailed {
		return err
	}
	return code.New(code.GuardianFailed, "the turn is yours, but its guardian could not be seen to: %v", err).
		WithHint(`run "tt wait" again, or end the turn with "tt release"`).
		With("turn_id", turnID).Because(err)
}

func waitStatus(status string) int {
	switch status {
	case turn.NotYet:
		return 3
	case turn.TakeoverAvailable:
		return 4
	case turn.WaitClosed:
		return 5
	}
	return 0
}

// onSignal returns a context that ends with one of the signals, and a function
// that tells which it was, nil for none.
func onSignal(ctx context.Context, signals ...os.Signal) (context.Context, func() os.Signal) {
	ctx, cancel := context.WithCancel(ctx)
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, signals...)
	var got os.Signal
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case got = <-arrived:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() os.Signal {
		cancel()
		<-done
		return got
	}
}
