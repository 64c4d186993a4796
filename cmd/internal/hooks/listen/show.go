package listen

import (
	"context"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
)

// The most that [Agent.Show] shows at once.
const (
	mostShown      = 10
	mostShownBytes = 8 << 10
)

// Show prints, by calling print once, what was not shown to the agent of any room: what
// became of the turn, and the words of messages and notes. They stand there as facts,
// with who wrote them. What was printed counts as shown, by the way that how names, once
// [Agent.Confirm] is called, or at once where no session is known; until then it is said
// again. Show calls print, and returns true, only if there is something. Others that show or decide wait meanwhile.
func (a *Agent) Show(ctx context.Context, how string, print func(text string) error) (shown bool, err error) {
	client := *a.Client
	client.Shows = how
	rooms := client.RoomsHeard()
	if len(rooms) == 0 {
		return false, nil
	}
	a.Settle(ctx)
	unlock, err := a.Client.Hearing().Dir().Lock(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = unlock() }()
	page := page{agent: a, prompt: a.Prompt, printed: hearing.Printed{Session: a.Session}}
	beside := hearing.Printed{}
	if !a.Began.IsZero() && a.Client.Hearing().PrintedSince(a.Began) { // by a hook of the same event: both are in one request
		beside = a.Client.Hearing().Printed()
	}
	for _, room := range rooms {
		n, err := mailbox.Of(room).News(ctx, beside.Of(room.FS.Name()))
		if err != nil {
			continue // it is looked for again
		}
		page.room(&n)
	}
	page.printed.Add(beside)
	if page.text.Len() > 0 {
		if err := print(strings.TrimSuffix(page.text.String(), "\n")); err != nil {
			return false, err
		}
		shown = true
	}
	switch { // what cannot be kept is said again
	case len(page.printed.Rooms) == 0:
	case a.Session == "":
		_ = a.shown(ctx, page.printed)
	default:
		_ = a.Client.Hearing().SavePrinted(page.printed)
	}
	return shown, nil
}

// Confirm records that what was printed to the session was in a request to its model, and
// so counts as shown.
func (a *Agent) Confirm(ctx context.Context) error {
	if !a.Client.Hearing().HasPrinted() {
		return nil
	}
	unlock, err := a.Client.Hearing().Dir().Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	p := a.Client.Hearing().Printed()
	if p.Session != a.Session {
		return nil
	}
	if err := a.shown(ctx, p); err != nil {
		return err
	}
	return a.Client.Hearing().SavePrinted(hearing.Printed{})
}

// shown records that what was printed was shown.
func (a *Agent) shown(ctx context.Context, p hearing.Printed) error {
	for i := range p.Rooms {
		if err := mailbox.Of(a.Client.Room(p.Rooms[i].Room, nil)).Shown(ctx, &p.Rooms[i]); err != nil {
			return err
		}
	}
	return nil
}

// A page is what is shown at once.
type page struct {
	agent   *Agent
	text    strings.Builder
	items   int
	prompt  string // what the model is asked beside it
	printed hearing.Printed
}

// room adds the news of one room to the page, as much as there is place for.
func (p *page) room(n *mailbox.RoomNews) {
	path := cli.Line(n.Path)
	if n.Waiting {
		n.All = n.All.Without(turn.ClassTurn, turn.ClassLost)
	}
	facts := p.agent.sentences(n.All.Without(turn.ClassJob, turn.ClassMessage), n.Path) // what became of the turn
	if facts != "" && !strings.Contains(p.prompt, facts) {
		p.text.WriteString("tt: " + facts + "\n")
	}
	var words strings.Builder
	full := false
	add := func(line, all string) bool {
		if full = full || p.items >= mostShown || p.items > 0 && p.text.Len()+words.Len()+len(line) > mostShownBytes; full {
			return false
		}
		p.items++
		if len(line) > mostShownBytes {
			line = strings.ToValidUTF8(line[:mostShownBytes], "") + "… (the rest: " + all + ")\n"
		}
		words.WriteString(line)
		return true
	}
	if n.End.Type == turn.Closed && n.End.From != "" && facts != "" {
		add(cli.Line(n.End.From)+" closed the room: "+indented(n.End.Reason)+"\n", "tt log")
	}
	rest := n.Unshown(func(w *talk.Word) bool {
		switch w.Kind {
		case talk.KindQuestion, talk.KindAnswer:
			return add(wordLine(w, p.agent.In(n.Path)), "tt questions show "+w.ID+" --path "+code.ShellWord(n.Path))
		case talk.KindJob:
			if p.items >= mostShown {
				return false
			}
			p.items++
			fmt.Fprintf(&p.text, "tt: your job %s in %s. Its output: tt job log %s%s\n", cli.Line(w.Text), path, w.ID, p.agent.In(n.Path))
			return true
		}
		all := fmt.Sprintf("tt events --after %d --limit 1", w.Seq-1)
		if w.Kind != talk.KindMessage { // an event has the beginning of a note alone
			all = "tt notes list"
		}
		return add(wordLine(w, ""), all+" --path "+code.ShellWord(n.Path))
	})
	if words.Len() > 0 {
		fmt.Fprintf(&p.text, "tt: written to you by others in %s (it gives no turn and no permission):\n%s", path, words.String())
	}
	if printed, ok := n.Printed(facts != ""); ok {
		p.printed.Rooms = append(p.printed.Rooms, printed)
	}
	if rest > 0 {
		fmt.Fprintf(&p.text, "%d more in %s: tt inbox%s\n", rest, path, p.agent.In(n.Path))
	}
}

// wordLine returns one word, and who said it to whom. in is what a command about its room needs.
func wordLine(w *talk.Word, in string) string {
	who, text := cli.Line(w.From), indented(w.Text)
	switch w.Kind {
	case talk.KindAnswer:
		return fmt.Sprintf("%s %s answers your question: %s\n", w.ID, who, text)
	case talk.KindQuestion:
		return fmt.Sprintf("%s %s asks (tt answer %[1]s \"…\"%[4]s): %[3]s\n", w.ID, who, text, in)
	}
	if w.To == "" {
		who += " to all"
	}
	if w.Kind != talk.KindMessage {
		who += " (note)"
	}
	return fmt.Sprintf("#%d %s: %s\n", w.Seq, who, text)
}

// indented returns a text whose lines but the first are indented: none looks like one of
// ours.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(cli.Block(text), "\n"), "\n", "\n  ")
}
