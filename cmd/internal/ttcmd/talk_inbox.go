package ttcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
)

var inboxCommand = &cli.Command{
	Name:   "inbox",
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every room; for a person also what is asked of any person elsewhere")
		f.Hidden(func(f *cli.Flags) { // as wait --inbox, without the turn
			f.Bool("wait", "wait until there is something new")
			f.Duration("timeout", "D", 0, "how long to wait (default: the room's limit, 110s)")
		})
		f.Bool("peek", "leave everything as not shown, and join nobody")
	},
	Exclusive: [][2]string{{"all", "wait"}},
	Signals:   true,
	Run:       runInbox,
}

func runInbox(ctx context.Context, c *cli.Invocation) error {
	if c.Given("timeout") && !c.Bool("wait") {
		return c.Usagef("--timeout goes with --wait")
	}
	if c.Bool("all") {
		return runInboxAll(ctx, c)
	}
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	c.Out.Until(ctx)
	room, _, err := openRoom(c)
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := mayRead(ctx, c, room); err != nil {
		return interrupted(ctx, err)
	}
	box := mailbox.Of(room)
	var in *mailbox.Inbox
	if !c.Bool("wait") {
		in, err = box.Inbox(ctx)
	} else {
		limit, limitErr := waitLimit(c, room)
		if limitErr != nil {
			return interrupted(ctx, limitErr)
		}
		waiting, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		in, err = box.AwaitInbox(waiting)
	}
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := c.Out.Result(in, func(t *cli.Text) { writeInbox(t, in) }); err != nil {
		return interrupted(ctx, err)
	}
	if !c.Bool("peek") {
		box.InboxShown(context.WithoutCancel(ctx), in)
	}
	return interrupted(ctx, nil)
}

// mayRead refuses a harness that is no member, and makes a person who is none an observer,
// unless it only peeks.
func mayRead(ctx context.Context, c *cli.Invocation, room *member.Room) error {
	if !c.Bool("peek") {
		_, err := room.EnsureMember(ctx, nil)
		return err
	}
	snap, err := room.FS.View()
	if err == nil && !room.IsMember(snap.State) && !room.IsHuman() {
		err = turn.NotJoined(snap.State, room.Self.ID)
	}
	if err == nil {
		room.RecordPresence(ctx, snap.State)
	}
	return err
}

// An inboxesResult is the result of inbox --all.
type inboxesResult struct {
	Rooms      []mailbox.Inbox `json:"rooms"`
	Unreadable []unreadable    `json:"unreadable,omitempty"`
}

func runInboxAll(ctx context.Context, c *cli.Invocation) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	if path, err := session.Path(c, "path"); err != nil {
		return err
	} else if path != "" {
		return c.Usagef("--all is about every room, and takes no path")
	}
	names, err := client.Rooms()
	if err == nil {
		_, err = fsroom.Refresh(ctx, client.Store, roomtypes.Topics())
	}
	if err != nil {
		return err
	}
	known := client.Offline() // now all is up to date, and nobody is asked again
	slices.Sort(names)
	res := &inboxesResult{Rooms: []mailbox.Inbox{}}
	var shown []func()
	for _, name := range names {
		room := known.Room(name, nil)
		if !room.FS.Exists() {
			continue
		}
		snap, err := room.FS.View()
		var in *mailbox.Inbox
		if err == nil {
			if !room.IsMember(snap.State) && !client.IsHuman() || room.Ended(snap.State) {
				continue
			}
			in, err = mailbox.Of(room).Inbox(ctx)
		}
		switch {
		case err != nil: // a damaged room must not hide the others
			res.Unreadable = append(res.Unreadable, unreadable{name, string(code.Of(err)), err.Error()})
		case room.IsMember(snap.State) || in.Counts.Questions > 0:
			res.Rooms = append(res.Rooms, *in)
			shown = append(shown, func() { mailbox.Of(client.Room(name, nil)).InboxShown(ctx, in) })
		}
	}
	if err := c.Out.Result(res, func(t *cli.Text) { writeInboxes(t, res) }); err != nil {
		return err
	}
	if !c.Bool("peek") {
		for _, mark := range shown {
			mark()
		}
	}
	return nil
}

