package console

import (
	"cmp"
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
		mark := draw.Stopped
		if trouble.What == turn.HarnessEnded || trouble.What == turn.GuardianEnded {
			mark = draw.Gone
		}
		return condition{mark, trouble.Short(), draw.Alarm}
	}
	if c, ok := conditions[r.View.State]; ok {
		c.word = cmp.Or(c.word, turn.Stuck(r.View.State))
		return c
	}
	return condition{draw.Quiet, r.View.State, draw.Dim}
}

// conditions are those of rooms, by their state. Those without a word have that of [turn.Stuck].
var conditions = map[string]condition{
	turn.StateIdle:          {draw.Free, "free", draw.Green},
	turn.StateOwned:         {draw.Held, "held", draw.Yellow},
	turn.StateReserved:      {draw.Reserved, "reserved", draw.Yellow},
	turn.StateOwnerGone:     {draw.Gone, "", draw.Alarm},
	turn.StateRecipientGone: {draw.Gone, "", draw.Alarm},
	turn.StateStaleOwner:    {draw.Late, "", draw.Alarm},
	turn.StateClosed:        {draw.Quiet, "ended", draw.Dim},
}

// memberState returns how a member stands.
func (m *model) memberState(r *look.Room, x *look.Member) condition {
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
	return c
}

// hearing returns how a member hears of news although it runs no command, in a word and as a sentence; "" if that
// goes without saying: it waits, is gone, or is a person.
func hearing(x *look.Member) (style draw.Style, word, means string) {
	if strings.HasPrefix(x.AgentID, "human:") || x.Status != "active" || x.Stopped {
		return draw.Dim, "", ""
	}
	means, word = turn.ReachWords(x.Reach, x.Listening, x.Within)
	switch x.Reach {
	case turn.ReachUnheard:
		style = draw.Alarm
	case turn.ReachNone:
		style = draw.Yellow
	default:
		style = draw.Dim
	}
	return style, word, means
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
func (m *model) told(e *look.Entry) condition {
	because := func(text string) string {
		if e.Reason != "" {
			text += ": " + e.Reason
		}
		return text
	}
	arrow, nth := " "+m.Mark(draw.Hands)+" ", number(e.Turn)
	switch e.Type {
	case turn.MessageSent, turn.NoteAdded:
		c := condition{draw.Message, e.From + arrow + m.who(e.To), draw.Blue}
		if e.Type == turn.NoteAdded {
			c.mark = draw.Note
			if e.To == "" {
				c.word = e.From
			}
			c.word += " notes"
		}
		c.word += ": " + e.Text
		if e.Urgent {
			c.mark, c.style = draw.Urgent, draw.Alarm
		}
		return c
	case turn.NoteResolved:
		return condition{draw.Good, e.From + " resolves a note", draw.Dim}
	case turn.JobEnded:
		return condition{draw.Quiet, "job " + e.Text + ", for " + e.From, draw.Dim}
	case turn.TreeChanged:
		return condition{draw.Quiet, e.Text, draw.Dim}
	case turn.JournalDamaged:
		return condition{draw.Gone, because(e.Text), draw.Alarm}
	case turn.Claim:
		return condition{draw.Takes, e.To + " takes turn " + nth, draw.Yellow}
	case turn.Takeover:
		text := e.To + " takes turn " + nth
		if e.From != "" {
			text += " from " + e.From
		}
		return condition{draw.Takeover, because(text), draw.Alarm}
	case turn.Released, turn.Passed:
		text := e.From + " releases"
		if e.To != "" {
			text = e.From + " hands to " + m.who(e.To)
		}
		return condition{draw.Hands, text + ": " + turn.ReadHandoff(e.Handoff).NextAction, draw.Green}
	case turn.RoomOpened:
		return condition{draw.Joins, e.From + " opens the room", draw.Dim}
	case turn.MemberJoined:
		return condition{draw.Joins, e.From + " joins", draw.Dim}
	case turn.MemberLeft:
		return condition{draw.Leaves, e.From + " leaves", draw.Dim}
	case turn.Kicked:
		return condition{draw.Leaves, because(e.From + " removes " + e.To), draw.Red}
	case turn.PolicyChanged:
		return condition{draw.Quiet, e.From + " changes the policy", draw.Dim}
	case turn.Closed:
		return condition{draw.Leaves, because(strings.TrimSpace(e.From + " ends the room")), draw.Dim}
	}
	return condition{draw.Quiet, because(strings.TrimSpace(e.From + " " + e.Type + " " + e.To)), draw.Dim}
}
