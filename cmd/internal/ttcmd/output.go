package ttcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// writeRoom writes the state of a room in two lines.
func writeRoom(t *cli.Text, r turn.RoomView) {
	t.Line("Room    %s  %s", r.CanonicalPath, stateStyle(t, r.State))
	writeHolder(t, r)
	writeTrouble(t, r.Trouble)
	writeShortened(t, r.JournalShortened)
}

// writeShortened says what the journal has lost.
func writeShortened(t *cli.Text, lost *event.Lost) {
	if lost != nil {
		t.Line("%s %s: the journal was shortened. Do: tt doctor --repair", t.Red("Journal"), lost.Words())
	}
}

// writeTurn says where the stick is, in the words of [turn.State.Words].
func writeTurn(t *cli.Text, words string) { t.Line("The stick is %s.", words) }

// writeTrouble says what is wrong with the holder, and what to do about it.
func writeTrouble(t *cli.Text, list []turn.Trouble) {
	for i := range list {
		t.Line("%s %s%s. Do: %s", t.Red("Trouble"), list[i].Sentence(), sinceWords(t, list[i]), list[i].Do)
	}
}

// sinceWords says since when a holder rests.
func sinceWords(t *cli.Text, x turn.Trouble) string {
	if x.Since == nil || x.What != turn.HolderAsks && x.What != turn.HolderLimited && x.What != turn.HolderIdle {
		return ""
	}
	return ", since " + t.Ago(x.Since.Time)
}

