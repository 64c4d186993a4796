package listen

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
)

// says begins every text that wakes a model. Some harnesses give it to the model as if its
// user had typed it.
const says = "tt (automatic, not typed by your user):"

// wakeFor returns what wakes an agent for the news of its rooms, which is not empty. Where
// no hook shows the words of others with it, it says how to see them.
func (a *Agent) wakeFor(due []dueNews, shown bool) Wake {
	sort.SliceStable(due, func(i, j int) bool { return rank(&due[i]) < rank(&due[j]) })
	first := &due[0]
	w := Wake{Class: first.class(), Path: first.Path, Room: first.Mailbox.Room.FS.Name(), Text: says}
	for i := range due {
		if need := due[i].need; need != nil {
			w.Text += " " + cli.Line(need.AgentID) + " " + need.Words() + " in " + cli.Line(due[i].Path) + "."
		}
		if text := a.sentences(due[i].news, due[i].Path); text != "" {
			w.Text += " " + text
		}
		if !shown && counts(due[i].news) != "" {
			w.Text += " See: tt inbox --json" + a.In(due[i].Path) + "."
		}
	}
	return w
}

func rank(d *dueNews) int {
	return slices.Index([]string{turn.ClassTurn, turn.ClassLost, turn.ClassNeeds, turn.ClassJob, turn.ClassMessage}, d.class())
}

// sentences returns the fixed texts for the news of one room.
func (a *Agent) sentences(n turn.News, path string) string {
	var parts []string
	in, path := a.In(path), cli.Line(path)
	if n.Offer != 0 {
		parts = append(parts, "turn "+strconv.FormatInt(n.Turn, 10)+" in "+path+" is offered to you. Take it if you have something to change: tt wait --json"+in+".")
	}
	if n.Call && n.Offer == 0 {
		parts = append(parts, "turn "+strconv.FormatInt(n.Turn, 10)+" in "+path+" is offered to you. Do again what was refused there, or take it: tt wait --json"+in+".")
	}
	if n.Lost != "" {
		parts = append(parts, lost(n.Lost, path, in))
	}
	if jobs := int(n.Words.Jobs); jobs > 0 {
		have := map[bool]string{true: "has", false: "have"}[jobs == 1]
		parts = append(parts, code.Count(jobs, "job")+" of yours "+have+" ended in "+path+". Read it: tt inbox --json"+in+".")
	}
	if what := counts(n); what != "" {
		parts = append(parts, what+" for you in "+path+".")
	}
	return strings.Join(parts, " ")
}

func lost(how, path, in string) string {
	switch how {
	case turn.Takeover:
		return "your turn in " + path + " was taken over: change nothing there now. See: tt log --limit 5" + in + "."
	case turn.Kicked:
		return "you were removed from the room at " + path + ": change nothing there now. See: tt log --limit 5" + in + "."
	}
	return "the room at " + path + " has ended."
}

// counts returns a text such as "2 messages and 1 note".
func counts(n turn.News) string {
	var parts []string
	u := n.Words
	u.Notes += u.Pages
	for _, kind := range []string{talk.KindMessage, talk.KindNote, talk.KindQuestion, talk.KindAnswer} {
		if n := *u.Of(kind); n > 0 {
			parts = append(parts, code.Count(int(n), kind))
		}
	}
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}
