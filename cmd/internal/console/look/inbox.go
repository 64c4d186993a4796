package look

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/talk"
)

// An Item is one thing that waits for the person, or a question or note that is open in a room. Its
// Kind is KindTurn or one of package talk, where a page is a note, too. It is Urgent if the person owes the
// answer, or if the severity of the note is page.
type Item struct {
	talk.Word
	Room string // room_id
	Path string
	At   time.Time
}

// KindTurn is the kind of a turn that is reserved for the person.
const KindTurn = "turn"

// Shown records that the person has read messages, answers and notes of one room; opened are all
// that were opened since the console began. A message or a note before which another one was not
// read stays new. What cannot be recorded stays new, too.
func (l *Looker) Shown(ctx context.Context, room string, opened []Item) {
	read := map[[2]string]bool{}
	for _, i := range opened {
		if i.Room == room {
			read[[2]string{i.Kind, i.ID}] = true
		}
	}
	mailbox.Of(l.own.Room(room, nil)).WordsShown(ctx, func(w *talk.Word) bool {
		kind := w.Kind
		if kind == talk.KindPage {
			kind = talk.KindNote
		}
		return kind != talk.KindQuestion && read[[2]string{kind, w.ID}]
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
	add := func(w talk.Word, at time.Time) { items = append(items, Item{w, r.Name, r.View.CanonicalPath, at}) }
	if r.Yours.Turn {
		add(talk.Word{Kind: KindTurn, Text: "the turn is reserved for you"}, r.Since)
	}
	for _, q := range in.Questions {
		add(talk.Word{Kind: talk.KindQuestion, ID: q.ID, From: q.From, Text: q.Text}, q.AskedAt.Time)
	}
	for _, a := range in.Answers {
		add(talk.Word{Kind: talk.KindAnswer, ID: a.QuestionID, From: a.AnsweredBy, Text: a.Markdown + "\n\nYou asked: " + a.Question}, a.AnsweredAt.Time)
	}
	for i := range in.Messages {
		add(talk.Of(&in.Messages[i]), in.Messages[i].CreatedAt.Time)
	}
	for _, n := range in.Notes {
		x := noteItem(&n.NoteView)
		add(x.Word, x.At)
	}
	return items
}

// noteItem returns an open note as it is shown.
func noteItem(n *talk.NoteView) Item {
	w := n.Word(n.Body)
	w.Kind = talk.KindNote
	return Item{Word: w, At: n.CreatedAt.Time}
}
