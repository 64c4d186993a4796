package console

import (
	"time"

	"github.com/talking-stick/tt/cmd/internal/console/edit"
	"github.com/talking-stick/tt/cmd/internal/console/look"
)

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
