package ttcmd

import (
	"context"
	"strconv"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/code"
)

var msgStatusCommand = &cli.Command{
	Name:   "msg status",
	Traits: cli.Traits{LastKnown: true},
	Args: []cli.Arg{
		{Name: "seq", Optional: true, Usage: "the event_seq of a message (default: your newest)"},
	},
	Short: "what became of a message",
	Long: "For each recipient how far the message came: stored in the journal; woken, when the recipient was woken for it; " +
		"shown, when a hook or a command printed it where the recipient reads; answered, when the recipient wrote to the sender " +
		"afterwards.",
	Examples: []cli.Example{{Line: "tt msg status"}, {Line: "tt msg status 31"}},
	Flags:    pathFlag,
	Errors:   []code.Code{code.RoomNotFound, code.UnknownTarget},
	Run:      runMsgStatus,
}

type msgStatusResult struct {
	Messages []mailbox.Delivered `json:"messages"`
}

func runMsgStatus(ctx context.Context, c *cli.Invocation) error {
	var seq int64
	if c.HasArg("seq") {
		n, err := strconv.ParseInt(c.Arg("seq"), 10, 64)
		if err != nil || n <= 0 {
			return c.Usagef("%q is not the number of an event", c.Arg("seq"))
		}
		seq = n
	}
	room, st, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	rows, err := mailbox.Of(room).Delivered(ctx, st, seq)
	if err != nil {
		return err
	}
	return c.Out.Result(msgStatusResult{rows}, func(t *cli.Text) { writeDelivered(t, rows) })
}

func writeDelivered(t *cli.Text, rows []mailbox.Delivered) {
	if len(rows) == 0 {
		t.Line("You have sent no message here.")
		return
	}
	t.Line("Message %d of %s: %s", rows[0].Seq, rows[0].From, rows[0].Preview)
	var table cli.Table
	for _, d := range rows {
		words := "stored " + t.Ago(d.StoredAt.Time)
		switch {
		case !d.WokenAt.IsZero():
			words += ", woken " + t.Ago(d.WokenAt.Time) + " by " + d.WokenBy
		case d.State == mailbox.WokenFor:
			words += ", woken"
		}
		if !d.ShownAt.IsZero() {
			words += ", shown " + t.Ago(d.ShownAt.Time)
		}
		if d.Answer != 0 {
			words += ", answered by message " + itoa(d.Answer)
		}
		state := t.Yellow(d.State)
		if d.State == mailbox.ShownTo || d.State == mailbox.Answered {
			state = t.Green(d.State)
		}
		table.Row("  "+d.To, state, words)
	}
	t.Table(&table)
}
