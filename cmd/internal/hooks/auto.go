package hooks

import (
	"context"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills"
)

// autoVariable is the variable that, set to off, keeps tt from taking turns by itself.
const autoVariable = "TALKING_STICK_AUTO"

// actsAlone reports whether tt takes turns for the session by itself: its hooks are installed,
// and "tt install" has switched that on.
func (h *run) actsAlone() bool {
	shape := h.row().Hooks
	if h.call.SessionID == "" || turn.IsOff(h.Env.Lookup(autoVariable)) || !(shape.Has(harness.KindShell) || shape.Shape == harness.Plugin) {
		return false
	}
	dir, err := workspace.DataDir(h.Env.Lookup, h.Env.Home) // what is installed is not of an engine
	return err == nil && skills.Auto(dir) == "on" && h.installed().Runs(h.call.Harness, harness.KindShell, harness.KindFails)
}

func (h *run) installed() skills.Environment {
	return skills.Environment{Home: h.Env.Home, Getenv: h.Env.Lookup}
}

// arrive takes a place for a session that begins, and says who else works there.
func (h *run) arrive(agent *listen.Agent, w *workspace.Workspace) string {
	if !h.actsAlone() {
		return ""
	}
	others := placesIn(w.Root, agent.Client).others(true)
	if len(others) == 0 {
		return ""
	}
	works := "works"
	if len(others) > 1 {
		works = "work"
	}
	return fmt.Sprintf("Talking Stick: %s %s in %s, too. Your first change takes the turn or tells you to wait.", cli.Line(strings.Join(others, ", ")), works, cli.Line(w.Root))
}

// auto is what the guards ask where tt takes turns by itself: it adds to the stick of a
// workspace, nil if it has no room, what a write of the session has to do.
func (h *run) auto(w *workspace.Workspace, room *member.Room, st *turn.State, f turn.Facts, stick *guard.Stick) *guard.Stick {
	agent, err := h.sessionAgent()
	if err != nil {
		return stick
	}
	me, late := agent.Client.Self.ID, h.isLate(agent)
	var others []string
	if p := placesIn(w.Root, agent.Client); late { // it has no place any more, and sees who has
		others, _, _ = p.look()
	} else {
		others = p.others((stick == nil || !stick.ActsForHolder) && h.worksIn(w.Root, me))
	}
	switch {
	case st == nil:
		if len(others) > 0 {
			stick = &guard.Stick{Root: w.Root, ShellGuard: true, Take: true}
		}
		return stick
	case late && st.Owner == me: // others may have it, or soon
		stick.Me, stick.Holder, stick.Take = "", "", true
		return stick
	case st.Policy.Auto == "off" || st.Owner == me && f.Window == 0 || stick.Window != 0 ||
		stick.Holder != "" && stick.Holder == stick.Me || stick.ActsForHolder:
		return stick
	case stick.Holder != "":
		holder := stick.Holder
		if stick.Next = func() string { return h.want(w, holder) }; late { // it wants nothing, and joins nothing
			stick.Next = func() string { return "This session has ended. " + goesOnWith }
		}
		return stick
	}
	for _, id := range st.Others(me) { // those of other hosts have no place here
		if m := st.Member(id); room.IsShared() && !m.Observer && f.Presence(id).Process != turn.Gone {
			others = append(others, id)
		}
	}
	stick.Take = len(others) > 0 || st.Owner != "" || st.ReservedFor != ""
	return stick
}

// want records that the session wants the turn of a workspace, and says what it is to do. If the holder has it no
// more, nobody calls the session, and the guard has to look again.
func (h *run) want(w *workspace.Workspace, holder string) string {
	agent, err := h.changing()
	if err != nil {
		return waitYourself(w.Path)
	}
	h.beCallable(agent)
	room, st, err := agent.Client.WantAuto(context.Background(), w)
	if err != nil {
		return waitYourself(w.Path)
	}
	h.again = st.Owner != holder && h.lost < mostLost
	return h.next(agent, room, st, w)
}

// beCallable makes the file that wakes the session, before it becomes a member of a room that would forget it without: the
// hook at its beginning may not have run.
func (h *run) beCallable(agent *listen.Agent) {
	if h.watches() {
		_, _ = agent.WakePath()
	}
}

func waitYourself(path string) string {
	return "Wait for your turn with: tt wait --json --path " + code.ShellWord(path)
}

