package ttcmd

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

var whyCommand = &cli.Command{
	Name:   "why",
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{{Name: "agent", Optional: true, Usage: "only this member: an agent id, or the name of one active member"}},
	Run:    runWhy,
}

type whyResult struct {
	Turn    json.RawMessage       `json:"turn"` // a turn.Standing
	Members []mailbox.MemberReach `json:"members"`
	Locks   []*locks.View         `json:"locks,omitempty"`
	Next    []string              `json:"next"`

	JournalShortened *event.Lost `json:"journal_shortened,omitempty"` // what the journal has lost
}

func runWhy(ctx context.Context, c *cli.Invocation) error {
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	now := room.Look(seen)
	st, f := now.State, now.Facts
	standing, told := st.Standing(f), mailbox.Of(room).Reach(st, f)
	elsewhere := ""
	if c.HasArg("agent") {
		away, err := room.Away(st, c.Arg("agent"))
		if err != nil {
			return err
		}
		id := ""
		if away != nil {
			elsewhere = c.Arg("agent") + " works in another tree of the repository: " + away.Name(room.Workspace.Root)
		} else if id, err = turn.WhoIs(st, f, room.Self.ID, c.Arg("agent")); err != nil {
			return err
		}
		told = slices.DeleteFunc(told, func(m mailbox.MemberReach) bool { return m.ID != id })
	}
	var lost *treeLoss
	tree := room.Recorder(st)
	if files, since := tree.Lost(ctx); files > 0 {
		lost = &treeLoss{files, event.NewTime(since)}
		standing.Lost, _ = json.Marshal(lost)
	}
	res := whyResult{Turn: wire.Append(nil, &standing), Members: told, Locks: locksOf(room), Next: st.Outlook(f),
		JournalShortened: now.Seen.Lost}
	if elsewhere != "" {
		res.Next = append(res.Next, elsewhere)
	}
	switch {
	case lost != nil:
		res.Next = append(res.Next, lost.words())
	case tree.Changing():
		res.Next = append(res.Next, "an undo or restore changes files at this moment: look again when it has ended")
	case tree.Interrupted():
		res.Next = append(res.Next, "an undo or restore was killed half-way; to put back what it changed: tt doctor --repair")
	}
	outside := outsideText(ctx, c, room, st)
	return c.Out.Result(res, func(t *cli.Text) { writeWhy(t, standing, told, res, outside) })
}

func writeWhy(t *cli.Text, standing turn.Standing, told []mailbox.MemberReach, r whyResult, outside string) {
	hears, lock, next := titled(t, "Hears"), titled(t, "Locks"), titled(t, "Next")
	t.Line("Turn    %s", turnWords(t, standing))
	if outside != "" {
		t.Line("%s", outside)
	}
	for _, m := range told {
		words := m.ID + " " + reachWords(m.Listening, m.Reach, m.Within)
		if !m.NotifiedAt.IsZero() {
			words += ", " + t.Ago(m.NotifiedAt.Time)
		}
		if m.Unread > 0 {
			words += "; " + counted(int(m.Unread), "unread message")
		}
		if m.Note != "" {
			words += "; " + m.Note
		}
		if m.Why != "" && m.ID != standing.Owner { // what is wrong with whom is told below
			words += "; " + m.Why
		}
		if doing := activityWords(t, m.Activity); doing != "" {
			words += "; " + doing
		}
		if m.Activity.Job != "" && m.ID != standing.Owner { // whose job is told below
			words += "; runs job " + m.Activity.Job
		}
		switch {
		case m.Error != "" && m.Listening == "":
			words += "; nothing can wake it: " + m.Error
		case m.Error != "":
			words += "; the last attempt failed: " + m.Error
		}
		hears(words)
	}
	for _, l := range r.Locks {
		lock(lockWords(l, t.Now))
	}
	for _, what := range r.Next {
		next(what)
	}
	writeShortened(t, r.JournalShortened)
}

// turnWords says who has the turn and since when.
func turnWords(t *cli.Text, v turn.Standing) string {
	since := ""
	if v.Since != nil {
		since = ", " + t.Ago(v.Since.Time)
	}
	switch {
	case v.Owner != "":
		return v.Owner + " has turn " + itoa(v.TurnID) + since
	case v.ReservedFor != "":
		return "turn " + itoa(v.TurnID+1) + " is reserved for " + v.ReservedFor + since
	case v.OfferedTo != "":
		return "turn " + itoa(v.TurnID+1) + " is offered to " + v.OfferedTo + since
	case v.From != "":
		return "free, with a handoff of " + v.From + since
	}
	return "free"
}

// A treeLoss is work that was not committed and went since the last turn.
type treeLoss struct {
	Files int        `json:"files"`
	Since event.Time `json:"since"` // of the snapshot that has it
}

func (l *treeLoss) words() string {
	return counted(l.Files, "file") + " went after " + l.Since.UTC().Format("15:04:05") + " UTC, not committed; to bring back what went: tt restore --lost"
}

var whoamiCommand = &cli.Command{
	Name:   "whoami",
	Traits: cli.Traits{NoSubject: true},
	Hidden: true,
	Reads:  true,
	Flags: func(f *cli.Flags) {
		f.Bool("explain", "also say which signals were seen and which decided")
	},
	Run: runWhoami,
}

func runWhoami(_ context.Context, c *cli.Invocation) error {
	if _, err := openStore(c); err != nil { // it says what this host is called
		c.Warn("%v", err)
	}
	me, err := session.Caller(c, processes(c))
	if err != nil {
		return err
	}
	return c.Out.Result(identity.WhoamiJSON(me), func(t *cli.Text) {
		if !c.Bool("explain") {
			t.Line("%s", me.ID)
			return
		}
		for _, line := range identity.Explain(me) {
			t.Line("%s", line)
		}
		if dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home); err == nil {
			t.Line("data directory %s: agents with another one do not see each other", dir)
		}
	})
}

var (
	consoleCommand = viewers.Console(runViewer)
	reportCommand  = viewers.Report(runViewer)
)

// runViewer becomes tt-console, with the same command line.
func runViewer(_ context.Context, c *cli.Invocation) error {
	program, err := second.Find(c.Env, second.Console)
	if err == nil {
		if err = second.Become(c, program, second.Console); code.Of(err) != code.Usage {
			return err
		}
	}
	own, _ := c.Env.Executable()
	return code.New(code.ConsoleNotInstalled, "%s is in the program %s, which is not beside tt and not in PATH, or cannot be run",
		c.Cmd.Name, second.Console).
		WithHint(`run "make install" in a checkout, take it from the release archive of tt, or: CGO_ENABLED=0 GOBIN=%s go install github.com/talking-stick/tt/cmd/%s@latest`,
			code.ShellWord(filepath.Dir(own)), second.Console)
}
