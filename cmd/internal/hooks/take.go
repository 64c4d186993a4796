package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
)

// take asks for the turn that a write has to have. It answers the hook: with nothing where the
// write may run and the agent has been told, or with a refusal.
func (h *run) take(ctx context.Context, stick *guard.Stick) error {
	agent, err := h.changing()
	if err != nil {
		return h.notTaken(ctx, stick.Root, err)
	}
	if h.isLate(agent) {
		return h.refuseLate(stick.Root)
	}
	w, err := h.Locate(stick.Root)
	if err != nil {
		return err
	}
	h.beCallable(agent)
	var closed *member.ClosedError
	errors.As(agent.Client.CheckClosed(ctx, w), &closed)
	room, st, res, err := agent.Client.TakeAuto(ctx, w)
	h.guest = nil // it may have the turn now, or be a member
	h.note(turn.ActivityWorking)
	switch {
	case err != nil:
		return h.notTaken(ctx, stick.Root, err)
	case res.Status == turn.YourTurn, res.CurrentOwner == agent.Client.Self.ID && res.HeldBy == 0:
		second := res.Status != turn.YourTurn || res.Reason == turn.ReasonOwner // another hook of the session was faster, and tells it
		snap, err := room.FS.View()
		if err == nil && second { // that one may not have recorded its beginning yet
			room.Recorder(snap.State).Before(ctx, snap.State, nil, "")
		}
		if err == nil && room.Recorder(snap.State).Changing() {
			whose := fmt.Sprintf("is yours now (turn %d), but an undo of its holder before is being put back", res.TurnID)
			return h.refuseFor(stick.Root, whose, "Do the same again in a moment.")
		}
		if second {
			return errNotTold
		}
		h.startListener(agent)
		in, text := agent.In(stick.Root), "You have the turn of "+cli.Line(stick.Root)+" now, because another session works here; it is handed on when you stop."
		if h := turn.ReadHandoff(res.Handoff); res.From != "" && res.From != agent.Client.Self.ID && h.Status != "" {
			text += " Before you: " + cli.Line(res.From+" said "+handoffWords(h, in))
		}
		switch n := res.TurnID - 1; {
		case res.Revoked == "":
		case res.Reason == turn.ReasonClaimTimeout || res.Reason == turn.ReasonRecipientGone:
			text += " " + cli.Line(fmt.Sprintf("It was reserved for %s; tt wait --json%s has the handoff.", res.Revoked, in))
		default:
			text += " " + cli.Line(fmt.Sprintf("It was taken over from %s in the middle of turn %d: tt diff %[2]d%[3]s has what that changed, tt wait --json%[3]s all that it left.", res.Revoked, n, in))
		}
		if closed != nil {
			text += " " + cli.Line(closed.Result.From+" had closed the room: "+shorten(closed.Result.Reason)) + "."
		}
		if words := ledger.VerifiedWords(res.Verified); !strings.Contains(text, words) { // an automatic handoff has them
			text += " Verified: " + cli.Line(words) + "."
		}
		return h.finish(payload.Reply{Context: text})
	case res.Status == turn.WaitClosed:
		return h.notTaken(ctx, stick.Root, errors.New("the room has been closed meanwhile"))
	}
	whose := "is held by " + res.CurrentOwner
	switch {
	case res.HeldBy != 0:
		whose = fmt.Sprintf("is held by this session, in another window (process %d)", res.HeldBy)
	case res.CurrentOwner != "":
	case res.ReservedFor != "":
		whose = "is reserved for " + res.ReservedFor
	default:
		whose = "is offered to another session first"
	}
	return h.refuseFor(stick.Root, fmt.Sprintf("%s (turn %d)", whose, res.TurnID), h.next(agent, room, st, w))
}

// refuseFor refuses a write to the tree of root, and says whose its stick is and what to do.
func (h *run) refuseFor(root, whose, next string) error {
	return h.finish(payload.Reply{Refuse: cli.Line(fmt.Sprintf("The talking stick for %s %s, so nothing must be changed there now. %s", root, whose, next))})
}

// comeBack renews the lease of each turn that a write has to have and that the session comes back to. It reports
// whether the session has lost one, so that the guard has to look again. Nothing is permitted before: who
// replaces the session comes first and is seen here, or sees the renewal.
func (h *run) comeBack(ctx context.Context, rooms *rooms) (again bool, err error) {
	for _, t := range rooms.held {
		if !t.stick.ActsForHolder && t.room.Client.Hearing().Enter(t.room.FS.Name()) { // it had left, and the room was put back
			h.note(turn.ActivityWorking)
		}
		if h.call.Command != "" && !t.stick.ShellGuard || !t.room.ComesBack(t.st) {
			continue
		}
		room, err := h.toChange(t.room)
		if err != nil {
			return false, h.notTaken(ctx, t.stick.Root, err)
		}
		err = room.ComeBack(ctx, t.st)
		switch {
		case err == nil:
		case (member.IsOvertaken(err) || code.Of(err) == code.NotJoined) && h.lost < mostLost:
			h.lost++
			again = true
		case !h.hasCompany(t):
			h.log(err)
		default:
			return false, h.notTaken(ctx, t.stick.Root, err)
		}
	}
	return again, nil
}

