package ttcmd

import (
	"context"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/completion"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// roomHere is the room of the current directory, nil if there is none or it
// cannot be read.
func roomHere(c *cli.Invocation) (*seat, *turn.State) {
	store, err := openStore(c)
	if err != nil {
		return nil, nil
	}
	w, err := locate(c.Env, "")
	if err != nil {
		return nil, nil
	}
	d := &desk{call: c, store: store, table: identity.System()}
	s, err := d.find(w)
	if err != nil || s == nil {
		return nil, nil
	}
	snap, err := s.view()
	if err != nil {
		return nil, nil
	}
	return s, snap.State
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

// recipients are the agents of the room, and the words that stand for some.
func recipients(c *cli.Invocation, command string) completion.Answer {
	a := agentsHere(c)
	switch command {
	case "msg send":
		a.Candidates = append(a.Candidates, completion.Candidate{Word: "room", What: "everybody"})
	case "assign", "pass":
		a.Candidates = append(a.Candidates, completion.Candidate{Word: "next", What: "the fairest"})
	}
	return a
}

// openNotesHere are the ids of the open notes, with the first line of each.
func openNotesHere(ctx context.Context, c *cli.Invocation) completion.Answer {
	var a completion.Answer
	s, st := roomHere(c)
	if st == nil {
		return a
	}
	notes, err := s.notes(ctx, st, false, "", mostNotes)
	if err != nil {
		return a
	}
	for _, n := range notes {
		first, _, _ := strings.Cut(n.Body, "\n")
		a.Candidates = append(a.Candidates, completion.Candidate{Word: n.ID, What: n.Author + ": " + shortened(first)})
	}
	return a
}

// shortened is text that fits a line of a menu.
func shortened(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
