package console

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/edit"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// tt returns the command for a room. An operand that looks like a flag
// comes behind all flags.
func (m *model) tt(r *look.Room, stdin string, args ...string) command {
	common := []string{"--path", r.View.CanonicalPath, "--agent", m.me, "--json"}
	if m.ask != nil { // the path may be one on another host
		common[0], common[1] = "--room", workspace.ByID+r.Name
	}
	last := args[len(args)-1]
	if strings.HasPrefix(last, "-") && !strings.HasPrefix(last, "--") {
		args = append(append(args[:len(args)-1:len(args)-1], common...), "--", last)
	} else {
		args = append(args[:len(args):len(args)], common...)
	}
	return command{args, stdin}
}

// askMessage opens the dialog for a message: to the selected member if the list of the
// members has the keys, else to the room.
func (m *model) askMessage(r *look.Room) {
	d := dialog{title: "message", verb: "send", fields: []*field{{label: ""}}, toward: []string{turn.Everyone}}
	for i := range r.Members {
		if id := r.Members[i].AgentID; id != m.me {
			d.toward = append(d.toward, id)
			if m.page == pageRoom && m.panel == panelMembers && id == m.picked[panelMembers] {
				d.to = len(d.toward) - 1
			}
		}
	}
	d.commands = func(d *dialog, texts []string) []command {
		args := []string{"msg", "send", "--stdin"}
		if d.interrupt {
			args = append(args, "--interrupt")
		}
		return []command{m.tt(&d.room, texts[0], append(args, d.toward[d.to])...)}
	}
	m.open(r, d)
}

// askTake opens the dialog for a takeover.
func (m *model) askTake(r *look.Room) {
	m.open(r, dialog{
		title: "take the stick", about: []string{m.situation(r) + " Why do you take it?"}, verb: "take", fields: []*field{{label: "why"}},
		commands: func(d *dialog, texts []string) []command { return []command{m.take(d, texts[0])} },
	})
}

func (m *model) take(d *dialog, reason string) command {
	return m.tt(&d.room, "", "take", "--turn", number(d.room.View.TurnID), "--reason", reason)
}

// situation says who has the stick.
func (m *model) situation(r *look.Room) string {
	switch v := &r.View; {
	case v.Owner == m.me:
		return "You have the stick, turn " + number(v.TurnID) + "."
	case v.Owner != "":
		text := fmt.Sprintf("%s has held turn %d for %s", v.Owner, v.TurnID, draw.Span(m.now.Sub(r.Since)))
		if at := r.Renewal.At; !at.IsZero() {
			text += " and renewed its lease " + draw.Span(m.now.Sub(at)) + " ago"
		}
		return text + ". It is told with its next command."
	case v.ReservedFor != "":
		return "The next turn is reserved for " + v.ReservedFor + "."
	}
	return "Nobody has the stick."
}

// another returns the selected member, nil after saying why that will not do.
func (m *model) another(itself string) *look.Member {
	x := m.selectedMember()
	switch {
	case x == nil:
		m.refuse("nobody is selected: tab goes to the members")
	case x.AgentID == m.me:
		m.refuse(itself)
	default:
		return x
	}
	return nil
}

// askAssign opens the dialog that gives the stick to the selected member. Who does not
// have it takes it first.
func (m *model) askAssign(r *look.Room) {
	to := m.another("you are selected: tab goes to the members, ↑↓ to another one")
	if to == nil {
		return
	}
	mine := r.View.Owner == m.me
	d := dialog{
		takes: !mine,
		title: "assign the stick to " + to.AgentID, verb: "assign",
		about:  []string{m.situation(r)},
		fields: []*field{{label: "status"}, {label: "next action"}},
	}
	if !mine {
		d.about[0] += " You take it first, then hand it over."
		d.fields = append([]*field{{label: "why"}}, d.fields...)
		d.verb = "take and assign"
	}
	d.commands = func(d *dialog, texts []string) (list []command) {
		if !mine {
			list, texts = append(list, m.take(d, texts[0])), texts[1:]
		}
		return append(list, m.tt(&d.room, handoff(texts), "assign", "--stdin", to.AgentID))
	}
	m.open(r, d)
}

// handoff returns the handoff with a status and a next action.
func handoff(texts []string) string {
	document, _ := json.Marshal(struct {
		Status     string `json:"status"`
		NextAction string `json:"next_action"`
	}{texts[0], texts[1]})
	return string(document)
}

// askRelease opens the dialog that gives the stick to whose turn it is.
func (m *model) askRelease(r *look.Room, texts []string) {
	m.open(r, dialog{
		title: "release the stick", verb: "release", about: []string{"You have the stick. Esc keeps it."},
		fields: []*field{{label: "status"}, {label: "next action"}},
		commands: func(d *dialog, texts []string) []command {
			return []command{m.tt(&d.room, handoff(texts), "release", "--stdin")}
		},
	})
	for i, f := range m.dialog.fields {
		if i < len(texts) && f.Value() == "" {
			f.Insert(texts[i])
		}
	}
}

