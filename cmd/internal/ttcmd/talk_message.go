package ttcmd

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/journal/event"
)

var msgSendCommand = &cli.Command{
	Name: "msg send",
	Args: []cli.Arg{
		{Name: "agent", Show: "AGENT|room", Usage: `an agent id, the name of one active member, or "room" for everybody`},
		{Name: "body", Show: "BODY", Optional: true, Rest: true, Usage: "the message, at most 4096 bytes"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("interrupt", "mark it as urgent")
		f.Bool("stdin", "read the body from standard input")
	},
	Run: runMsgSend,
}

// A sentResult is the result of msg send. Owner and ReservedFor are those of the room
// when the message was sent: a message may cross with a handoff.
type sentResult struct {
	EventSeq    int64      `json:"event_seq"`
	EventID     string     `json:"event_id"`
	CreatedAt   event.Time `json:"created_at"`
	Delivery    string     `json:"delivery"`       // when it is heard of, see [turn.State.Delivery]
	Hint        string     `json:"hint,omitempty"` // for the sender, if that is not soon
	Owner       string     `json:"owner,omitempty"`
	ReservedFor string     `json:"reserved_for,omitempty"`
	aftermath
	elsewhere
}

// An aftermath is what a command that has changed the room says besides.
type aftermath struct {
	Turn   string      `json:"turn,omitempty"`  // where the stick is, see [turn.State.Words]
	Unread talk.Unread `json:"unread,omitzero"` // what the caller has not seen
}

func aftermathOf(room *member.Room, st *turn.State) aftermath {
	return aftermath{room.TurnWords(st), mailbox.Of(room).Unread(st)}
}

func (a *aftermath) write(t *cli.Text) {
	writeTurn(t, a.Turn)
	writeUnread(t, a.Unread)
}

// An elsewhere says in which room something was stored for an agent that works in another tree
// of the repository.
type elsewhere struct {
	RoomID        string `json:"room_id,omitempty"`
	CanonicalPath string `json:"canonical_path,omitempty"`
}

func elsewhereOf(r *member.Room) elsewhere {
	if !r.Visits {
		return elsewhere{}
	}
	return elsewhere{r.FS.Name(), r.Directory()}
}

// in says in which tree, for people.
func (e *elsewhere) in() string {
	if e.CanonicalPath == "" {
		return ""
	}
	return " in " + e.CanonicalPath
}

// standing returns the aftermath in the caller's own room.
func standing(room *member.Room) (a aftermath) {
	if snap, err := room.FS.View(); err == nil {
		a = aftermathOf(room, snap.State)
	}
	return a
}

func runMsgSend(ctx context.Context, c *cli.Invocation) error {
	body, err := bodyOf(c, talk.KindMessage)
	if err != nil {
		return err
	}
	own, seen, err := openRoom(c)
	if err != nil {
		return err
	}
	room, err := own.Reaching(seen, c.Arg("agent"))
	if err != nil {
		return err
	}
	if room != own {
		seen = nil
	}
	request := turn.MessageRequest{Agent: room.Self.ID, To: c.Arg("agent"), Body: body, Interrupt: c.Bool("interrupt")}
	var delivery, hint, words string
	snap, events, err := room.UpdateAsPerson(ctx, seen, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		events, err := turn.Send(st, f, request)
		if err == nil { // before the message is there: it may end the wait of its recipient
			delivery, hint = st.Delivery(f, &events[len(events)-1])
			words = st.Words(f, request.Agent)
		}
		return events, err
	})
	if err != nil {
		return err
	}
	sent := &events[len(events)-1]
	after := aftermath{words, mailbox.Of(room).Unread(snap.State)}
	if room != own {
		after = standing(own)
	}
	at := elsewhereOf(room)
	return c.Out.Result(sentResult{sent.Seq, sent.ID, sent.CreatedAt, delivery, hint, snap.State.Owner, snap.State.ReservedFor,
		after, at}, func(t *cli.Text) {
		to := sent.To
		if to == "" {
			to = "the room"
		}
		to += at.in()
		if hint == "" {
			t.Line("Sent to %s (event %d): %s.", to, sent.Seq, map[string]string{
				turn.DeliveryWaiting: "it ends a wait", turn.DeliveryListening: "what listens is notified",
				turn.DeliveryNextToolCall: "it is shown with the next use of a tool",
				turn.DeliveryNextCommand:  "it comes with the next command of tt there",
			}[delivery])
		} else {
			t.Line("Sent to %s (event %d), but %s.", to, sent.Seq, hint)
		}
		after.write(t)
	})
}

// bodyOf returns the text of the arguments or of standard input, or refuses it as a word of a kind.
func bodyOf(c *cli.Invocation, kind string) (string, error) {
	text, err := c.Text("body", code.InvalidBody, talk.TooLarge(kind))
	if err == nil {
		err = talk.Check(kind, text)
	}
	return text, err
}

var msgRecvCommand = &cli.Command{
	Name:    "msg recv",
	Reads:   true,
	Hidden:  true,
	Streams: true,
	Flags: func(f *cli.Flags) {
		filterFlags(f, "self")
		f.Bool("wait", "wait for the next message, print it, and end")
		f.Bool("follow", "print messages as they come, until stopped")
	},
	Exclusive: [][2]string{{"wait", "follow"}},
	Run:       runMsgRecv,
}

func runMsgRecv(ctx context.Context, c *cli.Invocation) error {
	return readEvents(ctx, c, &eventQuery{
		types: map[string]bool{turn.MessageSent: true}, target: "self", unread: true, lines: true,
		data: !c.Given("text") && !c.Env.StdoutTTY,
	})
}

