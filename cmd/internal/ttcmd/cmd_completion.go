package ttcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/completion"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/setup"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/instructions"
)

var completionCommand = &cli.Command{
	Name:   "completion",
	Traits: cli.Traits{NoSync: true},
	Args:   []cli.Arg{shellArg()},
	Short:  "print what a shell loads to complete tt",
	Long:   "Completes commands, flags, the agents of the room, notes, questions, harnesses, and paths.",
	Examples: []cli.Example{
		{Line: "source <(tt completion bash)", What: "in ~/.bashrc"},
		{Line: "source <(tt completion zsh)", What: "in ~/.zshrc, behind compinit"},
		{Line: "tt completion fish | source", What: "in config.fish"},
	},
	TextFirst: true,
	Run: func(_ context.Context, c *cli.Invocation) error {
		return printScript(c, completion.Script(c.Arg("shell"), c.Program.Name))
	},
}

// A scriptResult is a script for a shell.
type scriptResult struct {
	Script string `json:"script"`
	Shell  string `json:"shell"`
}

// printScript prints a script for the shell that the argument names.
func printScript(c *cli.Invocation, script string) error {
	if !c.JSON {
		return c.Out.Print(script)
	}
	return c.Out.Result(scriptResult{script, c.Arg("shell")}, nil)
}

// shellArg returns the argument that names a shell.
func shellArg() cli.Arg {
	return cli.Arg{Name: "shell", Choices: completion.Shells(), Usage: "the shell to print it for"}
}

// completeCommand is the command that the completion scripts run at every TAB. It
// prints no errors and does not record presence.
var completeCommand = &cli.Command{
	Name:   "complete",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, MirrorOnly: true},
	Args:   []cli.Arg{{Name: "word", Optional: true, Rest: true, Usage: "the command line behind the program's name, up to the cursor"}},
	Short:  "list what may stand at the end of a command line",
	Run: func(ctx context.Context, c *cli.Invocation) error {
		values := func(at completion.Position) completion.Answer { return valuesAt(ctx, c, at) }
		return c.Out.Print(completion.Find(c.Program, c.Rest("word"), values).String())
	},
}

// valuesAt returns the candidates for a position that the table of commands does not
// know.
func valuesAt(ctx context.Context, c *cli.Invocation, at completion.Position) completion.Answer {
	switch {
	case at.Flag == "replace":
		return openNotesHere(ctx, c)
	case at.Flag != "":
		return flagValues(c, at)
	case at.Arg == "harness":
		return completion.Words(append(harness.Names(), setup.GitName)...)
	case at.Arg == "path", at.Arg == "dir", at.Arg == "file", at.Arg == "to":
		return completion.Answer{Paths: completion.Files}
	case at.Arg == "id":
		return openNotesHere(ctx, c)
	case at.Arg == "question":
		return openQuestionsHere(ctx, c)
	case at.Arg == "command":
		return helpPages(c.Program, at.Before)
	case at.Arg == "name":
		return locksHere(c)
	case at.Arg == "job":
		return jobsHere(c)
	case at.Arg == "agent":
		return recipients(c, at.Command.Name)
	}
	return completion.Answer{}
}

func flagValues(c *cli.Invocation, at completion.Position) completion.Answer {
	switch at.Flag {
	case "agent", "from":
		return agentsHere(c)
	case "target":
		a := completion.Words("self", "any")
		if at.Command != nil && strings.HasPrefix(at.Command.Name, "notes") {
			a = completion.Answer{}
		}
		a.Candidates = append(a.Candidates, agentsHere(c).Candidates...)
		return a
	case "path":
		return completion.Answer{Paths: completion.Directories}
	case "artifact", "file", "cursor", "output":
		return completion.Answer{Paths: completion.Files}
	case "event":
		return completion.Words(turn.EventTypes()...)
	case "harness":
		return completion.Words(instructions.Readers()...)
	case "scope":
		return completion.Words("effective", "bundled", "user", "project")
	}
	return completion.Answer{}
}