// askKick opens the dialog that removes the selected member. One that may still work is
// removed only if its name is typed.
func (m *model) askKick(r *look.Room) {
	who := m.another("that is you: tt leave")
	if who == nil {
		return
	}
	what := m.memberState(r, who).word
	force := who.Status != "inactive"
	d := dialog{title: "remove " + who.AgentID, verb: "remove", about: []string{who.AgentID + ": " + what + "."},
		fields: []*field{{label: "why"}}}
	if who.AgentID == r.View.Owner {
		d.about[0] += " Its turn ends with it."
	}
	if force {
		d.about[0] += " It may still be at work."
		d.fields = append(d.fields, &field{label: "its name", want: who.AgentID})
	}
	observes := r.Member(m.me) != nil
	d.commands = func(d *dialog, texts []string) (list []command) {
		args := []string{"kick", "--turn", number(d.room.View.TurnID), "--reason", texts[0]}
		if force {
			args = append(args, "--force")
		}
		if !observes { // only members remove members
			list = append(list, m.tt(&d.room, "", "join", "--observe"))
		}
		return append(list, m.tt(&d.room, "", append(args, who.AgentID)...))
	}
	m.open(r, d)
}

// askResolve opens the dialog that resolves the selected note.
func (m *model) askResolve(r *look.Room) {
	n := m.selected(talk.KindNote)
	if n == nil {
		m.refuse("there is no open note")
		return
	}
	m.open(r, dialog{
		title: "resolve note " + shortID(n.ID), verb: "resolve", about: []string{n.From + ": " + n.Text},
		commands: func(d *dialog, _ []string) []command { return []command{m.tt(&d.room, "", "notes", "resolve", n.ID)} },
	})
}

// askAnswer opens the dialog that answers the selected question.
func (m *model) askAnswer(r *look.Room) {
	q := m.selected(talk.KindQuestion)
	if q == nil {
		m.refuse("there is no open question")
		return
	}
	m.open(r, dialog{
		title: "answer " + q.From, verb: "answer", about: []string{q.Text}, fields: []*field{{label: ""}},
		commands: func(d *dialog, texts []string) []command {
			return []command{m.tt(&d.room, texts[0], "answer", "--stdin", q.ID)}
		},
	})
}

func shortID(id string) string { return id[:min(8, len(id))] }

// A dialog asks for what an action needs. What it acts on is fixed when it opens: the
// room may change behind it, and then the command is refused.
type dialog struct {
	title   string
	about   []string // paragraphs, of which text of agents is a part
	fields  []*field
	at      int    // the field that has the keys
	verb    string // what enter does in the end
	missing string // what is missing before it can go on
	used    time.Time

	room      look.Room // when the dialog opened
	toward    []string  // whom a message can go to; nil: it is no message
	to        int       // the one it goes to
	interrupt bool      // the message is urgent
	takes     bool      // the first command takes the stick, for the one behind it

	// commands returns what to run, given what was typed.
	commands func(d *dialog, texts []string) []command
}

// A field is one text that a dialog asks for.
type field struct {
	label string
	want  string // the only text that will do; "": any that is not blank
	*edit.Text
}

// patience is how long a dialog stays open without a key.
const patience = 60 * time.Second

func (m *model) open(r *look.Room, d dialog) {
	d.room, d.used = *r, m.now
	for _, f := range d.fields {
		f.Text = edit.New(m.drafts[d.draft(f)])
	}
	m.dialog = &d
}

// draft is the name under which the text of a field is kept when the dialog is left.
func (d *dialog) draft(f *field) string {
	if f.want != "" {
		return "" // that is to be typed anew
	}
	return d.room.Name + "\n" + d.title + "\n" + f.label
}

// leave closes the dialog. What was typed is there again when it is opened again.
func (m *model) leave() {
	for _, f := range m.dialog.fields {
		if key := m.dialog.draft(f); key != "" {
			m.drafts[key] = f.Value()
		}
	}
	m.dialog = nil
}

// overtaken says how the room has changed since the dialog opened, "" if the turn is
// still the same.
func (m *model) overtaken(d *dialog) string {
	r := m.find(d.room.Name)
	if m.detail != nil && m.detail.Name == d.room.Name {
		r = &m.detail.Room
	}
	switch {
	case r == nil:
		return "the room has ended meanwhile"
	case r.View.TurnID == d.room.View.TurnID && r.View.Owner == d.room.View.Owner:
		return ""
	case r.View.Owner != "":
		return "meanwhile " + r.View.Owner + " has the stick, turn " + number(r.View.TurnID)
	}
	return "meanwhile " + d.room.View.Owner + " has given the stick back"
}
