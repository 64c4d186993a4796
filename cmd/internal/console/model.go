// Package console is the operator console: all rooms, one room in full, what waits for
// the person, and the few things that a person does about them. It is a Bubble Tea
// program: update.go and keys.go change the model, frame*.go draw it, actions.go says
// which command of tt each dialog runs. The console itself only reads.
package console

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/talk"
)

// eyes reads rooms, see [look.Looker].
type eyes interface {
	Rooms() ([]look.Room, error)
	Detail(ctx context.Context, name string, before *look.Detail) *look.Detail
	Inbox(ctx context.Context, rooms []look.Room) []look.Item
	Shown(ctx context.Context, room string, opened []look.Item)
}

// A page is what fills the screen.
type page int

const (
	pageRooms page = iota
	pageRoom
	pageInbox
)

// A panel is a part of the page of a room that has a cursor.
type panel int

const (
	panelJournal panel = iota
	panelMembers
	panelQuestions
	panelNotes
	panels = iota
)

// A model is the state of the console.
type model struct {
	draw.Pen
	me       string // the agent id of the person
	home     string // the home directory, which paths are shown relative to
	readOnly bool
	zone     *time.Location
	eyes     eyes
	run      runner
	pause    func(time.Duration)                // time.Sleep but in tests
	watch    func(room string)                  // tells the watcher which room is open; may be nil
	notice   tea.Cmd                            // says what is wrong with the installation
	follow   func(context.Context, func(error)) // with an engine: brings the mirrors up to date
	ask      func(room string)                  // with an engine: about the agents of which room it is asked

	w, h int
	now  time.Time

	rooms   []look.Room
	lookErr error        // of the last look; the rooms are those before it
	detail  *look.Detail // the open room; nil: none is
	items   []look.Item  // what waits for the person, as of the last look from the inbox
	opened  []look.Item  // what the person has read of it

	page    page
	before  page              // from which the inbox was opened
	room    string            // the selected room
	top     int               // the first room on the screen
	item    int               // the selected item of the inbox
	panel   panel             // the one that has the keys
	picked  [panels]string    // the selected member, question and note
	at      position          // in the journal
	filters [3]string         // by page; the inbox has none
	typing  bool              // the filter is being typed
	reading *reading          // a text in full, over the page
	help    bool              // the keys, over the page
	dialog  *dialog           // over the page
	drafts  map[string]string // what was typed into dialogs that were left, by dialog and field

	pending tea.Cmd   // opens the room of the command line
	away    time.Time // since when the engine cannot be reached; zero: it can
	awayWhy string

	running string // the command that runs; "": none does
	status  status
	looks   schedule
}

// A position is a place in the journal. The zero position follows its end.
type position struct {
	last int64 // the last event on the screen
	pick int64 // the selected event
}

// A status is the last line: what was done, or why not.
type status struct {
	text string
	bad  bool
}

// A reading is a text in full.
type reading struct {
	title string
	text  string
	first int // the first line on the screen
}

// A schedule says when to look again.
type schedule struct {
	busy bool          // a look is under way
	due  bool          // something may have changed
	full time.Time     // when the rooms were last looked at
	took time.Duration // how long that took
}

// filtered returns the items of a list whose texts contain the filter.
func filtered[T any](list []T, filter string, texts func(*T) []string) (found []*T) {
	for i := range list {
		if filter == "" || strings.Contains(strings.ToLower(strings.Join(texts(&list[i]), "\n")), strings.ToLower(filter)) {
			found = append(found, &list[i])
		}
	}
	return found
}

// shown returns the rooms that match the filter.
func (m *model) shown() []*look.Room {
	return filtered(m.rooms, m.filters[pageRooms], func(r *look.Room) []string {
		return []string{r.View.CanonicalPath, r.Name, r.View.Owner, r.View.ReservedFor, m.condition(r).word}
	})
}

// entries returns the entries of the journal that match the filter.
func (m *model) entries() []*look.Entry {
	return filtered(m.detail.Entries, m.filters[pageRoom], func(e *look.Entry) []string {
		return []string{e.From, e.To, e.Type, m.told(e).word}
	})
}

