package turn

import (
	"slices"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A JobEndRequest tells the agent that started a job of its end, and those who wanted the same and joined it.
type JobEndRequest struct {
	Agent  string
	Joined []string
	At     event.Time // when it ended
	talk.JobEnd
}

// EndJob tells of the end of a job, once: there are no events if it was told before. Nor is there one for
// an agent that is no member, or has joined the room since: what it started before it left is
// no business of its new membership.
func EndJob(s *State, r JobEndRequest) (events []event.Event) {
	if !s.Open || s.JobTold(r.Host, r.ID) {
		return nil
	}
	for _, agent := range append([]string{r.Agent}, r.Joined...) {
		if m := s.Member(agent); m != nil && !m.JoinedAt.After(r.At.Time) {
			events = append(events, event.Event{Type: JobEnded, Turn: s.Turn, From: agent, To: agent, Payload: payload(&r.JobEnd)})
		}
	}
	return events
}

// toldJobs returns the jobs of a host whose end was told.
func (s *State) toldJobs(host string) *talk.ToldJobs {
	for i := range s.Jobs {
		if s.Jobs[i].Host == host {
			return &s.Jobs[i]
		}
	}
	return &talk.ToldJobs{Host: host, Below: 1}
}

// JobTold reports whether the starter of the job was told of its end.
func (s *State) JobTold(host string, id int64) bool { return s.toldJobs(host).Has(id) }

// HighestJob returns the highest number of a job of the host whose end was told, or a higher number.
func (s *State) HighestJob(host string) int64 { return s.toldJobs(host).Highest() }

func (s *State) applyJobEnded(e *event.Event, j talk.JobEnd) {
	s.applyMail(e)
	told := s.toldJobs(j.Host).With(j.ID, j.Oldest)
	s.Jobs = append(slices.DeleteFunc(s.Jobs, func(t talk.ToldJobs) bool { return t.Host == j.Host }), told)
}
