package turn

import (
	"fmt"
	"time"
)

// shortTurn is how long a turn lasts at most for which its agent had no use.
const shortTurn = time.Minute

// shortTurns returns how many turns in a row were taken by agents that were woken for them
// and ended soon, if the turn in progress ends at a moment.
func (s *State) shortTurns(end Instant) int64 {
	if !s.Grant.Woken || end.Since(s.Grant.At) >= shortTurn {
		return 0
	}
	return s.ShortTurns + 1
}

// AtRest reports whether nobody is woken for the turn, which is free: since as many turns
// in a row as there are members were of no use to those that were woken for them, the next
// one would be passed on for ever. Whoever asks for the turn gets it, and with that
// the rest ends. A turn that was assigned, or that a person has released, wakes as always.
func (s *State) AtRest() bool {
	p := s.Pending
	return s.Owner == "" && p.Seq != 0 && s.ReservedFor == "" && p.Preferred == "" && s.rests(p.From, s.ShortTurns)
}

// rests reports whether a release by the agent after so many short turns wakes nobody.
func (s *State) rests(agent string, shortTurns int64) bool {
	return shortTurns > 0 && shortTurns > int64(len(s.rivals(agent))) && !s.isPerson(agent)
}

// restWords says why nobody is woken for the turn.
func restWords(turns int64) string {
	return fmt.Sprintf("the last %d turns ended within a minute, by agents that were woken for them: nobody is woken for this one", turns)
}
