package listen

import (
	"context"
	"strconv"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// SessionLine returns the line that tells an agent, when its session begins, who it is
// and how things stand in the workspace; "" if the workspace has no room. told is whether
// the agent is woken when a turn is offered to it.
func (a *Agent) SessionLine(ctx context.Context, w *workspace.Workspace, told bool) (string, error) {
	room, snap, err := a.Client.Find(w, nil)
	if err != nil || room == nil {
		return "", err
	}
	room.SettleJobs(ctx) // the machine may have been started again
	now := room.Look(snap)
	st, me := now.State, a.Client.Self.ID
	line := "Talking Stick: you are " + cli.Line(me) + " in " + cli.Line(room.Path(st)) + "; " + standing(st, me)
	switch pid, trouble := now.Facts.Window, st.Trouble(now.Facts); {
	case pid != 0:
		return line + " in another window (process " + strconv.Itoa(pid) + "): its changes are made there.", nil
	case st.Owner == me:
		return line + "; end it with a handoff: tt release.", nil
	case room.ActsFor(st) != "":
		return line + " and has started you: you act for it, and wait for no turn.", nil
	case st.Owner != "" && len(trouble) > 0:
		return line + ", but " + trouble[0].Sentence() + ". Do: " + trouble[0].Do, nil
	case st.ReservedFor == me, !room.IsMember(st), !told:
		return line + "; to change files, wait for your turn: tt wait --json.", nil
	}
	return line + "; you are told when it is yours.", nil
}

// standing says who has the turn.
func standing(st *turn.State, me string) string {
	switch {
	case st.Owner == me:
		return "you hold turn " + strconv.FormatInt(st.Turn, 10)
	case st.Owner != "":
		return cli.Line(st.Owner) + " holds turn " + strconv.FormatInt(st.Turn, 10)
	case st.ReservedFor == me:
		return "turn " + strconv.FormatInt(st.Turn+1, 10) + " is reserved for you"
	case st.ReservedFor != "":
		return "turn " + strconv.FormatInt(st.Turn+1, 10) + " is reserved for " + cli.Line(st.ReservedFor)
	}
	return "nobody holds the turn"
}