// helpPages returns the words that can follow those before on a line with "help".
func helpPages(p *cli.Program, before []string) completion.Answer {
	none := func(completion.Position) completion.Answer { return completion.Answer{} }
	a := completion.Find(p, append(slices.Clone(before), ""), none)
	if len(before) > 0 {
		return a
	}
	a.Candidates = append(a.Candidates, completion.Candidate{Word: "all", What: "all commands and topics"})
	for _, topic := range p.Topics {
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
	room, snap, err := clientFor(c, store, identity.System(), identity.Agent{}).Find(w)
	if err != nil || room == nil {
		return nil, nil
	}
	return room, snap.State
}

func agentsHere(c *cli.Invocation) completion.Answer {
	var a completion.Answer
	_, st := roomHere(c)
	if st == nil {
		return a
	}
	for i := range st.Members {
		id, what := st.Members[i].AgentID, "a member"
		switch id {
		case st.Owner:
			what = "holds the stick"
		case st.ReservedFor:
			what = "is next"
		}
		a.Candidates = append(a.Candidates, completion.Candidate{Word: id, What: what})
	}
	return a
}

// recipients returns the agents of the room, and the words that stand for agents.
func recipients(c *cli.Invocation, command string) completion.Answer {
	a := agentsHere(c)
	switch command {
	case "msg send":
		a.Candidates = append(a.Candidates, completion.Candidate{Word: "room", What: "everybody"})
	case "ask":
		a.Candidates = append(a.Candidates, completion.Candidate{Word: turn.Everyone, What: "anybody"},
			completion.Candidate{Word: turn.AnyPerson, What: "any person"})
	case "assign", "pass":
		a.Candidates = append(a.Candidates, completion.Candidate{Word: "next", What: "the fairest"})
	}
	return a
}

// locksHere returns the names of the locks that the repository, the working tree and the
// machine have had.
func locksHere(c *cli.Invocation) completion.Answer {
	store, err := openStore(c)
	if err != nil {
		return completion.Answer{}
	}
	l := &locks.Locks{Store: store.Local(), Table: identity.System()}
	scopes := []string{locks.Machine}
	if w, err := locatePath(c, ""); err == nil {
		scopes = append(scopes, repositoryScope(w), treeScope(w))
	}
	var all []string
	for _, scope := range scopes {
		names, _ := l.Names(scope)
		all = append(all, names...)
	}
	slices.Sort(all)
	return completion.Words(slices.Compact(all)...)
}

// jobsHere returns the names of the jobs of the room.
func jobsHere(c *cli.Invocation) completion.Answer {
	room, st := roomHere(c)
	if st == nil {
		return completion.Answer{}
	}
	all, _ := room.Jobs().List()
	var names []string
	for _, j := range all {
		names = append(names, j.Name)
	}
	slices.Sort(names)
	return completion.Words(slices.Compact(names)...)
}

// openNotesHere returns the ids of the open notes, each with its first line.
func openNotesHere(ctx context.Context, c *cli.Invocation) completion.Answer {
	var a completion.Answer
	room, st := roomHere(c)
	if st == nil {
		return a
	}
	notes, err := notesPage(ctx, room, st, turn.NoteQuery{Limit: mostNotes})
	if err != nil {
		return a
	}
	for _, n := range notes {
		first, _, _ := strings.Cut(n.Body, "\n")
		a.Candidates = append(a.Candidates, completion.Candidate{Word: n.ID, What: n.Author + ": " + shortened(first)})
	}
	return a
}

// openQuestionsHere returns the ids of the open questions, each with its first line.
func openQuestionsHere(ctx context.Context, c *cli.Invocation) completion.Answer {
	var a completion.Answer
	room, st := roomHere(c)
	if st == nil {
		return a
	}
	open, err := questions.Of(room).Questions(ctx, st, questions.QuestionQuery{All: true})
	if err != nil {
		return a
	}
	for i := range open {
		a.Candidates = append(a.Candidates, completion.Candidate{Word: open[i].ID, What: open[i].From + ": " + preview(open[i].Text)})
	}
	return a
}
