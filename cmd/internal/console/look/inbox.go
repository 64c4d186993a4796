package look

import (
	"context"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// An Item is one thing that waits for the person.
type Item struct {
	Room string // room_id
	Path string
	Kind string // one of the Kind constants
	ID   string // of a question or a note
	From string
	At   time.Time
	Text string
}

// The kinds of items.
const (
	KindTurn     = "turn" // it is reserved for the person
	KindQuestion = "question"
	KindMessage  = "message"
	KindNote     = "note"
)

// Inbox returns what waits for the person in the rooms, room by room.
func (l *Looker) Inbox(ctx context.Context, rooms []Room) []Item {
	var items []Item
	for i := range rooms {
		if rooms[i].Yours.Any() {
			items = append(items, l.items(l.Detail(ctx, rooms[i].Name, nil))...)
		}
	}
	return items
}

func (l *Looker) items(d *Detail) []Item {
	var items []Item
	add := func(kind, id, from string, at time.Time, text string) {
		items = append(items, Item{Room: d.Name, Path: d.View.CanonicalPath, Kind: kind, ID: id, From: from, At: at, Text: text})
	}
	if d.Yours.Turn {
		from, text := "", "the turn is reserved for you"
		if d.Handoff != nil {
			from, text = d.Handoff.From, turn.ReadHandoff(d.Handoff.Handoff).NextAction
		}
		add(KindTurn, "", from, d.Since, text)
	}
	for _, q := range d.Questions {
		if q.ForMe {
			add(KindQuestion, q.ID, q.From, q.At, q.Text)
		}
	}
	for _, n := range d.Notes {
		if d.Yours.Notes > 0 && n.Target == l.me {
			add(KindNote, n.ID, n.Author, n.CreatedAt.Time, n.Body)
		}
	}
	var mail []int
	for i := range d.Entries {
		if turn.IsMail(&d.Entries[i].Event, l.me) {
			mail = append(mail, i)
		}
	}
	for _, i := range mail[max(0, len(mail)-int(d.Yours.Messages)):] {
		e := &d.Entries[i]
		add(KindMessage, "", e.From, e.CreatedAt.Time, e.Text)
	}
	return items
}
