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

// AtRest reports whether the free turn wakes nobody. That is so after a number of turns in a row, as
// many as there are members, that agents took because they were woken and that changed
// nothing: the next one would be passed on without end. Whoever asks for the turn gets it,
// which ends that. A turn that is assigned, or that a person releases, wakes as always.
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
