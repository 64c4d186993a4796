package ttcmd

import (
	"context"
	"errors"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var waitCommand = &cli.Command{
	Name:  "wait",
	Group: groupTurns,
	Args:  []cli.Arg{pathArg()},
	Short: "wait for the turn, and take it when it comes",
	Long: "Joins if need be, then waits until the turn is yours, a takeover is possible, the room ends, or the time is up. " +
		"A turn comes with the handoff of the one before and with a guardian, a process that keeps your lease alive until you release. " +
		"Run it again after any crash: a turn that is yours is given back, with the same lease.",
	Examples: []cli.Example{
		{Line: "tt wait", What: "wait for the usual 110 seconds"},
		{Line: "tt wait --timeout 10m --exit-code && make", What: "do something only with the stick"},
	},
	Flags: func(f *cli.Flags) {
		f.Duration("timeout", "D", 0, "how long to wait (default: the room's limit, 110s)")
		f.Bool("park", "take only a turn that is meant for you; do not claim a free room")
		exitCodeFlag(f)
		pathFlag(f)
	},
	Exits:  append(waitExits[:len(waitExits):len(waitExits)], signalExits...),
	Errors: []code.Code{code.NotJoined, code.GuardianFailed, code.LockTimeout},
	Run:    runWait,
}

var tryCommand = &cli.Command{
	Name:  "try",
	Group: groupTurns,
	Args:  []cli.Arg{pathArg()},
	Short: "take the turn if it is there, without waiting",
	Long:  "One pass of tt wait.",
	Flags: func(f *cli.Flags) {
		exitCodeFlag(f)
		pathFlag(f)
	},
	Exits:  waitExits,
	Errors: []code.Code{code.GuardianFailed, code.LockTimeout},
	Run:    runTry,
}

func exitCodeFlag(f *cli.Flags) {
	f.Bool("exit-code", "report the result in the exit status, too")
}

// signalExits are those of a wait that a signal ended.
var signalExits = []cli.ExitStatus{
	{Status: 129, Meaning: "ended by SIGHUP"},
	{Status: 130, Meaning: "ended by SIGINT"},
	{Status: 143, Meaning: "ended by SIGTERM"},
}

var waitExits = []cli.ExitStatus{
	{Status: 3, Meaning: "not_yet, with --exit-code"},
	{Status: 4, Meaning: "takeover_available, with --exit-code"},
	{Status: 5, Meaning: "closed, with --exit-code"},
}

func runTry(ctx context.Context, c *cli.Invocation) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s, _, j, err := d.join(ctx, false)
	if err != nil {
		return err
	}
	w := waiting{seat: s, statuses: c.Bool("exit-code")}
	w.warn(j)
	snap, err := s.view()
	if err != nil {
		return err
	}
	if _, err := w.pass(ctx, snap); err != nil {
		w.ahead.abandon()
		return err
	}
	return w.answer()
}

func runWait(ctx context.Context, c *cli.Invocation) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	ctx, stop := onSignal(ctx, endings...) // before others can see that the caller waits
	defer stop()
	s, snap, j, err := d.join(ctx, false)
	if err != nil {
		return interrupted(ctx, err)
	}
	release, err := s.mine().Hold(markWaiting)
	if err != nil {
		return err
	}
	defer release()
	if err := s.mine().EnsureWakeFile(); err != nil {
		return err
	}
	limit := time.Duration(snap.State.Policy.WaitForTurn) * time.Millisecond
	if c.Given("timeout") {
		limit = c.Duration("timeout")
	}
	w := waiting{seat: s, began: time.Now(), park: c.Bool("park"), statuses: c.Bool("exit-code")}
	w.warn(j)
	c.Out.Until(ctx)
	if err := w.until(ctx, limit); err != nil {
		w.ahead.abandon()
		return interrupted(ctx, err)
	}
	if w.result.Status != turn.WaitClosed { // there is nothing to write to any more
		_ = s.mine().Mark(markWaiting, time.Now())
		s.touch()
	}
	return interrupted(ctx, w.answer())
}

// A waiting is one wait for the turn.
type waiting struct {
	*seat
	park     bool
	began    time.Time       // when the wait began; zero for try and take
	statuses bool            // the exit status tells the result, see waitStatus
	joins    bool            // the caller becomes a member with the grant
	warning  string          // about the room that the caller has made
	result   turn.WaitResult // of the last pass
	ahead    *early          // the guardian of a turn about to be granted
	letter   *letter         // the handoff that comes with it
	told     chan error      // how the answer to a grant got out; nil: none was tried
	exits    exits
	said     bool // see sayWaiting
}

// until waits until there is something to say or the limit has passed. A signal,
// which ends untilSignal, ends it between two passes, or while one waits for the
// room's lock: what was granted is told.
func (w *waiting) until(untilSignal context.Context, limit time.Duration) error {
	ctx, timeUp := context.WithTimeout(untilSignal, limit)
	defer timeUp()
	defer w.exits.close()
	var failed error // of a pass; its result is not what happened, whatever else ends the wait meanwhile
	err := w.room.AwaitAs(ctx, w.me.ID, func(snap *snapshot) (bool, fsroom.Sleep, error) {
		before := now() // a deadline that passes while we look is still ahead
		done, err := w.pass(untilSignal, snap)
		if errors.Is(err, context.Canceled) || (lockBusy(err) && ctx.Err() == nil) {
			// The lock was not had, so nothing has happened. There is time to look
			// again, or a signal ends the wait.
			w.forget(snap.State)
			return false, fsroom.Sleep{For: time.Millisecond}, nil
		}
		if failed = err; done || err != nil {
			return true, fsroom.Sleep{}, err
		}
		w.sayWaiting()
		w.ahead.abandon() // of a turn that somebody else was quicker to take
		w.ahead, w.letter = nil, nil
		w.exits.watch(w.watched(snap.State))
		f := w.decided // what was looked up for the pass is not looked up again
		f.Now = before
		return false, fsroom.Sleep{For: snap.State.NextDeadline(f, w.me.ID), Exit: w.exits.any()}, nil
	})
	if failed != nil || (err != nil && ctx.Err() == nil) {
		return err
	}
	return nil
}

