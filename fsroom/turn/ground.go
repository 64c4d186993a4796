package turn

import (
	"cmp"
	"strconv"
	"strings"
)

// What can be wrong with the holder of the turn.
const (
	GuardianStopped = "guardian_stopped"
	GuardianEnded   = "guardian_ended"
	GuardianUnseen  = "guardian_unseen" // it is in another pid namespace, or ended with one
	HarnessStopped  = "harness_stopped"
	HarnessEnded    = "harness_ended"
	LockStopped     = "lock_held_by_stopped" // a stopped process has the lock of the room
	CutOff          = "cut_off"              // the holder's host cannot reach the engine that shares the room
	HolderAsks      = "asks"                 // the holder waits for its user
	HolderLimited   = "limited"              // its model has reached a limit
	HolderIdle      = "idle"                 // its model has ended its turn without a release
)

// A ground is a reason for which a turn may be taken over, or one thing that is wrong with its holder: what
// it makes of the room, and its words. All that is said of a ground comes from grounds.
type ground struct {
	state    string // of the room; "": the ground makes none
	short    string // in a word or two
	fact     string
	which    string // fact as it follows the name of the holder or recipient
	evidence string // why a takeover is possible, beside what is wrong with the holder; "": that says it
	then     string // what follows, unless others may take the turn
	do       string // the one next step, unless the circumstances have another
}

// Rows of grounds that results show under another name.
const (
	noGuardian   = "no_guardian"   // [GuardianEnded]: none was started
	sessionEnded = "session_ended" // [HarnessEnded]: the session has ended, whatever its process does
)

// grounds are the grounds by the name of a takeover reason or a [Trouble]. The words have the names that fill knows.
var grounds = map[string]ground{
	ReasonOwnerGone:     {state: StateOwnerGone, short: "owner gone", fact: "the owner {agent} is gone", which: "which is gone"},
	ReasonRecipientGone: {state: StateRecipientGone, short: "next gone", fact: "{agent}, for whom the turn is reserved, is gone", which: "which is gone"},
	ReasonOwnerTimeout: {state: StateStaleOwner, short: "lease over", fact: "the lease of {agent} has run out", which: "whose lease ran out at {end}",
		evidence: "the lease of {agent} ran out {past} ago and was not renewed"},
	ReasonClaimTimeout: {fact: "{agent} did not claim the turn in time", which: "which did not come by {end}",
		evidence: "{agent} did not claim the turn within {ttl}"},
	ReasonOwnerIdle: {short: HolderIdle, fact: "the model of {agent} is idle",
		evidence: "{agent} ended its model's turn at {since} and has not released since", do: "{take}"},
	ReasonOwnerLimited: {short: HolderLimited, fact: "the model of {agent} has reached a limit",
		evidence: "the model of {agent} is limited since {since}", do: "{take}"},

	GuardianStopped: {short: "stopped", fact: "{guardian} is stopped", do: hintContinue},
	GuardianEnded:   {short: "ended", fact: "{guardian} has ended", do: "{take}"},
	noGuardian:      {short: "ended", fact: "no guardian renews the lease of {agent}", do: "{take}"},
	GuardianUnseen: {short: GuardianUnseen, fact: "{guardian} cannot be seen from here: it is in another pid namespace, or has ended with one",
		do: hintNewGuardian},
	HarnessStopped: {short: "stopped", fact: "{process} is stopped", then: "it keeps the turn and does nothing", do: hintContinue},
	HarnessEnded:   {short: "ended", fact: "{process} has ended", do: "{take}"},
	sessionEnded:   {short: "ended", fact: "{agent} is gone: its session has ended", do: "{take}"},
	CutOff:         {short: "cut off", fact: "the engine has not confirmed the turn of {agent} since {since}"},
	HolderAsks:     {short: HolderAsks, fact: "{agent} waits for an answer of its user", do: hintAnswerAgent},
	LockStopped: {short: "stopped", fact: "process {pid}, which has the lock of the room, is stopped", then: "nobody can change the room",
		do: hintContinue},
}

// fill puts the agent and one of its processes into words, 0: it is not known, and what pairs of name and value say.
func fill(words, agent string, pid int, pairs ...string) string {
	process, guardian, n := "the process of "+agent, "the guardian of "+agent, strconv.Itoa(pid)
	if pid != 0 {
		process, guardian = "process "+n+" of "+agent, guardian+" (process "+n+")"
	}
	return strings.NewReplacer(append(pairs, "{agent}", agent, "{process}", process, "{guardian}", guardian, "{pid}", n)...).Replace(words)
}

// Stuck says in two words why a room in a state waits for somebody who takes the turn over, "" if it does not.
func Stuck(state string) string {
	if state == StateStaleOwner {
		return grounds[ReasonOwnerTimeout].short
	}
	return grounds[state].short // the other reasons have the names of their states
}

// TakeoverFact says in a sentence about the owner or recipient why a turn may be taken over for the reason.
func TakeoverFact(reason, agent string) string { return fill(grounds[reason].fact, agent, 0) }

// takeoverReason returns the reason that makes a takeover possible, "" if there is none.
func (s *State) takeoverReason(f Facts) string {
	m := s.Member(cmp.Or(s.Owner, s.ReservedFor))
	gone := m != nil && f.Gone(s, m)
	switch {
	case !s.Open, s.Owner == "" && s.ReservedFor == "":
		return ""
	case gone && s.Owner != "":
		return ReasonOwnerGone
	case gone:
		return ReasonRecipientGone
	case s.LeaseExpired(f):
		return ReasonOwnerTimeout
	case s.ClaimExpired(f):
		return ReasonClaimTimeout
	}
	if reason, left := s.rest(f); left == 0 {
		return reason
	}
	return ""
}

// which says after the name of the owner or recipient why the turn may be taken over, "" if it may not, or the
// holder only rests.
func (s *State) which(f Facts) string {
	end, claim := s.deadlines(f)
	if end = cmp.Or(end, claim); end == nil {
		return ""
	}
	return fill(grounds[s.takeoverReason(f)].which, "", 0, "{end}", end.Format(utcClock))
}