var msgStatusCommand = &cli.Command{
	Name:   "msg status",
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Args: []cli.Arg{
		{Name: "seq", Optional: true, Usage: "the event_seq of a message (default: your newest)"},
	},
	Run: runMsgStatus,
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
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	rows, err := mailbox.Of(room).Delivered(ctx, seen.State, seq)
	if err != nil {
		return err
	}
	return c.Out.Result(map[string]any{"messages": rows}, func(t *cli.Text) { writeDelivered(t, rows) })
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

// viaStdout is the way of a program that reads lines and wakes the agent itself.
const viaStdout = "stdout"

// listenWays are the values of --via, the default first.
var listenWays = []string{"", viaStdout, hearing.ByExec, hearing.ByQueue, hearing.ByOpenCode}

var listenCommand = &cli.Command{
	Name:   "listen",
	Traits: cli.Traits{NoSubject: true},
	Flags: func(f *cli.Flags) {
		f.Hidden(func(f *cli.Flags) { // for hooks and plugins
			f.Choice("via", "KIND", listenWays, "how the agent is woken: by lines (stdout, opencode) or codex queue")
		})
		f.Word("exec", "CMD", "run a command of the shell each time")
		f.String("program", "PATH", "the codex to call instead of that of the session, or the one on the PATH")
		f.Bool("off", "wake for turns alone from now on, and end")
	},
	Streams: true,
	Run:     runListen,
}

func runListen(ctx context.Context, c *cli.Invocation) error {
	if err := hearing.CheckBudget(); err != nil {
		return err
	}
	client, err := newClient(c)
	if err != nil {
		return err
	}
	a := &listen.Agent{Client: client.Offline(), Dir: c.Env.Dir} // which is kept up to date meanwhile
	if c.Bool("off") {
		if c.Given("via") || c.Given("exec") {
			return c.Usagef("--off starts nothing, so it goes with neither --via nor --exec")
		}
		if err := a.TurnOff(ctx, true); err != nil {
			return err
		}
		return c.Out.Result(map[string]any{"agent_id": client.Self.ID, "off": true}, func(t *cli.Text) {
			t.Line("Only turns wake %s now. For messages too: tt listen", client.Self.ID)
		})
	}
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	transport, reads, err := listenTransport(c, client)
	if err != nil {
		return err
	}
	c.Out.Until(ctx)
	if err := a.TurnOff(ctx, false); err != nil {
		return err
	}
	if reads {
		var stopReader func()
		ctx, stopReader = untilReaderGone(ctx, c.Env.Stdout)
		defer stopReader()
	}
	err = a.Run(ctx, transport)
	switch {
	case ctx.Err() != nil, cli.ReaderGone(err):
		return nil
	case errors.Is(err, listen.ErrDeaf):
		return code.New(code.UnknownTarget, "%s cannot be woken: %v", client.Self.ID, err).
			WithHint("what there is for it is shown at its next prompt; tt why says how each agent can be reached").Because(err)
	}
	return err
}

// listenTransport returns the transport of the command line, and whether a program reads what it prints, whose end ends
// the listener.
func listenTransport(c *cli.Invocation, client *member.Client) (t listen.Transport, reads bool, err error) {
	via := c.String("via")
	switch {
	case c.Given("exec") && via != "" && via != hearing.ByExec:
		return t, false, c.Usagef("--exec is a way of its own and does not go with --via %s", via)
	case c.Given("exec"):
		return listen.Command(c.String("exec")), false, nil
	case via == hearing.ByExec:
		return t, false, c.Usagef("--via exec needs the command: --exec CMD")
	case via == hearing.ByQueue:
		t, err = codexTransport(c, client)
		return t, false, err
	}
	t = listen.Transport{How: hearing.ByExec, Deliver: func(_ context.Context, w listen.Wake) error {
		asText := func(t *cli.Text) { t.Line("%s", w.Text) }
		if via == viaStdout || via == hearing.ByOpenCode {
			asText = nil
		}
		if err := c.Out.WriteLine(&w, asText); err != nil {
			return errors.Join(listen.ErrDeaf, err)
		}
		return nil
	}}
	own := harness.Find(client.Self.Harness)
	if via == hearing.ByOpenCode || via == viaStdout && own != nil && own.Hooks.Shape == harness.Plugin {
		t.How = hearing.ByOpenCode
	}
	return t, true, nil
}

// codexTransport wakes the thread of Codex that the caller runs in.
func codexTransport(c *cli.Invocation, client *member.Client) (t listen.Transport, err error) {
	h := harness.Queued()
	thread := c.Env.Lookup(h.SessionVars[0])
	if thread == "" {
		thread = client.Hearing().Listener().Session
	}
	if thread == "" {
		return t, c.Usagef("no thread of Codex is known: run this inside Codex, or set %s", h.SessionVars[0])
	}
	program := cmp.Or(c.String("program"), identity.ProgramOf(client.Table, h))
	if program == "" {
		program, err = exec.LookPath(h.Program)
	}
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return t, code.New(code.UnknownTarget, "%s is not on the PATH", h.Program).Because(err)
	}
	home := c.Env.Lookup(h.ConfigDir.Var)
	if home == "" {
		home = filepath.Join(c.Env.Home, h.ConfigDir.Base)
	}
	return listen.Queue(program, filepath.Join(home, h.Hooks.Locks), thread), nil
}
