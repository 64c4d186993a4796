package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/turn"
)

// A condition is how something stands: a mark, a word, and how urgent that looks.
type condition struct {
	mark  draw.Mark
	word  string
	style draw.Style
}

// condition returns how a room stands.
func (m *model) condition(r *look.Room) condition {
	if r.Err != nil {
		return condition{draw.Gone, "unreadable", draw.Alarm}
	}
	if trouble := r.Trouble(); trouble != nil && r.View.State == turn.StateOwned {
		switch trouble.What {
		case turn.HarnessEnded, turn.GuardianEnded:
			return condition{draw.Gone, "ended", draw.Alarm}
		case turn.HarnessStopped, turn.GuardianStopped, turn.LockStopped:
			return condition{draw.Stopped, "stopped", draw.Alarm}
		}
		return condition{draw.Stopped, trouble.What, draw.Alarm}
	}
	switch r.View.State {
	case turn.StateIdle:
		return condition{draw.Free, "free", draw.Green}
	case turn.StateOwned:
		return condition{draw.Held, "held", draw.Yellow}
	case turn.StateReserved:
		return condition{draw.Reserved, "reserved", draw.Yellow}
	case turn.StateOwnerGone:
		return condition{draw.Gone, "owner gone", draw.Alarm}
	case turn.StateRecipientGone:
		return condition{draw.Gone, "next gone", draw.Alarm}
	case turn.StateStaleOwner:
		return condition{draw.Late, "lease over", draw.Alarm}
	case turn.StateClosed:
		return condition{draw.Quiet, "ended", draw.Dim}
	}
	return condition{draw.Quiet, r.View.State, draw.Dim}
}

// memberState returns how a member stands, and that in words.
func (m *model) memberState(r *look.Room, x *look.Member) (condition, string) {
	seen := draw.Span(m.now.Sub(x.LastSeenAt.Time))
	c := condition{draw.Quiet, "seen " + seen + " ago", draw.Dim}
	switch {
	case x.Stopped:
		c = condition{draw.Stopped, fmt.Sprintf("stopped (pid %d)", x.PID), draw.Alarm}
	case x.Process == turn.Gone && x.Status != "active":
		c = condition{draw.Gone, "gone", draw.Red}
	case x.AgentID == r.View.Owner:
		c = condition{draw.Held, "has the stick", draw.Yellow}
		if what := x.Activity.Words(); what != "" {
			c = condition{draw.Held, x.Activity.What + " " + draw.Span(m.now.Sub(x.Activity.Since.Time)), draw.Alarm}
		}
	case x.Waiting:
		c = condition{draw.Waits, "waits", draw.Green}
		if !x.WaitsSince.IsZero() {
			c.word += " " + draw.Span(m.now.Sub(x.WaitsSince))
		}
	case x.AgentID == r.View.ReservedFor:
		c = condition{draw.Reserved, "is next", draw.Yellow}
	case x.Status != "active":
		c = condition{draw.Quiet, "silent " + seen, draw.Dim}
	case x.Observer:
		c = condition{draw.Quiet, "observes", draw.Dim}
	}
	return c, c.word
}

// A hearing is how a member hears of news although it runs no command: a word, and what it
// means.
type hearing struct {
	style       draw.Style
	word, means string
}

var hearings = map[string]hearing{
	turn.ReachReady:      {draw.Dim, "ready", "it listens, and its model is idle"},
	turn.ReachBusy:       {draw.Dim, "busy", "it listens, and its model is at work: it is told with its next tool call"},
	turn.ReachUnheard:    {draw.Alarm, "unheard", "it listens, but did not answer the last notification"},
	turn.ReachNextPrompt: {draw.Dim, "next prompt", "its harness tells it with its next prompt"},
	turn.ReachNone:       {draw.Yellow, "deaf", "nothing tells it of news"},
}

// hearingOf returns how a member hears, the zero hearing if that goes without saying: it
// waits, is gone, or is a person.
func hearingOf(x *look.Member) hearing {
	if strings.HasPrefix(x.AgentID, "human:") || x.Status != "active" || x.Stopped {
		return hearing{}
	}
	return hearings[x.Reach]
}

// marked returns the mark of a condition in its style.
func (m *model) marked(c condition) string { return m.Own(c.style, m.Mark(c.mark)) }

// clock returns a time of this day as a time, and another with its day.
func (m *model) clock(t time.Time) string {
	t, now := t.In(m.zone), m.now.In(m.zone)
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}

// who returns an agent as the person reads it.
func (m *model) who(id string) string {
	switch id {
	case m.me, "human":
		return "you"
	case "":
		return "all"
	}
	return id
}

// told says what an event is, without its time.
func (m *model) told(e *look.Entry) string {
	arrow := " " + m.Mark(draw.Hands) + " "
	because := func(text string) string {
		if e.Reason != "" {
			text += ": " + e.Reason
		}
		return text
	}
	switch e.Type {
	case turn.MessageSent:
		return e.From + arrow + m.who(e.To) + ": " + e.Text
	case turn.NoteAdded:
		if e.To != "" {
			return e.From + arrow + m.who(e.To) + " notes: " + e.Text
		}
		return e.From + " notes: " + e.Text
	case turn.NoteResolved:
		return e.From + " resolves a note"
	case turn.JobEnded:
		return "job " + e.Text + ", for " + e.From
	case turn.Claim:
		return e.To + " takes turn " + number(e.Turn)
	case turn.Takeover:
		if e.From == "" {
			return because(e.To + " takes turn " + number(e.Turn))
		}
		return because(e.To + " takes turn " + number(e.Turn) + " from " + e.From)
	case turn.Released, turn.Passed:
		text := e.From + " releases"
		if e.To != "" {
			text = e.From + " hands to " + m.who(e.To)
		}
		return text + ": " + turn.ReadHandoff(e.Handoff).NextAction
	case turn.RoomOpened:
		return e.From + " opens the room"
	case turn.MemberJoined:
		return e.From + " joins"
	case turn.MemberLeft:
		return e.From + " leaves"
	case turn.Kicked:
		return because(e.From + " removes " + e.To)
	case turn.PolicyChanged:
		return e.From + " changes the policy"
	case turn.Closed:
		return because(strings.TrimSpace(e.From + " ends the room"))
	}
	return because(strings.TrimSpace(e.From + " " + e.Type + " " + e.To))
}

// eventMark returns the mark of an event.
func eventMark(e *look.Entry) (draw.Mark, draw.Style) {
	switch e.Type {
	case turn.MessageSent:
		if e.Urgent {
			return draw.Urgent, draw.Alarm
		}
		return draw.Message, draw.Blue
	case turn.NoteAdded:
		if e.Urgent {
			return draw.Urgent, draw.Alarm
		}
		return draw.Note, draw.Blue
	case turn.Claim:
		return draw.Takes, draw.Yellow
	case turn.Takeover:
		return draw.Takeover, draw.Alarm
	case turn.Released, turn.Passed:
		return draw.Hands, draw.Green
	case turn.MemberJoined, turn.RoomOpened:
		return draw.Joins, draw.Dim
	case turn.MemberLeft, turn.Closed:
		return draw.Leaves, draw.Dim
	case turn.Kicked:
		return draw.Leaves, draw.Red
	case turn.NoteResolved:
		return draw.Good, draw.Dim
	}
	return draw.Quiet, draw.Dim
}
