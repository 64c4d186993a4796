package main

import (
	"github.com/talking-stick/tt/cmd/internal/completion"
	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// roomHere is the room of the current directory, nil if there is none or it
// cannot be read.
func roomHere(c *front.Call) *turn.State {
	store, err := openStore(c)
	if err != nil {
		return nil
	}
	w, err := fsroom.Locate("", c.Env.Dir, c.Env.Home)
	if err != nil {
		return nil
	}
	d := &desk{call: c, store: store, table: identity.System()}
	s, err := d.find(w)
	if err != nil || s == nil {
		return nil
	}
	snap, err := s.view()
	if err != nil {
		return nil
	}
	return snap.State
}

func agentsHere(c *front.Call) completion.Answer {
	var a completion.Answer
	st := roomHere(c)
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
func recipients(c *front.Call, command string) completion.Answer {
	a := agentsHere(c)
	switch command {
	case "msg send":
		a.Candidates = append(a.Candidates, completion.Candidate{Word: "room", What: "everybody"})
	case "assign", "pass":
		a.Candidates = append(a.Candidates, completion.Candidate{Word: "next", What: "the fairest"})
	}
	return a
}

func openNotesHere(c *front.Call) completion.Answer {
	var a completion.Answer
	if st := roomHere(c); st != nil {
		for _, n := range st.Notes {
			a.Candidates = append(a.Candidates, completion.Candidate{Word: n.ID, What: "by " + n.Author})
		}
	}
	return a
}
