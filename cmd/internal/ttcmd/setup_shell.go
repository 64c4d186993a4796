package ttcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/completion"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/setup"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/instructions"
)

var completionCommand = &cli.Command{
	Name:      "completion",
	Reads:     true,
	Traits:    cli.Traits{NoSync: true, NoSubject: true},
	Args:      []cli.Arg{shellArg},
	TextFirst: true,
	Run:       func(_ context.Context, c *cli.Invocation) error { return printScript(c, "complete") },
}

// printScript prints a script of a kind for the shell that the argument names.
func printScript(c *cli.Invocation, kind string) error {
	script := completion.Script(kind, c.Arg("shell"), c.Program.Name)
	if !c.JSON {
		return c.Out.Print(script)
	}
	return c.Out.Result(map[string]string{"script": script, "shell": c.Arg("shell")}, nil)
}

var shellArg = cli.Arg{Name: "shell", Choices: completion.Shells(), Usage: "the shell to print it for"}

// completeCommand is the command that the completion scripts run at every TAB. It
// prints no errors and does not record presence.
var completeCommand = &cli.Command{
	Name:   "complete",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, Offline: true, NoSubject: true},
	Args:   []cli.Arg{{Name: "word", Optional: true, Rest: true, Usage: "the command line behind the program's name, up to the cursor"}},
	Run: func(ctx context.Context, c *cli.Invocation) error {
		values := func(at completion.Position) completion.Answer { return valuesAt(ctx, c, at) }
		return c.Out.Print(completion.Find(c.Program, c.Rest("word"), values).String())
	},
}

// valuesAt returns the candidates for a position that the table of commands does not
// know.
func valuesAt(ctx context.Context, c *cli.Invocation, at completion.Position) completion.Answer {
	name := at.Arg
	if at.Flag != "" {
		name = "--" + at.Flag
	}
	switch name {
	case "harness":
		return completion.Words(append(harness.Names(), setup.GitName)...)
	case "--harness":
		return completion.Words(instructions.Readers()...)
	case "--path":
		return completion.Answer{Paths: completion.Directories}
	case "path", "dir", "file", "to", "--artifact", "--file", "--cursor", "--output", "--program":
		return completion.Answer{Paths: completion.Files}
	case "--scope":
		return completion.Words("effective", "bundled", "user", "project")
	case "--event":
		return completion.Words(turn.EventTypes()...)
	case "command":
		return helpPages(c.Program, at.Before)
	case "name":
		return locksHere(c)
	}
	room, st := roomHere(c)
	if st == nil {
		return completion.Answer{}
	}
	var a completion.Answer
	add := func(word, what string) {
		a.Candidates = append(a.Candidates, completion.Candidate{Word: word, What: what})
	}
	switch name {
	case "agent", "--agent", "--from", "--target":
		for i := range st.Members {
			id, what := st.Members[i].AgentID, "a member"
			switch id {
			case st.Owner:
				what = "holds the stick"
			case st.ReservedFor:
				what = "is next"
			}
			add(id, what)
		}
		command := ""
		if at.Command != nil {
			command = at.Command.Name
		}
		switch {
		case name == "--target" && !strings.HasPrefix(command, "notes"):
			add("self", "")
			add("any", "")
		case name != "agent":
		case command == "msg send":
			add("room", "everybody")
		case command == "ask":
			add(turn.Everyone, "anybody")
			add(talk.AnyPerson, "any person")
		case command == "assign" || command == "pass":
			add("next", "the fairest")
		}
	case "id", "--replace":
		notes, _ := mailbox.Of(room).Notes(ctx, st, talk.NoteQuery{Limit: mostNotes})
		for _, n := range notes {
			add(n.ID, n.Author+": "+preview(n.Body))
		}
	case "question":
		open, _ := questions.Of(room).Questions(ctx, st, questions.QuestionQuery{All: true})
		for i := range open {
			add(open[i].ID, open[i].From+": "+preview(open[i].Text))
		}
	case "job":
		all, _ := room.Jobs().List()
		for _, j := range all {
			if !slices.Contains(a.Candidates, completion.Candidate{Word: j.Name}) {
				add(j.Name, "")
			}
		}
	}
	return a
}

