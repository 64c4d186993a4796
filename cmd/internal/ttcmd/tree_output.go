package ttcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/ledger"
)

// writeChanges writes the facts about a stretch of time: a line, and a line for each path.
func writeChanges(t *cli.Text, c *ledger.Changes, namesOnly bool) {
	if namesOnly {
		for _, p := range c.Paths {
			t.Line("%s", p.Path)
		}
		return
	}
	t.Line("%s", changesLine(c))
	var table cli.Table
	for _, p := range c.Paths {
		table.Row("  "+p.Path, fmt.Sprintf("+%d −%d", p.Added, p.Removed), pathRemark(p))
	}
	t.Table(&table)
	if c.MorePaths > 0 {
		t.Line("  and %s", counted(c.MorePaths, "more file"))
	}
	if len(c.Unsure) > 0 {
		t.Line("  perhaps before it or after it: %s", strings.Join(c.Unsure, ", "))
	}
	writeLeftOut(t, c.LeftOut)
}

func pathRemark(p ledger.PathChange) string {
	switch p.Status {
	case ledger.StatusModified:
		return p.Mode
	case ledger.StatusMode:
		return "mode " + p.Mode
	}
	return p.Status
}

// changesLine says in one line what changed.
func changesLine(c *ledger.Changes) string {
	head := "Changed"
	switch {
	case c.Span == ledger.SpanOutside:
		head = fmt.Sprintf("Outside, after turn %d", c.Turn)
	case c.Span == ledger.SpanUndo:
		head = fmt.Sprintf("Undo of turn %d, by %s", c.OfTurn, c.Agent)
	case c.Span == ledger.SpanRestore:
		head = fmt.Sprintf("Restore of %s, by %s", c.OfSnapshot, c.Agent)
	case c.Span == ledger.SpanSnapshot:
		head = "Since " + c.From
	case c.Turn > 0:
		head = fmt.Sprintf("Turn %d, held by %s", c.Turn, c.Agent)
	}
	return head + ": " + changesWords(c)
}

func changesWords(c *ledger.Changes) string {
	if c.Unknown != "" {
		return "not known (" + c.Unknown + ")"
	}
	words := []string{"no file changed"}
	if c.Files > 0 {
		words[0] = fmt.Sprintf("%s, +%d −%d", counted(c.Files, "file"), c.Added, c.Removed)
		if c.Uncounted > 0 {
			words[0] += fmt.Sprintf(" (lines of %d not counted)", c.Uncounted)
		}
	}
	if h := c.Head; h != nil {
		switch {
		case h.Moved == "switched":
			words = append(words, "now"+onBranch(h.Branch))
		case h.Commits > 0:
			words = append(words, counted(h.Commits, "commit")+onBranch(h.Branch))
		default:
			words = append(words, "HEAD moved"+onBranch(h.Branch))
		}
	}
	if c.Uncommitted > 0 {
		words = append(words, counted(c.Uncommitted, "file")+" uncommitted")
	}
	return strings.Join(words, ", ")
}

func onBranch(branch string) string {
	if branch == "" {
		return " on a detached HEAD"
	}
	return " on " + branch
}

func writeLeftOut(t *cli.Text, left []ledger.LeftOut) {
	if len(left) == 0 {
		return
	}
	var names []string
	for _, l := range left {
		name := l.Path
		switch {
		case l.Why == ledger.LeftSecret:
			name = cmp.Or(l.Path, counted(l.Files, "file")) + " (may have secrets)"
		case l.Why == ledger.LeftRoom:
			name += "/ (has a stick of its own)"
		case l.Files > 0:
			name += fmt.Sprintf("/ (%d new files, not ignored)", l.Files)
		default:
			name += " (" + strings.ReplaceAll(l.Why, "_", " ") + ")"
		}
		names = append(names, name)
	}
	const most = 10
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	t.Line("left out: %s", strings.Join(names, ", "))
}

// changesIn returns what an event or a result of package turn says of changes, nil if that cannot be read.
func changesIn(raw json.RawMessage) *ledger.Changes {
	c := new(ledger.Changes)
	if json.Unmarshal(raw, c) != nil {
		return nil
	}
	return c
}

// writeBriefChanges writes what changed since the caller's last turn, a line a stretch.
func writeBriefChanges(t *cli.Text, raw json.RawMessage, more int) {
	var list []ledger.Changes
	_ = json.Unmarshal(raw, &list)
	list = slices.DeleteFunc(list, func(c ledger.Changes) bool { return c.IsEmpty() })
	if len(list) == 0 {
		return
	}
	t.Line("%s", t.Bold("  Changes since your last turn"))
	if more > 0 {
		t.Line("    %s; tt log shows all", counted(more, "earlier stretch"))
	}
	for i := range list {
		t.Line("    %s", changesLine(&list[i]))
	}
	t.Line("    What exactly: tt diff TURN")
}

// writeReleaseChanges writes what the turn that has ended changed.
func writeReleaseChanges(t *cli.Text, raw json.RawMessage, pending bool) {
	if pending {
		t.Line("What it changed is still being recorded: tt diff last")
	} else if c := changesIn(raw); c != nil && !c.IsEmpty() {
		t.Line("%s", changesLine(c))
	}
}