// target returns the room that keys act on, nil if there is none.
func (m *model) target() *look.Room {
	switch {
	case m.page == pageRoom && m.detail != nil:
		return &m.detail.Room
	case m.page == pageInbox:
		if item := m.selectedItem(); item != nil {
			return m.find(item.Room)
		}
		return nil
	}
	return m.find(m.room)
}

// find returns the room with the name, nil if there is none.
func (m *model) find(name string) *look.Room {
	for i := range m.rooms {
		if m.rooms[i].Name == name {
			return &m.rooms[i]
		}
	}
	return nil
}

func (m *model) selectedItem() *look.Item {
	if m.item < len(m.items) {
		return &m.items[m.item]
	}
	return nil
}

// yours adds up what waits for the person in all rooms.
func (m *model) yours() (sum look.Yours) {
	for i := range m.rooms {
		y := &m.rooms[i].Yours
		for _, kind := range talk.Kinds {
			*sum.Of(kind) += *y.Of(kind)
		}
		sum.Turn = sum.Turn || y.Turn
	}
	return sum
}

// settle makes every cursor point at something that is there. A cursor names what it is
// on, so nothing moves under it.
func (m *model) settle() {
	rooms := m.shown()
	at := slices.IndexFunc(rooms, func(r *look.Room) bool { return r.Name == m.room })
	if at < 0 && len(rooms) > 0 && m.page == pageRooms {
		at, m.room = 0, rooms[0].Name
	}
	m.top = window(m.top, at, len(rooms), max(1, max(m.h, leastHeight)-edges-1)) // below the line of titles
	m.item = max(0, min(m.item, len(m.items)-1))
	if m.detail == nil {
		return
	}
	for p := panelJournal + 1; p < panels; p++ {
		ids, first := m.ids(p)
		if !slices.Contains(ids, m.picked[p]) {
			m.picked[p] = first
		}
		if m.panel == p && len(ids) == 0 {
			m.panel = panelJournal
		}
	}
}

// ids returns what a list of the open room has, and the one of it that a person most likely
// means: the holder, the recipient, else somebody else; a question that the person owes; an
// urgent note. The journal has none.
func (m *model) ids(p panel) (ids []string, first string) {
	d := m.detail
	add := func(id string, likely bool) {
		ids = append(ids, id)
		if likely && first == "" {
			first = id
		}
	}
	switch p {
	case panelJournal:
	case panelMembers:
		for _, id := range []string{d.View.Owner, d.View.ReservedFor} {
			if first == "" && id != m.me && d.Member(id) != nil {
				first = id
			}
		}
		for i := range d.Members {
			add(d.Members[i].AgentID, d.Members[i].AgentID != m.me)
		}
	default:
		for _, x := range m.listed(p) {
			add(x.ID, x.Urgent)
		}
	}
	if first == "" && len(ids) > 0 {
		first = ids[0]
	}
	return ids, first
}

// window returns the first of count lines to show so that the one at the cursor is among
// the rows, near the window before.
func window(top, at, count, rows int) int {
	at = max(0, at)
	top = min(top, at)
	top = max(top, at-rows+1)
	return max(0, min(top, count-rows))
}

func (m *model) selectedMember() *look.Member {
	if m.detail == nil {
		return nil
	}
	return m.detail.Member(m.picked[panelMembers])
}

// listed returns the questions or the notes of the open room.
func (m *model) listed(p panel) []look.Item {
	if p == panelQuestions {
		return m.detail.Questions
	}
	return m.detail.Notes
}

// selected returns the question or note that is selected in the room or in the inbox, nil if
// none is.
func (m *model) selected(kind string) *look.Item {
	if m.page == pageInbox {
		if x := m.selectedItem(); x != nil && x.Kind == kind {
			return x
		}
		return nil
	}
	p := map[string]panel{talk.KindQuestion: panelQuestions, talk.KindNote: panelNotes}[kind]
	list := m.listed(p)
	if i := slices.IndexFunc(list, func(x look.Item) bool { return x.ID == m.picked[p] }); i >= 0 {
		return &list[i]
	}
	return nil
}
