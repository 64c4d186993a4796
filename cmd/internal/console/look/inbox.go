package look

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/mailbox"
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
	KindAnswer   = "answer" // to a question of the person
	KindMessage  = "message"
	KindNote     = "note"
)

// Inbox returns what waits for the person in the rooms, room by room. It does not count
// as shown.
func (l *Looker) Inbox(ctx context.Context, rooms []Room) []Item {
	var items []Item
	for i := range rooms {
		if !rooms[i].Yours.Any() {
			continue
		}
		room := l.own.Room(rooms[i].Name, nil)
		in, err := mailbox.Of(room).Inbox(ctx)
		if err != nil {
			continue
		}
		items = append(items, itemsOf(&rooms[i], in)...)
	}
	return items
}

func itemsOf(r *Room, in *mailbox.Inbox) []Item {
	var items []Item
	add := func(kind, id, from string, at time.Time, text string) {
		items = append(items, Item{Room: r.Name, Path: r.View.CanonicalPath, Kind: kind, ID: id, From: from, At: at, Text: text})
	}
	if r.Yours.Turn {
		add(KindTurn, "", "", r.Since, "the turn is reserved for you")
	}
	for _, q := range in.Questions {
		add(KindQuestion, q.ID, q.From, q.AskedAt.Time, q.Text)
	}
	for _, a := range in.Answers {
		add(KindAnswer, a.QuestionID, a.AnsweredBy, a.AnsweredAt.Time, a.Payload.Markdown+"\n\nYou asked: "+a.Question)
	}
	for i := range in.Messages {
		e := newEntry(in.Messages[i])
		add(KindMessage, "", e.From, e.CreatedAt.Time, e.Text)
	}
	for _, n := range in.Notes {
		add(KindNote, n.ID, n.Author, n.CreatedAt.Time, n.Body)
	}
	return items
}