// helpPages returns the words that can follow those before on a line with "help".
func helpPages(p *cli.Program, before []string) completion.Answer {
	none := func(completion.Position) completion.Answer { return completion.Answer{} }
	a := completion.Find(p, append(slices.Clone(before), ""), none)
	if len(before) > 0 {
		return a
	}
	a.Candidates = append(a.Candidates, completion.Candidate{Word: "all", What: "all commands and topics"})
	for _, topic := range p.Topics() {
		a.Candidates = append(a.Candidates, completion.Candidate{Word: topic.Name, What: topic.Short})
	}
	return a
}

// roomHere returns the room of the current directory, nil if there is no room or it
// cannot be read.
func roomHere(c *cli.Invocation) (*member.Room, *turn.State) {
	store, err := openStore(c)
	if err != nil {
		return nil, nil
	}
	w, err := locatePath(c, "")
	if err != nil {
		return nil, nil
	}
	room, snap, err := clientFor(c, store, processes(c), identity.Agent{}).Find(w, nil)
	if err != nil || room == nil {
		return nil, nil
	}
	return room, snap.State
}

// locksHere returns the names of the locks that the repository, the working tree and the
// machine have had.
func locksHere(c *cli.Invocation) completion.Answer {
	store, err := openStore(c)
	if err != nil {
		return completion.Answer{}
	}
	l := &locks.Locks{Store: store.Local(), Table: processes(c)}
	scopes := []string{locks.Machine}
	if w, err := locatePath(c, ""); err == nil {
		scopes = append(scopes, locks.ScopesOf(w)...)
	}
	var all []string
	for _, scope := range scopes {
		names, _ := l.Names(scope)
		all = append(all, names...)
	}
	slices.Sort(all)
	return completion.Words(slices.Compact(all)...)
}

// forPrompt reports whether the call prints a fragment for a shell's prompt.
func forPrompt(c *cli.Invocation) bool { return c.Has("prompt") }

// printFragment prints the fragment, with --json as {"prompt":…}: what a harness has in its environment does not
// change a prompt. It is "" if there is no room, and after an error. No presence is recorded: a prompt is printed even if
// the agent is idle.
func printFragment(c *cli.Invocation) error {
	text := ""
	if client, err := newClient(c); err == nil {
		if room, snap, err := client.Find(locateArg(c)); err == nil && room != nil {
			now := room.Look(snap)
			text = fragment(statusFor(room, now.State, now.Facts))
		}
	}
	if c.Bool("json") {
		return c.Out.Result(map[string]string{"prompt": text}, nil)
	}
	_ = c.Out.Print(text)
	return nil
}

// fragment returns plain ASCII without characters that a shell would expand.
func fragment(r statusResult) string {
	mark := ""
	switch {
	case r.YouOwn && r.HeldBy == 0:
		mark = "tt:mine"
	case r.YourTurnNext:
		mark = "tt:yours"
	case r.Owner != "" && r.State == turn.StateOwned:
		mark = "tt:held"
	case r.Owner != "" || r.State == turn.StateRecipientGone:
		mark = "tt:stuck"
	case r.ReservedFor != "":
		mark = "tt:next"
	default:
		mark = "tt:free"
	}
	if r.Unread > 0 {
		mark += "+" + itoa(min(r.Unread, 99))
	}
	if r.Owed > 0 {
		mark += "?" + itoa(min(r.Owed, 99))
	}
	return mark
}

var promptInitCommand = &cli.Command{
	Name:      "prompt init",
	Reads:     true,
	Traits:    cli.Traits{NoSync: true, NoSubject: true},
	Args:      []cli.Arg{shellArg},
	TextFirst: true,
	Run:       func(_ context.Context, c *cli.Invocation) error { return printScript(c, "prompt") },
}