// looksAgain reports whether a guard has to look again, because the turn for which it refuses has ended meanwhile.
func (h *run) looksAgain() (again bool) {
	if again, h.again = h.again, false; again {
		h.lost++
	}
	return again
}

// mostLost is how often a guard looks again because turns have changed hands. More means that the room as this host knows it is
// behind.
const mostLost = 3

// hasCompany reports whether others are known to work in the tree of a turn that the session has.
func (h *run) hasCompany(t held) bool {
	f := t.room.Facts(t.st)
	for _, id := range t.st.Others(t.st.Owner) {
		if m := t.st.Member(id); !m.Observer && f.Presence(id).Process != turn.Gone {
			return true
		}
	}
	agent, err := h.sessionAgent()
	return err == nil && len(placesIn(t.stick.Root, agent.Client).others(false)) > 0
}

// notTaken answers a hook that could not take the turn that a write has to have, or not renew its lease: others
// work there, so the write is refused. But where nothing can be written, which no session can mend, only one that
// is seen to have the turn is a reason to refuse.
func (h *run) notTaken(ctx context.Context, root string, err error) error {
	h.log(err)
	// Whoever was faster may have the lock still. To look takes none.
	now, _ := h.rooms().Stick(ctx, root, h.call)
	if now != nil && now.Holder != "" && now.Holder != now.Me && !now.ActsForHolder {
		return h.refuseFor(root, fmt.Sprintf("is held by %s (turn %d)", now.Holder, now.Turn), waitYourself(root))
	}
	switch c := code.Of(err); {
	case fsroom.IsUnreachable(err), c == code.EngineRestored, c == code.EngineRewound:
		return h.refuseFor(root, "cannot be confirmed", "The engine is "+member.SinceWords(err)+"; once it answers, tt wait says who has the stick.")
	case c == code.Usage: // a variable of the environment that cannot be read
		return h.refuseFor(root, "cannot be taken", "Tell your user: "+code.MessageOf(err)+".")
	case c == code.DiskFull, c == code.DataDirUnusable:
		done := "take the turn for you"
		if now != nil && now.Holder != "" { // it has the turn
			done = "renew the lease of your turn"
		}
		return h.finish(payload.Reply{Context: cli.Line(fmt.Sprintf("Other sessions work in %s, and Talking Stick could not %s: %v", root, done, err))})
	}
	return h.refuseFor(root, "is just being taken", "Do the same again"+h.stuckLock(err)+".")
}

// lockStuckAfter is how long one process may have the lock of a room before a refusal names it.
const lockStuckAfter = 10 * time.Second

// stuckLock says which process has had the lock of a room for too long, or that the room is damaged, and what to do; "" if
// the error is not of that. The first refusal for the lock is what is known of its beginning, but one that is stopped does not give
// it back.
func (h *run) stuckLock(err error) string {
	var busy *code.Error
	if code.Of(err) == code.CorruptRoom {
		return "; if that does not help, the room is damaged: see tt doctor"
	}
	if !errors.As(err, &busy) || busy.Details["holder_pid"] == nil {
		return ""
	}
	pid, state := busy.Details["holder_pid"], busy.Details["holder_state"]
	since, do := told(h.store.Dir()).Since(fmt.Sprintf("lock %d %q", pid, busy.Details["path"])), "see tt doctor"
	switch {
	case state == "stopped":
		do = fmt.Sprintf("continue it with kill -CONT %d, or end it", pid)
	case since < lockStuckAfter:
		return ""
	}
	return fmt.Sprintf("; the lock of the room is held by process %d (%s), %s: %s", pid, busy.Details["holder_command"], state, do)
}

// mostPart is how much of each part of a handoff is shown with a turn that a hook takes, in bytes.
const mostPart = 250

// handoffWords says what is in a handoff, and where the rest is if that is too much.
func handoffWords(h turn.Handoff, in string) string {
	var artifacts []string
	for _, a := range h.Artifacts {
		artifacts = append(artifacts, a.Text(": "))
	}
	text, cut := "", false
	for _, part := range []struct{ name, text string }{{"", h.Status}, {"; next: ", h.NextAction}, {"; do not: ", strings.Join(h.DoNot, "; ")},
		{"; open: ", strings.Join(h.OpenQuestions, "; ")}, {"; see ", strings.Join(artifacts, ", ")}} {
		if part.text != "" {
			short := shorten(part.text)
			cut = cut || short != part.text
			text += part.name + short
		}
	}
	if cut {
		text += " (all of it: tt wait --json" + in + ")"
	}
	return text
}

func shorten(text string) string {
	if len(text) <= mostPart {
		return text
	}
	return strings.ToValidUTF8(text[:mostPart], "") + "…"
}
