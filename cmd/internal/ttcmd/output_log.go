package ttcmd

import (
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
)

// writeLog writes the history. Lines are cut to width columns, unless width is 0.
func writeLog(t *cli.Text, r logResult, width int) {
	if r.Earlier {
		t.Line("%s", t.Dim("earlier lives of this room are left out; --archive shows them"))
	}
	if r.Omitted > 0 {
		t.Line("%s", t.Dim(counted(int(r.Omitted), "earlier event")+" left out; --limit or --since shows more"))
	}
	if len(r.Entries) == 0 {
		t.Line("Nothing happened.")
	}
	for i := range r.Entries {
		writeEntry(t, &r.Entries[i], "still holds it", width)
	}
}

// writeEntry writes one entry. holding describes a turn in progress.
func writeEntry(t *cli.Text, e *turn.LogEntry, holding string, width int) {
	line := besideWords(e)
	if e.Kind == "turn" {
		line = "turn " + itoa(e.TurnID) + " " + e.Agent + ", " + holding
		if e.EndedAt != nil {
			line = "turn " + itoa(e.TurnID) + " " + e.Agent + ", for " + cli.Duration(time.Duration(e.Duration)*time.Millisecond)
		}
		if waited := time.Duration(*e.Waited) * time.Millisecond; waited >= time.Second {
			line += " after waiting " + cli.Duration(waited)
		}
		if e.TakenFrom != "" {
			line += ", taken from " + e.TakenFrom + ": " + e.Reason
		}
	}
	t.Line("%s  %s", t.Dim(e.At.Local().Format(logTime)), cutTo(width, len(logTime)+2, line))
	if e.Kind == "turn" && e.EndedAt != nil {
		writeEnd(t, e, width)
	}
}

const logTime = "Jan _2 15:04:05"

// writeEnd writes the handoff and the end of a turn.
func writeEnd(t *cli.Text, e *turn.LogEntry, width int) {
	const indent = "                   "
	line := func(word, text string) {
		if text != "" {
			t.Line("%s%-6s%s", cli.Styled(indent), word, cutTo(width, len(indent)+6, text))
		}
	}
	h := turn.ReadHandoff(e.Handoff)
	line("did", h.Status)
	line("next", h.NextAction)
	for _, a := range h.Artifacts {
		line("file", strings.TrimPrefix(artifactLine(a), "- "))
	}
	for _, q := range h.OpenQuestions {
		line("ask", q)
	}
	for _, d := range h.DoNot {
		line("not", d)
	}
	switch {
	case e.PassedTo != "" && (e.EndedBy == turn.Released || e.EndedBy == turn.Passed):
		line("to", e.PassedTo)
	case e.EndedBy != turn.Released:
		line("end", endWords(e.EndedBy))
	}
}

// endWords describes the end of a turn without a release.
func endWords(event string) string {
	switch event {
	case turn.Takeover:
		return "somebody else took over"
	case turn.Kicked:
		return "its holder was removed"
	case turn.MemberLeft:
		return "its holder left"
	case turn.Closed:
		return "the room ended"
	}
	return event
}

func besideWords(e *turn.LogEntry) string {
	why := ""
	if e.Reason != "" {
		why = ": " + e.Reason
	}
	switch e.Event {
	case turn.MessageSent:
		return fromTo(e.Agent, e.To) + ": " + urgent(e.Hint == turn.HintInterrupt, "interrupt") + e.Text
	case turn.NoteAdded:
		return fromTo(e.Agent, e.To) + " left a note: " + urgent(e.Severity == turn.SeverityPage, "page") + e.Text
	case turn.NoteResolved:
		return e.Agent + " resolved a note"
	case turn.RoomOpened:
		return e.Agent + " opened the room"
	case turn.MemberJoined:
		if e.Observer {
			return e.Agent + " joined as an observer"
		}
		return e.Agent + " joined"
	case turn.MemberLeft:
		if e.Reason == turn.ReasonLeft {
			why = ""
		}
		return e.Agent + " left" + why
	case turn.Kicked:
		return e.Agent + " removed " + e.To + why
	case turn.PolicyChanged:
		return e.Agent + " changed the policy"
	case turn.Closed:
		return strings.TrimSpace(e.Agent+" ") + closedWords(e.Agent) + why
	}
	return strings.TrimSpace(fromTo(e.Agent, e.To)+" "+e.Event) + why
}

func closedWords(by string) string {
	if by == "" {
		return "the room ended"
	}
	return " closed the room"
}

// urgent returns the mark for a message or note that should be read at once.
func urgent(is bool, mark string) string {
	if is {
		return "[" + mark + "] "
	}
	return ""
}

// cutTo returns the first line of a text, cut to what is left of the width after the
// first columns.
func cutTo(width, columns int, text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	runes := []rune(line)
	left := max(width-columns, 20)
	switch {
	case width > 0 && len(runes) > left:
		return string(runes[:left-2]) + " …"
	case rest != "":
		return line + " …"
	}
	return line
}
