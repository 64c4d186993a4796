package mailbox

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestJobsOfEarlierCursor: a cursor of an earlier version counts the ends of jobs that were shown.
func TestJobsOfEarlierCursor(t *testing.T) {
	f := newFixture(t)
	a := f.join("a:1")
	for id := int64(1); id <= 3; id++ {
		_, _, err := a.Room.Update(context.Background(), nil, func(st *turn.State, facts turn.Facts) ([]event.Event, error) {
			return turn.EndJob(st, turn.JobEndRequest{Agent: "a:1", At: facts.Now.Wall, JobEnd: talk.JobEnd{ID: id, Outcome: talk.JobPassed}}), nil
		})
		f.must(err)
	}
	old := fmt.Sprintf(`{"joined_at":%q,"event_seq":0,"topic_seq":0,"read":0,"jobs":2}`, f.state(a).Member("a:1").JoinedAt)
	f.must(os.WriteFile(a.own().Path(hearing.CursorFile), []byte(old), 0o600))
	in, err := a.Inbox(f.Context())
	f.must(err)
	if len(in.Jobs) != 1 || in.Jobs[0].ID != 3 || in.Counts.Jobs != 1 {
		t.Errorf("%+v, %+v", in.Jobs, in.Counts)
	}
	a.InboxShown(f.Context(), in)
	if n := a.Unread(f.state(a)).Jobs; n != 0 {
		t.Errorf("%d unread after all were shown", n)
	}
}
