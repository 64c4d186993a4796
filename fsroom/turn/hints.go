package turn

import (
	"fmt"
	"strings"
	"time"
)

// This file has every text of the rules that names a command or a flag of tt. A
// refusal carries the next move with it, so that all programs on top of the rules
// give the same advice.
const (
	hintJoin         = `join it with "tt join"`
	hintReopen       = `open it again with "tt join"`
	hintStop         = `stop changing shared files, look with "tt state", wait with "tt wait"`
	hintGetTurn      = `get one with "tt wait"; if you had it before a crash, "tt wait" gives it back`
	hintNobodyElse   = `hand over to whoever comes with "tt release"`
	hintReleased     = `the handoff is in the journal: "tt events --after %d --limit 1"; wait for the next turn with "tt wait"`
	hintLookAgain    = `look with "tt state" before you decide again`
	hintGiveReason   = `say why with --reason "…", or pass --operator-requested if a person asked for it`
	hintCloseReason  = `say why with --reason "…": everybody who waits is told`
	hintCloseLater   = `get the turn with "tt wait", and close the room then; a person may close it now`
	hintOthersFirst  = `wait with "tt wait": the turn is yours if nobody else wants it`
	hintNoTakeover   = `wait with "tt wait"; if a person wants it now: "tt take --operator-requested --reason …"`
	hintToldTurn     = `run "tt wait", which gives it back with its handoff`
	hintLeave        = `leave with "tt leave"`
	hintForce        = "only a member that is gone or long silent is kicked without --force"
	hintNoteNoTurn   = "without --turn the note is about the room"
	hintListNotes    = `list them with "tt notes list"`
	hintOtherWindow  = `go on there, or wait with "tt wait"; if your user wants the turn in this window: "tt take --operator-requested --reason …"`
	hintElsewhere    = `an agent is on one host: go on there, or act here as another one with --agent, which may wait for the turn; if %s is lost, "tt take --reason …" takes the turn over here as soon as it counts as gone`
	hintKickableSoon = "it can be kicked in %s, or now with --force"
	hintContinue     = `kill -CONT {pid}`
	hintTake         = `tt take --reason "…"`
	hintReleasedAt   = `its turn, which hooks took, is released by itself at %s; a person may take it at once`
	hintTakeLater    = `tt take --reason "…" from %s on; a person may at once`
	hintAnswerAgent  = `answer it in the terminal of {agent}`
	hintAskRelease   = `tt msg send {agent} "please release the turn"`
	hintStopJob      = `tt job stop %d, by a person: the turn ends with its job %s, which runs still`
	hintCutOff       = `stop writing at %s, when its edit guard closes; another may have the turn from %s on; once the engine answers, "tt wait" says who has it`
	hintCutOffLong   = `stop writing: another may have the turn from %s on; once the engine answers, "tt wait" says who has it`
	// To an agent that may take over from one that is silent, but may still work, and from one that has ended.
	hintMakeSure    = `make sure that {agent} does not work any more: ask it with "tt msg send {agent} …" and look at the uncommitted changes; then "tt take --reason …"`
	hintEnded       = `{agent} cannot answer any more: look at the uncommitted changes; then "tt take --reason …"`
	hintNewGuardian = `have {agent} run "tt wait", which starts a guardian`
)

// utcClock is how times of this day are written in sentences.
const utcClock = "15:04:05 UTC"

// deliveryHint tells the sender of a message, to an agent or to [Everyone], what to do if
// nothing tells the recipient of it. It is "" if something does.
func deliveryHint(delivery, to, sender string) string {
	wake := "ask a person to wake "
	if IsPerson(sender) {
		wake = "wake "
	}
	switch {
	case delivery == DeliveryNextPrompt && to == Everyone:
		return "the members see it when their models next work"
	case delivery == DeliveryNobody && to == Everyone:
		return `nothing tells the members of it: ` + wake + `one of them; "tt why" shows who can hear`
	case delivery == DeliveryNextPrompt:
		return to + ` sees it when its model next works; with "tt wait --inbox" it would be told at once`
	case delivery == DeliveryNobody && IsPerson(to):
		return to + ` sees it when it next looks, at the console or with "tt inbox"`
	case delivery == DeliveryNobody:
		return fmt.Sprintf(`nothing tells %s of it: %sit; "tt why %s" shows how it can hear`, to, wake, to)
	}
	return ""
}

// listeningHint tells the sender of a message to an agent that listens why it may not hear of
// it at once. It is "" if it does.
func listeningHint(h Hearing, to string) string {
	switch {
	case h.How == ByHold:
		return to + " sees it " + ifStopped
	case h.Within > 0:
		return to + " sees it " + Soon(h.Within) + "; with the server of its harness it would be told at once"
	}
	return ""
}

// ifStopped says when an agent hears that a hook holds: the hook is not told of Esc.
const ifStopped = "at its next prompt if its user has pressed Esc"

// hintNobodyTells is the advice to who has assigned the turn to a member that nothing
// tells of it.
func hintNobodyTells(agent, by string) string {
	wake, back := "ask a person to wake it", `others may take the turn when the claim time is over, and you if your user asks for it: "tt take --operator-requested --reason …"`
	if IsPerson(by) {
		wake, back = "wake it", `"tt take --reason …" gets the turn back`
	}
	return fmt.Sprintf("nothing tells %s that the turn is its own while its model is idle: %s; if it does not come, %s", agent, wake, back)
}

// IsPerson reports whether the id is that of a person and not of a harness.
func IsPerson(id string) bool {
	name, found := strings.CutPrefix(id, "human:")
	return found && name != ""
}

// spoken formats a duration as people say it, such as 13s, 20m or 1h5m.
func spoken(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", max(0, d.Milliseconds()))
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	hours, minutes := d/time.Hour, d%time.Hour/time.Minute
	if minutes == 0 {
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dh%dm", hours, minutes)
}
