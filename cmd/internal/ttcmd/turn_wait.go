package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
)

var waitCommand = &cli.Command{
	Name: "wait",
	Args: []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.Duration("timeout", "D", 0, "how long to wait (default: the room's limit, 110s)")
		f.Bool("inbox", "end also with the first thing for you that was not shown yet, see tt inbox")
		f.Bool("park", "take only a turn that is meant for you; do not claim a free room")
		exitCodeFlag(f)
	},
	Signals: true,
	Run:     runWait,
}

var tryCommand = &cli.Command{
	Name:   "try",
	Hidden: true,
	Args:   []cli.Arg{pathArg},
	Flags:  exitCodeFlag,
	Run:    runTry,
}

func exitCodeFlag(f *cli.Flags) {
	f.Bool("exit-code", "report the result in the exit status, too")
}

func runTry(ctx context.Context, c *cli.Invocation) error {
	client, w, err := openToJoin(c)
	if err != nil {
		return err
	}
	room, _, err := client.JoinToAsk(ctx, w)
	out := &waitOutput{c: c}
	if err != nil {
		return out.exit(out.answerClosed(err))
	}
	changes.First(ctx, room, ledgerSetting(c))
	out.in(room)
	return out.exit(room.Try(ctx, out))
}

func runWait(ctx context.Context, c *cli.Invocation) error {
	ctx, stop := onSignal(ctx, endings...) // before others can see that the caller waits
	defer stop()
	client, w, err := openToJoin(c)
	if err != nil {
		return err
	}
	atMost := time.Duration(turn.DefaultPolicy().WaitForTurn) * time.Millisecond
	if c.Given("timeout") {
		atMost = c.Duration("timeout")
	}
	room, snap, limit, err := client.JoinWithin(ctx, w, atMost)
	ended := ctx.Err() != nil && errors.Is(err, context.Canceled)
	if ended {
		c.Out.Until(ctx)
		err = nil
	}
	out := &waitOutput{c: c}
	switch {
	case ended || fsroom.IsUnreachable(err):
		return interrupted(ctx, out.exit(out.Answer(client.NotYet(w, err))))
	case err != nil:
		return interrupted(ctx, out.exit(out.answerClosed(err)))
	}
	if policy := time.Duration(snap.State.Policy.WaitForTurn) * time.Millisecond; !c.Given("timeout") {
		limit = max(0, limit+policy-atMost)
	}
	changes.First(ctx, room, ledgerSetting(c))
	out.in(room)
	if room.ActsFor(snap.State) == "" {
		hooks.NoticeOldSession(c.Env, room.Client, c.Notice)
	}
	c.Out.Until(ctx)
	return interrupted(ctx, out.exit(room.Wait(ctx, limit, c.Bool("park"), c.Bool("inbox"), out)))
}

// A waitOutput prints the answer to a request for the turn. It implements
// [member.Output].
type waitOutput struct {
	c        *cli.Invocation
	warning  string // about the room, if the command creates it
	override string // about a turn that is taken over
	status   string // of the answer
	waitsFor string // what was said last of the wait
}

// in makes it the output of a request in the room, and lets it tell the news.
// If the room is to be created, it prints the room's warning.
func (o *waitOutput) in(room *member.Room) {
	room.News = mailbox.Of(room)
	if room.Created && room.Warning != "" {
		o.warning = room.Warning
		o.c.Notice(o.warning)
	}
}

// answerClosed answers an agent whose room was closed. Other errors are returned as they are.
func (o *waitOutput) answerClosed(err error) error {
	var closed *member.ClosedError
	if !errors.As(err, &closed) {
		return err
	}
	return o.Answer(closed.Result)
}

// Answer implements [member.Output].
func (o *waitOutput) Answer(res turn.WaitResult) error {
	o.status, res.Warning = res.Status, o.warning
	if res.Revoked != "" && o.override != "" {
		res.Warning = o.override
		o.c.Warn("%s", o.override)
	}
	return o.c.Out.Result(&res, func(t *cli.Text) { writeWait(t, res) })
}

