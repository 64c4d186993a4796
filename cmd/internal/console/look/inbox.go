package look

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/talk"
)

// An Item is one thing that waits for the person, or a question or note that is open in a room.
type Item struct {
	Room   string // room_id
	Path   string
	Kind   string // one of the Kind constants
	ID     string // of a question or a note
	Seq    int64  // of a message
	From   string
	To     string
	At     time.Time
	Text   string
	Urgent bool // the person owes the answer, or the severity of the note is page
}

// The kinds of items.
const (
	KindTurn     = "turn" // it is reserved for the person
	KindQuestion = "question"
	KindAnswer   = "answer" // to a question of the person
	KindMessage  = "message"
	KindNote     = "note"
)

// Shown records that the person has read messages, answers and notes of one room; opened are all
// that were opened since the console began. A message or a note before which another one was not
// read stays new. What cannot be recorded stays new, too.
func (l *Looker) Shown(ctx context.Context, room string, opened []Item) {
	read := map[Item]bool{}
	for _, i := range opened {
		if i.Room == room {
			read[Item{Kind: i.Kind, ID: i.ID, Seq: i.Seq}] = true
		}
	}
	mailbox.Of(l.own.Room(room, nil)).WordsShown(ctx, func(w *talk.Word) bool {
		switch w.Kind {
		case talk.KindMessage:
			return read[Item{Kind: KindMessage, Seq: w.Seq}]
		case talk.KindPage:
			return read[Item{Kind: KindNote, ID: w.ID}]
		}
		return w.Kind != talk.KindQuestion && read[Item{Kind: w.Kind, ID: w.ID}]
	})
}

// Inbox returns what waits for the person in the rooms, room by room. It does not count
// as shown.
func (l *Looker) Inbox(ctx context.Context, rooms []Room) []Item {
	var items []Item
	for i := range rooms {
		if rooms[i].Yours == (Yours{}) {
			continue
		}
		if in, err := mailbox.Of(l.own.Room(rooms[i].Name, nil)).Inbox(ctx); err == nil {
			items = append(items, itemsOf(&rooms[i], in)...)
		}
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
		add(KindAnswer, a.QuestionID, a.AnsweredBy, a.AnsweredAt.Time, a.Markdown+"\n\nYou asked: "+a.Question)
	}
	for i := range in.Messages {
		e := NewEntry(in.Messages[i])
		add(KindMessage, "", e.From, e.CreatedAt.Time, e.Text)
		items[len(items)-1].Seq = e.Seq
	}
	for _, n := range in.Notes {
		add(KindNote, n.ID, n.Author, n.CreatedAt.Time, n.Body)
	}
	return items
}
