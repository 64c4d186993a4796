package member

import (
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A Sight is what an observer sees of a member beyond its [turn.MemberView].
type Sight struct {
	PID        int       // of the process that stands for the member; 0: none is known
	Stopped    bool      // that process is suspended
	WaitsSince time.Time // when its present wait began; zero: it does not wait
}

// Sight returns what is to be seen of a member. Its process is the last one recorded
// that lives, and for an owner of which none is known its guardian.
func (r *Room) Sight(st *turn.State, id string) (s Sight) {
	if a := r.FS.Agent(id); a.Held(waitingFile) {
		s.WaitsSince = a.Marked(waitingFile)
	}
	processes := r.processRecord(id).Processes
	if g := guardianOf(r.recorded(st)); len(processes) == 0 && id == st.Owner && g != nil {
		processes = []identity.Process{*g}
	}
	for _, p := range processes {
		if verdict, stopped := identity.Condition(r.Table, p); verdict == identity.Alive {
			s.PID, s.Stopped = p.PID, stopped
		}
	}
	return s
}