func writeInboxes(t *cli.Text, res *inboxesResult) {
	something := false
	for i := range res.Rooms {
		in := &res.Rooms[i]
		if in.IsEmpty() {
			continue
		}
		if something {
			t.Blank()
		}
		something = true
		t.Line("%s", t.Bold(in.CanonicalPath))
		writeInbox(t, in)
	}
	if !something {
		t.Line("Nothing for you in %s.", counted(len(res.Rooms), "room"))
	}
	writeUnreadable(t, res.Unreadable)
}

// writeInbox writes what there is for an agent in a room.
func writeInbox(t *cli.Text, in *mailbox.Inbox) {
	switch {
	case in.IsEmpty() && in.Turn.State == turn.StateClosed:
		t.Line("Nothing for you: the room has ended.")
		return
	case in.IsEmpty():
		t.Line("Nothing for you.")
		return
	}
	switch {
	case in.Turn.ForYou && in.Turn.Owner != "":
		t.Line("Turn    you hold turn %d", in.Turn.TurnID)
	case in.Turn.ForYou:
		t.Line("Turn    %s: tt wait%s", t.Green("yours to take"), in.In)
	}
	if in.Problem != "" {
		t.Line("%s %s", t.Red("!"), in.Problem)
	}
	for _, n := range in.Needs {
		words := n.Words()
		if n.Detail != "" {
			words += ": " + cli.Line(n.Detail)
		}
		t.Line("%s %s %s, %s", t.Red("!"), n.AgentID, words, t.Ago(n.Since.Time))
	}
	for i := range in.Questions {
		q := &in.Questions[i]
		if q.Shown {
			t.Line("%s %s %s", t.Yellow("?"), t.Bold(q.ID), t.Dim(q.From+": "+preview(cmp.Or(q.Text, topic.LostText))))
			continue
		}
		t.Line("%s %s %s%s asks %s, %s", t.Yellow("?"), t.Bold(q.ID), q.From, unlessHere(q.FromState), forWhom(q.To), t.Ago(q.AskedAt.Time))
		t.Block("    ", cmp.Or(q.Text, topic.LostText))
	}
	for i := range in.Answers {
		a := &in.Answers[i]
		t.Line("%s %s %s", t.Green("="), t.Bold(a.QuestionID), preview(cmp.Or(a.Question, topic.LostText)))
		writeAnswers(t, "    ", []topic.ShownAnswer{a.ShownAnswer})
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		t.Line("%s %s, %s: tt job log %d%s", t.Dim("job"), j.Words(), t.Ago(j.At.Time), j.ID, in.In)
	}
	for i := range in.Messages {
		e := &in.Messages[i]
		mark := ""
		if talk.Interrupts(e) {
			mark = " [interrupt]"
		}
		t.Line("%s #%d %s%s, %s", t.Dim("m"), e.Seq, fromTo(e.From, e.To), mark, t.Ago(e.CreatedAt.Time))
		t.Block("    ", talk.Of(e).Text)
	}
	for i := range in.Notes {
		n := &in.Notes[i]
		mark := t.Dim("note")
		if n.Severity == talk.SeverityPage {
			mark = t.Red("page")
		}
		if n.Shown {
			t.Line("%s %s %s", mark, t.Bold(shortID(n.ID)), t.Dim(n.Author+": "+preview(cmp.Or(n.Body, lostText))))
			continue
		}
		t.Line("%s %s %s, %s", mark, t.Bold(shortID(n.ID)), noteAbout(n.Note), t.Ago(n.CreatedAt.Time))
		t.Block("    ", cmp.Or(n.Body, lostText))
	}
	for i := range in.Asked {
		q := &in.Asked[i]
		t.Line("%s %s you asked %s%s, %s: %s", t.Dim("?"), t.Bold(q.ID), forWhom(q.To), whereIs(q), t.Ago(q.AskedAt.Time),
			preview(cmp.Or(q.Text, topic.LostText)))
	}
	if left := in.Left; left > 0 {
		t.Line("%s", t.Dim(counted(left, "more item")+" left; run tt inbox"+in.In+" again"))
	}
	t.Line("Next    %s", in.Next)
}

