package ttcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var statusCommand = &cli.Command{
	Name:  "status",
	Reads: true,
	Args:  []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.Bool("prompt", "a fragment for PS1, see tt help prompt init")
		freshFlag(f)
	},
	Run: runStatus,
}

// A statusResult is the state of the room from the caller's point of view.
type statusResult struct {
	RoomID        string `json:"room_id"`
	CanonicalPath string `json:"canonical_path"`
	turn.Position
	AgentID      string         `json:"agent_id"`
	Member       bool           `json:"member"`
	Observer     bool           `json:"observer,omitempty"`
	Listening    string         `json:"listening,omitempty"` // as of members
	Reach        string         `json:"reach,omitempty"`
	Within       time.Duration  `json:"-"`
	YouOwn       bool           `json:"you_own"`
	ActsFor      string         `json:"acts_for,omitempty"`    // the owner, one of whose commands has started the caller's session
	HeldBy       int            `json:"held_by_pid,omitempty"` // the process of the caller's session that has the turn, in another window
	YourTurnNext bool           `json:"your_turn_next"`
	Guardian     member.Renewal `json:"guardian"`
	Process      turn.Process   `json:"process,omitempty"`  // of the owner, or of whom the turn is reserved for
	GoneAt       *event.Time    `json:"gone_at,omitempty"`  // see [turn.State.GoneAt]
	Doubt        string         `json:"-"`                  // of whom the turn is reserved for, see [turn.MemberView]
	Activity     *turn.Activity `json:"activity,omitempty"` // of the owner
	Waiting      []string       `json:"waiting,omitempty"`
	Unread       int64          `json:"unread"`
	Owed         int64          `json:"owed"`    // questions that the caller owes an answer
	Answers      int64          `json:"answers"` // to its questions, not shown to it yet
	Interrupts   int            `json:"unread_interrupts,omitempty"`
	OpenNotes    int            `json:"open_notes"`
	OpenPages    int            `json:"open_pages,omitempty"`
	Locks        []*locks.View  `json:"locks,omitempty"` // of the workspace, that somebody has or waits for
	NextAction   string         `json:"next_action"`

	Verdicts []ledger.LastVerdict `json:"verdicts,omitempty"` // the last ones of the tree, one a name

	Siblings []member.Sibling `json:"siblings"` // the other working trees of the repository

	JournalShortened *event.Lost `json:"journal_shortened,omitempty"` // what the journal has lost
	lastKnown
}

func runStatus(ctx context.Context, c *cli.Invocation) error {
	if c.Bool("prompt") {
		return printFragment(c)
	}
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	if room.ActsFor(seen.State) == "" {
		hooks.NoticeOldSession(c.Env, room.Client, c.Notice)
	}
	now := room.Look(seen)
	st, f := now.State, now.Facts
	res := statusFor(room, st, f)
	res.lastKnown = knownOf(c, room)
	if res.Unread > 0 {
		if res.Interrupts, err = mailbox.Of(room).UnreadInterrupts(ctx, st); err != nil {
			return err
		}
	}
	res.Locks, res.Siblings = locksOf(room), room.Siblings(room.Workspace)
	res.Verdicts = changes.LastVerdicts(ctx, room, st, ledgerSetting(c))
	res.JournalShortened = now.Seen.Lost
	outside := outsideText(ctx, c, room, st)
	return c.Out.Result(res, func(t *cli.Text) { writeStatus(t, st.Room(f), res, outside) })
}

func statusFor(room *member.Room, st *turn.State, f turn.Facts) statusResult {
	v := st.Room(f)
	res := statusResult{
		RoomID: v.RoomID, CanonicalPath: v.CanonicalPath, Position: v.Position, AgentID: room.Self.ID, Member: room.IsMember(st),
		YouOwn: v.Owner == room.Self.ID, HeldBy: f.Window,
		YourTurnNext: v.ReservedFor == room.Self.ID || st.Pending.Preferred == room.Self.ID,
		ActsFor:      room.ActsFor(st), Guardian: room.Renewal(st), Unread: mailbox.Of(room).Unread(st).Messages,
	}
	res.Owed, res.Answers = mailbox.Of(room).Debts(st)
	for _, note := range st.Notes {
		if note.Target == "" || note.Target == room.Self.ID {
			res.OpenNotes++
			if note.Severity == talk.SeverityPage {
				res.OpenPages++
			}
		}
	}
	for _, m := range st.MemberViews(f) {
		if m.AgentID == room.Self.ID {
			res.Observer, res.Listening, res.Reach, res.Within = m.Observer, m.Listening, m.Reach, m.Within
		}
		if m.AgentID == cmp.Or(v.Owner, v.ReservedFor) {
			res.Process, res.GoneAt, res.Doubt = m.Process, m.GoneAt, m.Why
		}
		if m.Waiting {
			res.Waiting = append(res.Waiting, m.AgentID)
		}
	}
	if v.Activity.What != "" {
		res.Activity = &v.Activity
	}
	res.NextAction = member.Next(nextAction(res), room.In(room.Client.Dir, room.Path(st)))
	return res
}

// statusSiblings is how many other working trees the text names.
const statusSiblings = 5

// otherWindow is what to do in a window of a session that has the turn in another one.
const otherWindow = "go on in the other window, or tt wait"

