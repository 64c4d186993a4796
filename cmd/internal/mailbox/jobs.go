package mailbox

import (
	"context"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A JobEnd is the end of a job of the agent.
type JobEnd struct {
	Seq int64 `json:"event_seq"`
	turn.JobEnd
	At event.Time `json:"created_at"`
}

// jobEnds returns the ends of jobs that the agent was not shown, oldest first. It reads the
// journal only if there are any.
func (m *Mailbox) jobEnds(ctx context.Context, st *turn.State, at Cursor) ([]JobEnd, error) {
	ends := []JobEnd{}
	count := st.JobEnds(m.Room.Self.ID) - at.Jobs
	if count <= 0 {
		return ends, nil
	}
	events, err := m.Room.LastEvents(ctx, st, false, int(count), func(e *event.Event) bool { return turn.TellsJob(e, m.Room.Self.ID) })
	for i := range events {
		j := turn.JobOf(&events[i])
		j.Oldest = 0
		ends = append(ends, JobEnd{events[i].Seq, j, events[i].CreatedAt})
	}
	return ends, err
}

// addJobs adds the jobs of the agent that have ended.
func (in *Inbox) addJobs(ctx context.Context, m *Mailbox) error {
	ends, err := m.jobEnds(ctx, in.state, in.shown)
	if err != nil {
		return err
	}
	in.Counts.Jobs = int64(len(ends))
	in.Jobs = ends[:min(len(ends), mostInbox)]
	in.shown.Jobs += int64(len(in.Jobs))
	return nil
}

// addJobs adds the jobs of the agent that have ended.
func (n *RoomNews) addJobs(ctx context.Context) error {
	ends, err := n.Mailbox.jobEnds(ctx, n.state, n.cursor)
	for i := range ends {
		n.All.Jobs++
		if ends[i].Seq > n.cursor.Woken.EventSeq {
			n.Fresh.Jobs++
		}
	}
	return err
}

// UnshownJobs calls fn with the ends of jobs that were not shown to the agent. It is like
// Unshown in everything else.
func (n *RoomNews) UnshownJobs(ctx context.Context, fn func(*JobEnd) bool) (rest int, err error) {
	if n.All.Jobs == 0 {
		return 0, nil
	}
	ends, err := n.Mailbox.jobEnds(ctx, n.state, n.cursor)
	count := 0
	for count < len(ends) && fn(&ends[count]) {
		count++
	}
	if count > 0 {
		n.printed.Cursor.Jobs = n.cursor.Jobs + int64(count)
	}
	return len(ends) - count, err
}