// preview returns the first line of a text, cut to the length of a line.
func preview(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return shortened(first)
}

// writeBriefing writes what comes with a turn besides the handoff.
func writeBriefing(t *cli.Text, b turn.Briefing) {
	if len(b.Missed) > 0 {
		t.Line("%s", t.Bold("  Handoffs since your last turn"))
		for _, h := range b.Missed {
			t.Line("    turn %d, %s: %s", h.TurnID, h.Agent, talk.Preview(h.Status))
		}
	}
	if b.NotesTotal > 0 {
		title := "  Open notes"
		if b.NotesTotal > len(b.Notes) {
			title += fmt.Sprintf(" (%d of %d; all: tt notes list)", len(b.Notes), b.NotesTotal)
		}
		t.Line("%s", t.Bold(title))
	}
	for _, n := range b.Notes {
		mark := t.Dim("open")
		if n.Severity == talk.SeverityPage {
			mark = t.Red("page")
		}
		t.Line("    %s  %s  %s", t.Bold(shortID(n.ID)), mark, noteAbout(talk.Note{Author: n.Author, Target: n.Target, Turn: n.Turn}))
		t.Block("      ", cmp.Or(n.Body, lostText))
	}
	writeBriefChanges(t, b.Changes, b.MoreChanges)
	writeUnread(t, b.Unread)
}

// noteAbout says by whom a note is, for whom, and what it is about.
func noteAbout(n talk.Note) string {
	words := n.Author
	if n.Target != "" {
		words += " → " + n.Target
	}
	if n.Turn != 0 {
		return words + ", about turn " + itoa(n.Turn)
	}
	return words + ", about the room"
}

// writeUnread says what the caller has not seen, and how to see it.
func writeUnread(t *cli.Text, u talk.Unread) {
	say := func(n int64, thing, format string) {
		if n > 0 {
			t.Line(format, counted(int(n), thing))
		}
	}
	say(u.Pages, "page", "Unread: %s. Read with: tt inbox")
	say(u.Messages, "message", "Unread: %s. Read with: tt inbox")
	say(u.Notes, "note", "Unread: %s. Read with: tt notes list")
	say(u.Questions, "question", "Unread: %s for you. Read with: tt inbox")
	say(u.Jobs, "job", "Ended: %s of yours. Read with: tt inbox")
	say(u.Answers, "answer", "Unread: %s to you. Read with: tt inbox")
}

// interruptedPaths is how many changed paths the text about an interrupted turn names.
const interruptedPaths = 5

// writeInterrupted writes what is known of turns that were taken over.
func writeInterrupted(t *cli.Text, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	for i, v := range mailbox.Interruptions(raw) {
		words := fmt.Sprintf("turn %d of %s, %s", v.Turn, v.Agent, v.Reason)
		if v.Host != "" {
			words += ", on host " + v.Host
		}
		if v.Changed != nil {
			words += ": " + counted(v.Total, "file") + " changed"
		}
		if i > 0 {
			t.Line("  Before  %s", words)
			continue
		}
		t.Line("%s %s", t.Bold("  Interrupted"), words)
		if v.Changed != nil {
			for _, p := range v.Paths[:min(len(v.Paths), interruptedPaths)] {
				t.Line("    %s  %s", p.Path, p.Status)
			}
		}
		if v.Diff != "" && (v.Changed == nil || v.Total > 0) {
			t.Line("    All of it: %s; to take it back: %s", v.Diff, v.Undo)
		}
		for _, j := range v.Jobs[:min(len(v.Jobs), 2)] {
			outcome := j.Outcome
			if j.Running {
				outcome = jobs.Running
			}
			t.Line("    Job     %s#%d  %s", j.Name, j.JobID, outcome)
		}
		if v.Note != nil {
			t.Line("    Note    %s", talk.Preview(v.Note.Body))
		}
	}
}