// nextAction returns what the caller should do now.
func nextAction(r statusResult) string {
	switch {
	case turn.IsCutOff(r.Trouble) && r.YouOwn:
		return r.Trouble[0].Do
	case turn.IsCutOff(r.Trouble):
		return "tt wait: it goes on when the engine answers"
	case r.HeldBy != 0:
		return otherWindow
	case r.ActsFor != "":
		return member.WorkFor(r.ActsFor)
	case r.YouOwn && (r.State == turn.StateStaleOwner || r.Guardian.Status != turn.Alive):
		return "tt wait, to get a guardian for your turn again"
	case r.YouOwn:
		return "work; then tt release with a handoff"
	case turn.Stuck(r.State) != "":
		return `tt take --reason "…", if you mean to go on in their place`
	case r.YourTurnNext:
		return "tt wait: the turn is yours"
	case r.Owed+r.Answers+r.Unread > 0 && !r.Member && !turn.IsPerson(r.AgentID):
		return "tt join, then tt inbox"
	case r.Owed+r.Answers+r.Unread > 0:
		return "tt inbox, then tt wait"
	}
	if turn.IsPerson(r.AgentID) {
		return "nothing to do; tt take gives you the stick at any time, and looking needs none"
	}
	return "tt wait, before you change shared files"
}

func writeStatus(t *cli.Text, v turn.RoomView, r statusResult, outside string) {
	v.JournalShortened = r.JournalShortened
	writeRoom(t, v)
	if r.Doubt != "" && r.Owner == "" { // what is wrong with an owner is its trouble
		t.Line("        %s: %s", r.ReservedFor, r.Doubt)
	}
	if outside != "" {
		t.Line("%s", outside)
	}
	switch {
	case r.HeldBy != 0:
		t.Line("You     %s, holding the stick in another window (process %d)", r.AgentID, r.HeldBy)
	case r.YouOwn && turn.IsCutOff(r.Trouble):
		t.Line("You     %s, who had the stick when the engine confirmed it last", t.Yellow(r.AgentID))
	case r.YouOwn:
		guardian := string(r.Guardian.Status)
		if r.Guardian.PID != 0 {
			guardian = fmt.Sprintf("%d is %s", r.Guardian.PID, guardian)
		}
		if r.Guardian.Ended != "" {
			guardian += ": " + r.Guardian.Ended
		}
		t.Line("You     %s, holding the stick; guardian %s", t.Green(r.AgentID), guardian)
	case r.Observer:
		t.Line("You     %s, an observer", r.AgentID)
	case r.Member:
		t.Line("You     %s", r.AgentID)
	default:
		t.Line("You     %s, not a member", r.AgentID)
	}
	if r.Listening != "" || r.Reach == turn.ReachNextPrompt {
		t.Line("Hears   %s", reachWords(r.Listening, r.Reach, r.Within))
	}
	if len(r.Waiting) > 0 {
		t.Line("Waiting %s", strings.Join(r.Waiting, ", "))
	}
	if r.Owed > 0 || r.Answers > 0 {
		where := ": tt inbox"
		if !r.Member && !turn.IsPerson(r.AgentID) {
			where = ""
		}
		t.Line("For you %s to answer, %s to your questions%s", counted(int(r.Owed), "question"), counted(int(r.Answers), "answer"), where)
	}
	if r.Unread > 0 || r.OpenNotes > 0 {
		t.Line("For you %s, %s", countedUrgent(t, int(r.Unread), "unread message", r.Interrupts, "interrupt"),
			countedUrgent(t, r.OpenNotes, "open note", r.OpenPages, "page"))
	}
	lock, tree, tested := titled(t, "Locks"), titled(t, "Trees"), titled(t, "Tested")
	for _, words := range ledger.LastWords(r.Verdicts, t.Ago) {
		tested(words)
	}
	for _, l := range r.Locks {
		lock(lockWords(l, t.Now))
	}
	for i, s := range member.HoldersFirst(r.Siblings) {
		if i == statusSiblings {
			tree(fmt.Sprintf("and %d more: tt list", len(r.Siblings)-i))
			break
		}
		words := s.Name(r.CanonicalPath) + "  " + cmp.Or(s.State, "no room")
		if s.Owner != "" {
			words += " by " + s.Owner
		}
		tree(words)
	}
	t.Line("Next    %s", r.NextAction)
}

// titled returns a function that writes lines, the first of them behind the title.
func titled(t *cli.Text, title string) func(words string) {
	return func(words string) {
		t.Line("%-7s %s", title, words)
		title = ""
	}
}

// countedUrgent returns a number of things, with how many of them are urgent.
func countedUrgent(t *cli.Text, n int, thing string, urgent int, mark string) cli.Styled {
	words := cli.Styled(counted(n, thing))
	if urgent > 0 {
		words += " (" + t.Red(counted(urgent, mark)) + ")"
	}
	return words
}

var stateCommand = &cli.Command{
	Name:  "state",
	Reads: true,
	Args:  []cli.Arg{pathArg},
	Flags: freshFlag,
	Run:   runState,
}

// A stateResult is the room and its members.
type stateResult struct {
	Room    turn.RoomView     `json:"room"`
	Members []turn.MemberView `json:"members"`
	lastKnown
}

func runState(ctx context.Context, c *cli.Invocation) error {
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	now := room.Look(seen)
	st, f := now.State, now.Facts
	res := stateResult{Room: st.Room(f), Members: st.MemberViews(f), lastKnown: knownOf(c, room)}
	res.Room.JournalShortened = now.Seen.Lost
	return c.Out.Result(&res, func(t *cli.Text) {
		writeRoom(t, res.Room)
		writeMembers(t, res.Members, room.Self.ID)
	})
}