// forget drops the result of a pass that failed before anything was changed.
func (w *waiting) forget(st *turn.State) {
	w.ahead.abandon()
	w.ahead, w.letter = nil, nil
	w.result = st.NotYet(w.decided)
}

// lockBusy reports whether err came from a lock that was not had in time.
func lockBusy(err error) bool {
	for e := (*code.Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Code == code.LockTimeout {
			return true
		}
	}
	return false
}

// sayWaiting tells a person at a terminal, once, what the wait is for.
func (w *waiting) sayWaiting() {
	if c := w.call; c.Env.StderrTTY && !c.JSON && !w.said {
		w.said = true
		c.Out.Remark("Waiting: " + cli.Line(waitingWords(w.result)))
	}
}

// pass looks at the room once, and claims the turn if it is the caller's. It
// reports whether the wait is over.
func (w *waiting) pass(ctx context.Context, snap *snapshot) (bool, error) {
	request := turn.TryRequest{Agent: w.me.ID, Lease: fsroom.NewID(), Park: w.park}
	return w.ask(ctx, snap, func(st *turn.State, f turn.Facts) ([]event.Event, turn.WaitResult, error) {
		if !w.began.IsZero() {
			request.Waited = time.Since(w.began)
		}
		return turn.Try(st, f, request)
	})
}

// ask requests the turn by the rule in request, which is [turn.Try] or
// [turn.Take], and stores the result. When ask returns nil after a grant, the
// turn has a guardian. Only waiting for the room's lock ends with ctx. ask
// reports whether there is nothing to wait for.
func (w *waiting) ask(ctx context.Context, snap *snapshot, request turnRequest) (bool, error) {
	afterLock := context.WithoutCancel(ctx)
	decide := func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		events, w.result, err = request(st, f)
		if len(events) > 0 && w.letter == nil {
			w.letter = w.open(afterLock, w.result.HandoffSeq)
		}
		if len(events) > 0 && w.ahead == nil && !w.joins { // of a newcomer nothing is there until it is a member
			w.ahead = w.spawnEarly(fenceOf(w.me.ID, w.result))
		}
		return events, err
	}
	for {
		w.first = snap
		if _, _, err := w.updateThen(ctx, decide, func() { w.granted(afterLock) }); err != nil {
			return false, err
		}
		switch {
		case w.told != nil:
			return true, nil
		case w.result.Status == turn.YourTurn: // as it was when the room was read, without its lock
			err := w.secure(ctx, &w.result)
			if !overtaken(err) {
				return true, err
			}
			if snap, err = w.room.View(); err != nil {
				return false, err
			}
			continue
		case w.result.Status != turn.TakeoverAvailable:
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

// A turnRequest decides on a request for the turn.
type turnRequest func(*turn.State, turn.Facts) ([]event.Event, turn.WaitResult, error)

// overtaken reports whether err says that the turn is not the caller's any more.
func overtaken(err error) bool {
	switch code.Of(err) {
	case code.TurnMismatch, code.StaleLease, code.RoomClosed:
		return true
	}
	return false
}

// resultSize is what a result has at most besides its handoff, which as text may
// take more room than as JSON.
const resultSize = 2 << 10

// granted answers as soon as the turn is the caller's for good; state.json can
// still follow. The guardian is written down first: whoever reads the answer may
// release at once. A reader that does not read must not keep the room locked: if
// the answer would have to wait for it, that does not wait here.
func (w *waiting) granted(ctx context.Context) {
	if w.joins {
		w.arrive()
	}
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
	case w.call.Out.CanWriteNow(resultSize + 2*(len(w.result.Handoff)+len(w.warning))):
		w.told <- w.print()
	default:
		go func() { w.told <- w.print() }()
	}
}

// answer prints the result of the last pass if that was not done yet.
func (w *waiting) answer() error {
	var err error
	if w.told != nil {
		err = <-w.told
	} else {
		w.ahead.abandon()
		err = w.print()
	}
	if err == nil && w.statuses {
		err = cli.Exit(waitStatus(w.result.Status))
	}
	return err
}

// warn says what is to be known about a room that the caller has just made.
func (w *waiting) warn(j joining) {
	if !j.existed && j.warning != "" {
		w.warning = j.warning
		w.call.Notice(j.warning)
	}
}

func (w *waiting) print() error {
	w.result.Warning = w.warning
	return w.call.Out.Result(&w.result, func(t *cli.Text) { writeWait(t, w.result) })
}

// secure makes sure that a turn the caller already had is still its own and has
// a guardian, and reads the handoff that came with it. If somebody else has the
// turn by now, the error is that of [turn.State.Check].
func (s *seat) secure(ctx context.Context, res *turn.WaitResult) (err error) {
	if res.GuardianPID, err = s.guarded(ctx, fenceOf(s.me.ID, *res)); err != nil {
		return owned(res.TurnID, err)
	}
	res.Handoff, err = s.read(context.WithoutCancel(ctx), res.HandoffSeq, nil)
	return owned(res.TurnID, err)
}

// owned is what an error is when the turn is the caller's all the same: it must
// not look as if nothing had happened.
func owned(turnID int64, err error) error {
	if err == nil || overtaken(err) || code.Of(err) == code.GuardianFailed {
		return err
	}
	return code.New(code.GuardianFailed, "the turn is yours, but its guardian could not be started: %v", err).
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