// next says what a session that wants the turn is to do: where something calls it, it may end the turn of its model.
func (h *run) next(agent *listen.Agent, room *member.Room, st *turn.State, w *workspace.Workspace) string {
	if l := agent.Client.Hearing().Listener(); !h.isGuest(agent) && (l.Session != h.call.SessionID || !isOf(l.Process, agent)) {
		_ = h.open(context.Background(), agent, false)
	}
	h.startHearing(agent)
	if !h.isGuest(agent) && (h.startListener(agent) || h.isCalled(agent)) { // of a guest, the first window is called
		h.keepPromises(agent, agent.Client.RoomsHeard(), false)
		return "You are " + ordinal(room.Place(st)) + ". End your turn: you are called when it is yours."
	}
	if !h.isProved(agent) {
		if h.call.Foreign {
			agent.CannotWake("another program runs the hooks of " + string(h.call.Harness))
		}
		return "You are " + ordinal(room.Place(st)) + ". Do the same again when it is free."
	}
	return waitYourself(w.Path)
}

// keepPromises has the session notified that may have the turn of a room by time alone, where no guardian calls it: that of the
// holder has ended, or nobody holds the turn, and that of the turn before has ended. Whoever has promised the call may have been
// killed. With all it does so for each member, and notifies those that may have the turn now.
func (h *run) keepPromises(agent *listen.Agent, heard []*member.Room, all bool) {
	for _, room := range heard {
		snap, err := room.FS.View()
		if err != nil || !all && !room.Wants() {
			continue
		}
		st, f := snap.State, room.Facts(snap.State)
		if guardian := f.Support().Guardian; st.Owner != "" && guardian != turn.Gone && guardian != turn.NoProcess {
			continue
		}
		if all {
			room.CallWanting(st, f)
		}
		for _, id := range st.Others("") {
			if after := room.UntilCalled(st, f, id); after > 0 && (all || id == agent.Client.Self.ID) {
				h.notifyAfter(agent.Client, id, after)
			}
		}
	}
}

// isCalled reports whether the session is woken when its model is idle, although nothing listens for it now.
func (h *run) isCalled(agent *listen.Agent) bool {
	hooks := h.row().Hooks
	if agent.Client.Hearing().Listens() != "" {
		return true
	}
	return h.isProved(agent) && (h.watches() || hooks.Has(harness.KindListen) && h.lasts() ||
		hooks.Hold && h.installed().Holds(h.call.Harness) ||
		hooks.Shape == harness.Plugin)
}

func ordinal(n int) string {
	if words := []string{"", "first", "second", "third", "fourth", "fifth"}; n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("number %d", n)
}

// leaveAuto removes the agent from a room that a hook has made it a member of, unless its session was resumed meanwhile, or
// a message waits for that.
func (h *run) leaveAuto(ctx context.Context, room *member.Room) {
	if !room.IsSilent() {
		return
	}
	if room, err := h.toChange(room); err == nil {
		_, err = room.Leave(ctx, func(st *turn.State) bool { return mailbox.Of(room).Unread(st).Messages > 0 })
		h.log(err)
	}
}

// changing returns the agent of the session as one that can change rooms, also those of an engine, which hooks
// do not ask otherwise.
func (h *run) changing() (*listen.Agent, error) {
	store, err := h.OpenAll()
	if err != nil {
		return nil, err
	}
	h.store = store
	return h.sessionAgent()
}

// toChange returns a room as one that can be changed, also where an engine has it.
func (h *run) toChange(room *member.Room) (*member.Room, error) {
	if !room.IsShared() {
		return room, nil
	}
	if _, err := h.changing(); err != nil {
		return nil, err
	}
	return h.Client(h.store, room.Self).Room(room.FS.Name(), nil), nil
}

// endAuto ends the turns that hooks have taken for the agent of a session. It returns the room of one that
// goes on for now: it has changed something that another session waits for, and the agent was
// not reminded yet. atEnd says that the session ends, and there is no more to remind of. byHand are the directories of the rooms
// whose turn a command has taken.
func (h *run) endAuto(ctx context.Context, agent *listen.Agent, atEnd bool) (kept bool, byHand []string) {
	memory := told(h.store.Dir())
	for _, room := range agent.Client.RoomsHeard() {
		snap, err := room.FS.View()
		switch {
		case err != nil || snap.State.Owner != agent.Client.Self.ID, h.call.Task && !atEnd && room.IsAuto(snap.State): // it goes on
			continue
		case !room.IsAuto(snap.State):
			byHand = append(byHand, room.Path(snap.State))
			continue
		}
		if room, err = h.toChange(room); err != nil {
			h.log(err)
			continue
		}
		_, reminded, err := room.EndAuto(ctx, nil, func() bool {
			if atEnd {
				return false
			}
			first, remembered := memory.First(h.call, fmt.Sprintf("auto %d %q", snap.State.Turn, room.FS.Name()))
			return first && remembered
		})
		h.log(err)
		kept = kept || reminded
	}
	return kept, byHand
}
