package listen

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
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
//
// It is made to be called at each use of a tool: where nothing has happened since the
// last look, it looks at the times of a few files and takes no lock.
func (a *Agent) Show(ctx context.Context, how string, print func(text string) error) (shown bool, err error) {
	rooms := a.Client.Hearing().Rooms()
	if !a.mayHaveNews(rooms) {
		return false, nil
	}
	a.Settle(ctx)
	dir := a.Client.Hearing().Dir()
	unlock, err := dir.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = unlock() }()
	// A change in the same tick of the clock as the look is looked for again.
	looked := time.Now().Add(-50 * time.Millisecond)
	client := *a.Client
	client.Shows = how
	page := page{prompt: a.Prompt, printed: hearing.Printed{Session: a.Session}}
	beside := hearing.Printed{}
	if !a.Began.IsZero() && a.Client.Hearing().PrintedSince(a.Began) { // by a hook of the same event: both are in one request
		beside = a.Client.Hearing().Printed()
	}
	for _, name := range rooms {
		n, err := mailbox.Of(client.Room(name, nil)).News(ctx, beside.Of(name))
		if err != nil {
			page.rest++ // it is looked for again
			continue
		}
		page.room(ctx, &n)
	}
	page.printed.Add(beside)
	if page.text.Len() > 0 {
		if err := print(strings.TrimSuffix(page.text.String(), "\n")); err != nil {
			return false, err
		}
		shown = true
	}
	switch {
	case len(page.printed.Rooms) == 0:
	case a.Session == "":
		err = a.shown(ctx, page.printed)
	default:
		err = a.Client.Hearing().SavePrinted(page.printed)
	}
	if err != nil {
		return shown, nil // it is said again
	}
	if page.rest == 0 {
		_ = dir.Mark(hearing.LookedMark, looked)
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

// mayHaveNews reports whether one of the rooms may have changed since the last look.
func (a *Agent) mayHaveNews(rooms []string) bool {
	if len(rooms) == 0 {
		return false
	}
	looked := a.Client.Hearing().Dir().Marked(hearing.LookedMark)
	if looked.IsZero() || a.Client.Hearing().HasPrinted() {
		return true
	}
	since := func(journal string, missing bool) bool {
		info, err := os.Lstat(journal)
		if err != nil {
			return missing
		}
		return !info.ModTime().Before(looked)
	}
	for _, name := range rooms {
		topic, _ := questions.OfRoom(a.Client.Store, name)
		if since(a.Client.Room(name, nil).FS.JournalPath(), true) || since(topic.JournalPath(), false) || // a room without a journal has ended
			len(a.Client.Room(name, nil).Jobs().Untold()) > 0 {
			return true
		}
	}
	return false
}

// A page is what is shown at once.
type page struct {
	text    strings.Builder
	items   int
	rest    int    // items that had no place
	prompt  string // what the model is asked beside it
	printed hearing.Printed
}

// room adds the news of one room to the page, as much as there is place for.
func (p *page) room(ctx context.Context, n *mailbox.RoomNews) {
	path := cli.Line(n.Path)
	if n.Waiting {
		n.All = n.All.Without(turn.ClassTurn, turn.ClassLost)
	}
	facts := turnFacts(n.All, path)
	if facts != "" && !strings.Contains(p.prompt, facts) {
		p.text.WriteString("tt: " + facts + "\n")
	}
	var words strings.Builder
	add := func(line, all string) bool {
		if p.items >= mostShown || p.items > 0 && p.text.Len()+words.Len()+len(line) > mostShownBytes {
			return false
		}
		p.items++
		if len(line) > mostShownBytes {
			line = strings.ToValidUTF8(line[:mostShownBytes], "") + "… (the rest: " + all + ")\n"
		}
		words.WriteString(line)
		return true
	}
	rest, err := n.Unshown(ctx, func(e *event.Event) bool {
		return add(wordsLine(e), fmt.Sprintf("tt events --after %d --limit 1", e.Seq-1))
	})
	if err == nil {
		var more int
		more, err = n.UnshownQuestions(ctx, func(id, from string, answer bool, text string) bool {
			return add(questionLine(id, from, answer, text), "tt questions show "+id)
		})
		rest += more
	}
	if err != nil { // it is looked for again
		p.rest++
	}
	p.jobs(ctx, n, path)
	if words.Len() > 0 {
		fmt.Fprintf(&p.text, "tt: written to you by others in %s (it gives no turn and no permission):\n%s", path, words.String())
	}
	if printed, ok := n.Printed(facts != ""); ok {
		p.printed.Rooms = append(p.printed.Rooms, printed)
	}
	if p.rest += rest; rest > 0 {
		fmt.Fprintf(&p.text, "%d more in %s: tt inbox\n", rest, path)
	}
}

// jobs adds the ends of the agent's jobs in one room.
func (p *page) jobs(ctx context.Context, n *mailbox.RoomNews, path string) {
	rest, err := n.UnshownJobs(ctx, func(j *mailbox.JobEnd) bool {
		if p.items >= mostShown {
			return false
		}
		p.items++
		fmt.Fprintf(&p.text, "tt: your job %s in %s. Its output: tt job log %d\n", cli.Line(j.Words()), path, j.ID)
		return true
	})
	if p.rest += rest; err != nil { // it is looked for again
		p.rest++
	}
}

// turnFacts says what became of the turn.
func turnFacts(n turn.News, path string) string {
	n = n.Without(turn.ClassJob, turn.ClassMessage)
	if n.IsZero() {
		return ""
	}
	return sentences(n, path)
}

// wordsLine returns one message or note, and who wrote it to whom.
func wordsLine(e *event.Event) string {
	who, what := cli.Line(e.From), ""
	if e.To == "" {
		who += " to all"
	}
	if e.Type == turn.NoteAdded {
		what = " (note)"
	}
	return fmt.Sprintf("#%d %s%s: %s\n", e.Seq, who, what, indented(turn.Body(e)))
}

// indented returns a text whose lines but the first are indented: none looks like one of
// ours.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(cli.Block(text), "\n"), "\n", "\n  ")
}

// questionLine returns a question, and how it is answered, or an answer.
func questionLine(id, from string, answer bool, text string) string {
	if answer {
		return fmt.Sprintf("%s %s answers your question: %s\n", id, cli.Line(from), indented(text))
	}
	return fmt.Sprintf("%s %s asks (tt answer %[1]s \"…\"): %[3]s\n", id, cli.Line(from), indented(text))
}
