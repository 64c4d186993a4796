package ttcmd

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/turn"
)

// writeBriefing writes what comes with a turn besides the handoff.
func writeBriefing(t *cli.Text, b turn.Briefing) {
	if len(b.Missed) > 0 {
		t.Line("%s", t.Bold("  Handoffs since your last turn"))
		for _, h := range b.Missed {
			t.Line("    turn %d, %s: %s", h.TurnID, h.Agent, turn.Preview(h.Status))
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
		if n.Severity == turn.SeverityPage {
			mark = t.Red("page")
		}
		t.Line("    %s  %s  %s", t.Bold(shortID(n.ID)), mark, noteAbout(turn.Note{Author: n.Author, Target: n.Target, Turn: n.Turn}))
		t.Block("      ", cmp.Or(n.Body, lostText))
	}
	writeBriefChanges(t, b.Changes, b.MoreChanges)
	writeUnread(t, b.Unread)
}

// noteAbout says by whom a note is, for whom, and what it is about.
func noteAbout(n turn.Note) string {
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
func writeUnread(t *cli.Text, u turn.Unread) {
	say := func(n int64, thing, format string) {
		if n > 0 {
			t.Line(format, counted(int(n), thing))
		}
	}
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
		words := fmt.Sprintf("turn %d of %s, %s", v.TurnID, v.AgentID, v.Reason)
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
				outcome = jobRunning
			}
			t.Line("    Job     %s#%d  %s", j.Name, j.JobID, outcome)
		}
		if v.Note != nil {
			t.Line("    Note    %s", turn.Preview(v.Note.Body))
		}
	}
}
