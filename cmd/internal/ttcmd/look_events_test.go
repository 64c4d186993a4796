package ttcmd

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

func TestEventsOfOtherDaysHaveTheDay(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	now := began.Local()
	waitAt(t, file, func(c *cli.Invocation) {
		for _, at := range []time.Time{now, now.AddDate(0, 0, -2)} {
			e := &event.Event{Seq: 7, Turn: 3, Type: turn.MemberJoined, From: "a:1", CreatedAt: event.NewTime(at)}
			if err := (&eventQuery{c: c}).writeEvent(e); err != nil {
				t.Error(err)
			}
		}
	})
	want := now.Format("15:04:05") + "  7  turn 3  member_joined  a:1\n" +
		now.AddDate(0, 0, -2).Format("Jan _2 15:04:05") + "  7  turn 3  member_joined  a:1\n"
	if content, err := os.ReadFile(file.Name()); err != nil || string(content) != want {
		t.Errorf("%q, %v, want %q", content, err, want)
	}
}