// Waiting implements [member.Output]. It tells a person at a terminal what the wait is for,
// once for each turn and its holder.
func (o *waitOutput) Waiting(res turn.WaitResult) {
	waitsFor := res.CurrentOwner + " " + res.ReservedFor + " " + itoa(res.TurnID)
	if o.c.Env.StderrTTY && !o.c.JSON && waitsFor != o.waitsFor && o.c.Out.CanRemarkNow() {
		o.waitsFor = waitsFor
		o.c.Out.Remark(cli.Line(waitingWords(res, o.c.Env.Now())))
	}
}

// waitingWords says what a wait waits for.
func waitingWords(r turn.WaitResult, now time.Time) string {
	switch {
	case r.CurrentOwner != "":
		text := fmt.Sprintf("Waiting: %s holds turn %d", r.CurrentOwner, r.TurnID)
		if held := now.Sub(r.OwnerSince.Time); held >= 0 && !r.OwnerSince.IsZero() {
			text += " for " + cli.Elapsed(held)
		}
		return text + "."
	case r.ReservedFor != "":
		text := "Waiting: the turn is reserved for " + r.ReservedFor
		if r.ClaimExpiresAt != nil {
			text += ", " + cli.Elapsed(r.ClaimExpiresAt.Sub(now)) + " left to claim it"
		}
		return text + "."
	}
	if r.Parked {
		return "Waiting until the turn is meant for you; the stick is free."
	}
	return "Waiting: the turn is kept for other members for a moment."
}

// exit returns what the command ends with: err, or with --exit-code the status that
// stands for the answer.
func (o *waitOutput) exit(err error) error {
	if err != nil || !o.c.Bool("exit-code") {
		return err
	}
	return cli.Exit(map[string]int{turn.NotYet: 3, turn.TakeoverAvailable: 4, turn.WaitClosed: 5, turn.WaitInbox: 6}[o.status])
}

var takeCommand = &cli.Command{
	Name:    "take",
	Aliases: []string{"takeover"},
	Args:    []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; it is kept in the journal")
		f.Bool("operator-requested", "a person asked for it, so nothing needs to have run out")
		turnFlag(f)
	},
	Run: runTake,
}

func runTake(ctx context.Context, c *cli.Invocation) error {
	client, w, err := openToJoin(c)
	if err != nil {
		return err
	}
	r := turn.TakeRequest{
		TryRequest: turn.TryRequest{Agent: client.Self.ID, Lease: fsroom.NewLease()}, Reason: c.String("reason"),
		Operator: c.Bool("operator-requested") || client.IsHuman(), Human: client.IsHuman(), Turn: onlyTurn(c),
	}
	switch { // a harness has to give a reason of its own
	case c.Given("reason"):
	case c.Bool("operator-requested"):
		r.Reason = "operator requested takeover"
	case client.IsHuman():
		r.Reason = "operator takeover"
	}
	if err := turn.CheckReason(r.Reason); err != nil {
		return err
	}
	out := &waitOutput{c: c}
	if err := client.CheckClosed(ctx, w); err != nil {
		return out.answerClosed(err)
	}
	room, err := client.SelectRoom(w, false)
	if err == nil && room.Created && client.IsHuman() {
		_, _, err = client.Open(w, nil) // room_not_found
	}
	if err != nil {
		return err
	}
	changes.First(ctx, room, ledgerSetting(c))
	out.in(room)
	if r.Operator {
		if snap, err := room.FS.View(); err == nil {
			out.override = room.OverrideWarning(snap.State)
		}
	}
	return room.Take(ctx, r, out)
}

// turnFlag declares --turn, for decisions that somebody made about one turn.
func turnFlag(f *cli.Flags) {
	f.Int64("turn", "N", 0, "only if N is still the current turn, else turn_mismatch")
}

// onlyTurn is the value of --turn, nil if it was not given.
func onlyTurn(c *cli.Invocation) *int64 {
	if !c.Given("turn") {
		return nil
	}
	n := c.Int64("turn")
	return &n
}