func writeHolder(t *cli.Text, r turn.RoomView) {
	switch {
	case r.Owner != "":
		t.Line("Stick   %s, turn %d, lease %s", t.Bold(r.Owner), r.TurnID, deadline(t, r.LeaseExpiresAt))
		if job := r.Activity.JobWords(t.Now); job != "" {
			t.Line("        %s %s", r.Owner, job)
		}
	case r.ReservedFor != "":
		t.Line("Stick   reserved for %s after turn %d, claim time %s", t.Bold(r.ReservedFor), r.TurnID, deadline(t, r.ClaimExpiresAt))
	case r.OfferedTo != "":
		t.Line("Stick   free after turn %d, with a handoff, offered to %s first, which %s", r.TurnID, t.Bold(r.OfferedTo),
			deadline(t, r.OfferedUntil))
	case r.PendingHandoff != 0:
		t.Line("Stick   free after turn %d, with a handoff", r.TurnID)
	case r.TurnID > 0:
		t.Line("Stick   free after turn %d", r.TurnID)
	default:
		t.Line("Stick   free, never held yet")
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// deadline returns when a lease or a claim time ends, or how long ago it ran out.
func deadline(t *cli.Text, at *event.Time) string {
	switch {
	case at == nil:
		return "ends —"
	case t.Now.Before(at.Time):
		return "ends " + t.Ago(at.Time)
	}
	return "ran out " + t.Ago(at.Time)
}

func stateStyle(t *cli.Text, state string) cli.Styled {
	switch state {
	case turn.StateIdle:
		return t.Green(state)
	case turn.StateOwned, turn.StateReserved:
		return t.Yellow(state)
	case turn.StateDormant, turn.StateClosed:
		return t.Dim(state)
	}
	return t.Red(state)
}

// writeMembers writes the members, one on each line.
func writeMembers(t *cli.Text, members []turn.MemberView, me string) {
	if len(members) == 0 {
		t.Line("No members.")
		return
	}
	t.Line("Members")
	var table cli.Table
	for _, m := range members {
		status := t.Green(m.Status)
		switch {
		case m.Status != "active":
			status = t.Dim(m.Status)
		case m.Waiting:
			status = t.Green("waiting")
		}
		table.Row("  "+m.AgentID, status, "seen "+t.Ago(m.LastSeenAt.Time), memberRemarks(m, me))
	}
	t.Table(&table)
}

func memberRemarks(m turn.MemberView, me string) string {
	var remarks []string
	if m.AgentID == me {
		remarks = append(remarks, "← you")
	}
	if m.Observer {
		remarks = append(remarks, "observer")
	}
	if m.Reach == turn.ReachUnheard || m.Listening != "" && m.Listening != hearing.ByWait {
		remarks = append(remarks, reachWords(m.Listening, m.Reach, m.Within))
	}
	if words := m.Activity.Words(); words != "" {
		remarks = append(remarks, words)
	}
	if m.Activity.Job != "" {
		remarks = append(remarks, "runs job "+m.Activity.Job)
	}
	if m.Why != "" {
		remarks = append(remarks, m.Why)
	}
	return strings.Join(remarks, "; ")
}

// reachWords say how an agent is told of news, as [turn.State.Reach] found.
func reachWords(listening, reach string, within time.Duration) string {
	told, _ := turn.ReachWords(reach, listening, within)
	return told
}

// writeWait writes the result of a wait and what to do next.
func writeWait(t *cli.Text, r turn.WaitResult) {
	if in, ok := r.Inbox.(*mailbox.Inbox); ok {
		writeInbox(t, in)
	}
	switch r.Status {
	case turn.YourTurn:
		writeGrant(t, r)
	case turn.TakeoverAvailable:
		t.Line("%s %s (%s).", t.Yellow("Takeover available:"), turn.TakeoverFact(r.Reason, cmp.Or(r.CurrentOwner, r.ReservedFor)), r.Reason)
		if r.Evidence.Sentence != "" {
			t.Line("Evidence: %s.", r.Evidence.Sentence)
		}
		t.Line("Next: %s", r.Evidence.Hint)
	case turn.WaitInbox:
	case turn.WaitClosed:
		switch {
		case r.From != "":
			t.Line("%s closed the room: %s", r.From, r.Reason)
		case r.Reason != "":
			t.Line("The room has ended: %s", r.Reason)
		default:
			t.Line("The room has ended.")
		}
		next := "Open it again with: tt join"
		if _, unseen, ok := strings.Cut(r.Evidence.Hint, "; "); ok {
			next += "; " + unseen
		}
		if hint := turn.GoOnAt(r.Reason, true); hint != "" {
			next = "It goes on elsewhere: " + hint
		}
		t.Line("%s", next)
	default:
		t.Line("%s", notYetWords(t, r))
		if r.Away != "" {
			t.Line("The engine is %s: this is what this host knew last.", r.Away)
		}
		if r.Evidence.Hint != "" {
			t.Line("Next: %s", r.Evidence.Hint)
		}
	}
}

func writeGrant(t *cli.Text, r turn.WaitResult) {
	line := fmt.Sprintf("(turn %d, %s", r.TurnID, r.Reason)
	if r.From != "" {
		line += " from " + r.From
	}
	if r.Revoked != "" {
		line += ", taken from " + r.Revoked
	}
	t.Line("%s %s).", t.Green("Your turn"), line)
	writeInterrupted(t, r.Briefing.Interrupted)
	writeHandoff(t, "  ", r.Handoff)
	if r.HandoffLost {
		t.Line("  The handoff is lost: the journal was shortened.")
	}
	if words := ledger.VerifiedWords(r.Verified); words != "" {
		t.Line("  Verified  %s", words)
	}
	writeBriefing(t, r.Briefing)
	if r.LastHandoff != 0 {
		t.Line("The last handoff is event %d: tt events --after %d --limit 1", r.LastHandoff, r.LastHandoff-1)
	}
	t.Line("Guardian %d keeps the lease. End the turn with: tt release", r.GuardianPID)
}

func notYetWords(t *cli.Text, r turn.WaitResult) string {
	switch {
	case r.GrantedTo != 0:
		return fmt.Sprintf("The turn is yours already: process %d was granted turn %d while this one waited.", r.GrantedTo, r.TurnID)
	case r.HeldBy != 0:
		return fmt.Sprintf("Not your turn: this session, in another window (process %d), holds turn %d (lease %s).", r.HeldBy, r.TurnID,
			deadline(t, r.LeaseExpiresAt))
	case r.CurrentOwner != "":
		return fmt.Sprintf("Not your turn: %s holds turn %d (lease %s).", r.CurrentOwner, r.TurnID, deadline(t, r.LeaseExpiresAt))
	case r.ReservedFor != "":
		return fmt.Sprintf("Not your turn: it is reserved for %s (claim time %s).", r.ReservedFor, deadline(t, r.ClaimExpiresAt))
	}
	if r.Parked {
		return "Nobody has named you as the next: the stick is free, and --park leaves it alone. To take it: tt wait"
	}
	return "Not your turn yet: the handoff is offered to the other members first."
}

// writeHandoff writes a handoff as text.
func writeHandoff(t *cli.Text, indent string, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	for _, part := range turn.ReadHandoff(raw).Parts(" — ") {
		t.Line("%s", t.Bold(indent+part.Title))
		for _, text := range part.Texts {
			if part.IsList {
				text = "- " + text
			}
			t.Block(indent+"  ", text)
		}
	}
}

func writeRelease(t *cli.Text, r turn.ReleaseResult) {
	switch {
	case r.ReservedFor == "" && r.Offered:
		t.Line("Released. %s is notified of it.", t.Bold(r.Recipient.AgentID))
		writeTurn(t, r.Turn)
	case r.ReservedFor == "":
		t.Line("Released. Nobody was waiting: the handoff is pending for the next agent.")
		writeTurn(t, r.Turn)
	case r.Status == "passed":
		t.Line("Passed to %s.", t.Bold(r.ReservedFor))
	default:
		t.Line("Released. Next is %s.", t.Bold(r.ReservedFor))
	}
	if r.Hint != "" {
		t.Line("But %s.", r.Hint)
	}
	if r.ChangesPending {
		t.Line("What it changed is still being recorded: tt diff last")
	} else if c := changesIn(r.Changes); c != nil && !c.IsEmpty() {
		t.Line("%s", changesLine(c))
	}
	if words := ledger.VerifiedWords(r.Verified); words != "" {
		t.Line("Verified  %s", words)
	}
	writeUnread(t, r.Unread)
}
