package look

import (
	"context"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

// A Detail is one room in full.
type Detail struct {
	Room
	Notes     []Item           // the open ones, oldest first
	Locks     []*locks.View    // of the workspace
	Siblings  []member.Sibling // the other working trees of the repository that have a room, holders first
	Questions []Item           // the open ones, oldest first
	Entries   []Entry          // the newest events, oldest first
	Handoff   *event.Event     // the last one; nil: there was none
	Ended     bool             // the room has ended; the rest is as it was before
	Lost      int              // files that were not committed and went since the last turn
	Verdicts  []ledger.LastVerdict

	sought time.Time // when Lost and Verdicts were found out
}

// seekEvery is how often it is found out what a tree has lost, which scans it.
const seekEvery = 15 * time.Second

// An Entry is an event of the journal.
type Entry struct {
	event.Event
	Text   string // of a message or a note; what a job, a change of the tree or a loss was
	Urgent bool   // a message that interrupts, or a note with the severity page
}

// The journal is shown from so many events before its end, and kept to so many.
const (
	firstEntries = 200
	mostEntries  = 1000
)

// Detail returns a room in full. before is what was returned for the same room the last
// time, nil for the first time: only new events are read then.
func (l *Looker) Detail(ctx context.Context, name string, before *Detail) *Detail {
	var d Detail
	if before != nil && before.Name == name {
		d = *before
	}
	r, room, st, ok := l.room(name)
	if !ok {
		d.Name, d.Ended = name, true
		d.View.State = turn.StateClosed
		return &d
	}
	d.Room, d.Ended = r, false
	if r.Err != nil {
		return &d
	}
	if len(d.Entries) > 0 && d.Entries[len(d.Entries)-1].Seq > st.Seq {
		d.Entries = nil // another room has come to this place
	}
	d.Entries = l.entries(ctx, room, st, d.Entries)
	if now := time.Now(); now.Sub(d.sought) >= seekEvery {
		d.Lost, _ = room.Recorder(st).Lost(ctx)
		if l.Verdicts != nil {
			d.Verdicts = l.Verdicts(ctx, room, st)
		}
		d.sought = now
	}
	d.Handoff = lastHandoff(ctx, room, st, d.Entries)
	d.Notes = notes(ctx, room, st)
	w := &workspace.Workspace{Path: st.WorkspaceRoot, Root: st.WorkspaceRoot}
	d.Locks, _ = l.locks.Views(nil, locks.Repository(w)) // a part that cannot be read is not shown
	d.Siblings = slices.DeleteFunc(member.HoldersFirst(l.eye.Siblings(w)), func(s member.Sibling) bool { return s.State == "" })
	asked, _ := questions.Of(l.own.Room(name, nil)).Questions(ctx, st, questions.QuestionQuery{All: true})
	d.Questions = nil
	for _, q := range asked {
		w := talk.Word{Kind: talk.KindQuestion, ID: q.ID, From: q.From, To: q.To, Text: q.Text, Urgent: q.Owed}
		d.Questions = append(d.Questions, Item{Word: w, At: q.AskedAt.Time})
	}
	return &d
}

// entries returns the known entries and those that have come since.
func (l *Looker) entries(ctx context.Context, room *member.Room, st *turn.State, known []Entry) []Entry {
	after := max(0, st.Seq-firstEntries)
	if n := len(known); n > 0 {
		after = max(after, known[n-1].Seq)
	}
	if after >= st.Seq {
		return known
	}
	list := slices.Clone(known)
	_ = room.EachEvent(ctx, after, false, func(e *event.Event) error {
		if e.Seq > st.Seq {
			return member.ErrEnough
		}
		list = append(list, NewEntry(e.Clone()))
		return nil
	})
	return list[max(0, len(list)-mostEntries):]
}

// NewEntry returns an event as it is shown.
func NewEntry(e event.Event) Entry {
	w := talk.Of(&e)
	entry := Entry{turn.Public(e), w.Text, w.Urgent}
	switch e.Type {
	case turn.TreeChanged:
		entry.Text = turn.TreeWords(&e)
	case turn.JournalDamaged:
		entry.Text = event.LostOf(&e).Words()
	}
	return entry
}

// lastHandoff returns the last event with a handoff that the room knows of.
func lastHandoff(ctx context.Context, room *member.Room, st *turn.State, entries []Entry) *event.Event {
	for i := range slices.Backward(entries) {
		if e := &entries[i].Event; len(e.Handoff) > 0 {
			return e
		}
	}
	seq := max(st.Pending.Seq, st.Grant.Handoff.Seq)
	if seq == 0 {
		return nil
	}
	e, err := room.FS.Event(ctx, seq)
	if err != nil {
		return nil
	}
	return e
}

func notes(ctx context.Context, room *member.Room, st *turn.State) (items []Item) {
	if len(st.Notes) == 0 {
		return nil
	}
	const most = 200
	list, _ := mailbox.Of(room).Notes(ctx, st, talk.NoteQuery{Limit: most})
	for _, n := range list {
		items = append(items, noteItem(&n))
	}
	return items
}

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
// that were opened since the console began. A note before which another one was not
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
