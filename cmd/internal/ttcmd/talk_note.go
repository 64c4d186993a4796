package ttcmd

import (
	"cmp"
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var notesAddCommand = &cli.Command{
	Name: "notes add",
	Args: []cli.Arg{{Name: "body", Show: "BODY", Optional: true, Rest: true, Usage: "the note, at most 16384 bytes"}},
	Flags: func(f *cli.Flags) {
		f.Int64("turn", "N", 0, "the turn it is about (default: the room as a whole)")
		f.Choice("severity", "info|page", []string{talk.SeverityInfo, talk.SeverityPage}, "how urgent it is: page should be read at once")
		f.Word("target", "AGENT", "whom it is for")
		f.Bool("stdin", "read the note from standard input")
		f.Word("replace", "ID", "resolve this note in the same change: the new one has what is left of it")
	},
	Run: runNotesAdd,
}

// A notedResult is the result of notes add.
type notedResult struct {
	NoteID    string     `json:"note_id"`
	EventSeq  int64      `json:"event_seq"`
	TurnID    int64      `json:"turn_id,omitempty"`
	CreatedAt event.Time `json:"created_at"`
	Replaced  string     `json:"replaced_note_id,omitempty"`
	aftermath
}

func runNotesAdd(ctx context.Context, c *cli.Invocation) error {
	body, err := bodyOf(c, talk.KindNote)
	if err != nil {
		return err
	}
	room, _, err := openRoom(c)
	if err != nil {
		return err
	}
	request := turn.NoteRequest{
		Agent: room.Self.ID, ID: fsroom.NewID(), Body: body, Target: c.String("target"), Severity: c.String("severity"),
		Turn: c.Int64("turn"), HasTurn: c.Given("turn"),
	}
	var replaced string
	snap, events, err := room.UpdateAsPerson(ctx, nil, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		if !c.Given("replace") {
			return turn.AddNote(st, f, request)
		}
		events, replaced, err = turn.ReplaceNote(st, f, request, c.String("replace"), func() []talk.NoteView {
			return mailbox.Of(room).PastNotes(ctx, st)
		})
		return events, err
	})
	if err != nil {
		return err
	}
	added := events[slices.IndexFunc(events, func(e event.Event) bool { return e.Type == turn.NoteAdded })]
	res := notedResult{NoteID: request.ID, EventSeq: added.Seq, TurnID: request.Turn, CreatedAt: added.CreatedAt, Replaced: replaced,
		aftermath: aftermathOf(room, snap.State)}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("Added note %s.", shortID(res.NoteID))
		res.write(t)
	})
}

func shortID(id string) string { return id[:min(8, len(id))] }

var notesListCommand = &cli.Command{
	Name:   "notes list",
	Hidden: true,
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Flags: func(f *cli.Flags) {
		f.Bool("all", "resolved ones too")
		f.Word("after", "ID", "only notes behind this one")
		f.Int64("limit", "N", defaultNotes, "at most so many, up to 200")
	},
	Run: runNotesList,
}

const defaultNotes, mostNotes = 50, 200

func runNotesList(ctx context.Context, c *cli.Invocation) error {
	limit, err := limited(c, defaultNotes, mostNotes)
	if err != nil {
		return err
	}
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	notes, err := mailbox.Of(room).Notes(ctx, seen.State, talk.NoteQuery{All: c.Bool("all"), After: c.String("after"), Limit: 1 << 30})
	if err != nil {
		return err
	}
	result, more := map[string]any{}, max(0, len(notes)-limit)
	notes = notes[:min(limit, len(notes))]
	if result["notes"] = notes; more > 0 {
		result["more"] = more
	}
	rest := "tt notes list" + room.In(c.Env.Dir, room.Path(seen.State))
	if c.Bool("all") {
		rest += " --all"
	}
	if err := c.Out.Result(result, func(t *cli.Text) { writeNotes(t, notes, more, rest) }); err != nil {
		return err
	}
	mailbox.Of(room).WordsShown(ctx, func(w *talk.Word) bool {
		return (w.Kind == talk.KindNote || w.Kind == talk.KindPage) &&
			slices.ContainsFunc(notes, func(n talk.NoteView) bool { return n.ID == w.ID })
	}) // else they are shown again
	return nil
}

// lostText is in the place of a text that the journal has lost.
const lostText = "(the text is lost: see tt why)"

func writeNotes(t *cli.Text, notes []talk.NoteView, more int, rest string) {
	if len(notes) == 0 {
		t.Line("No notes.")
		return
	}
	for _, n := range notes {
		mark := t.Dim("open")
		switch {
		case n.ResolvedAt != nil:
			mark = t.Dim("resolved")
		case n.Severity == talk.SeverityPage:
			mark = t.Red("page")
		}
		t.Line("%s  %s  %s, %s", t.Bold(shortID(n.ID)), mark, noteAbout(n.Note), t.Ago(n.CreatedAt.Time))
		t.Block("  ", cmp.Or(n.Body, lostText))
	}
	if more > 0 {
		t.Line("%d more: %s --after %s", more, rest, notes[len(notes)-1].ID)
	}
}

var notesResolveCommand = &cli.Command{
	Name: "notes resolve",
	Args: []cli.Arg{{Name: "id", Usage: "the note, by its id or the first characters of it"}},
	Run:  runNotesResolve,
}

// A resolvedResult is the result of notes resolve.
type resolvedResult struct {
	NoteID string `json:"note_id"`
	Status string `json:"status"`
	aftermath
}

func runNotesResolve(ctx context.Context, c *cli.Invocation) error {
	room, _, err := openRoom(c)
	if err != nil {
		return err
	}
	id := ""
	snap, _, err := room.UpdateAsPerson(ctx, nil, func(st *turn.State, _ turn.Facts) (events []event.Event, err error) {
		events, id, err = turn.ResolveNote(st, room.Self.ID, c.Arg("id"), func() []talk.NoteView {
			return mailbox.Of(room).PastNotes(ctx, st)
		})
		return events, err
	})
	if err != nil {
		return err
	}
	res := resolvedResult{id, "resolved", aftermathOf(room, snap.State)}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("Resolved note %s.", shortID(id))
		res.write(t)
	})
}
