package ttcmd

import (
	"fmt"

	"github.com/talking-stick/tt/cmd/internal/cli"
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
		t.Line("    %s  %s  %s", t.Bold(shortID(n.ID)), mark, noteAbout(n.Note))
		t.Block("      ", n.Body)
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
	if u.Messages > 0 {
		t.Line("Unread: %s. Read with: tt msg recv", counted(int(u.Messages), "message"))
	}
	if u.Notes > 0 {
		t.Line("Unread: %s. Read with: tt notes list", counted(int(u.Notes), "note"))
	}
	if u.Questions > 0 {
		t.Line("Unread: %s for you. Read with: tt inbox", counted(int(u.Questions), "question"))
	}
	if u.Jobs > 0 {
		t.Line("Ended: %s of yours. Read with: tt inbox", counted(int(u.Jobs), "job"))
	}
	if u.Answers > 0 {
		t.Line("Unread: %s to you. Read with: tt inbox", counted(int(u.Answers), "answer"))
	}
}
