package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

// TestJobsAreToldOnce: in whatever order and however often ends are told, each is told once,
// also after the room was read anew from its events.
func TestJobsAreToldOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := room(t, members("a", "b"))
		told := map[string]map[int64]bool{"": {}, "h2": {}}
		oldest := map[string]int64{"": 1, "h2": 1}
		for range rapid.IntRange(1, 60).Draw(rt, "tries") {
			host := rapid.SampledFrom([]string{"", "h2"}).Draw(rt, "host")
			id := rapid.Int64Range(oldest[host], 20).Draw(rt, "id")
			if told[host][oldest[host]] && rapid.Bool().Draw(rt, "forget") {
				oldest[host]++ // its directory is removed
				id = max(id, oldest[host])
			}
			r := turn.JobEndRequest{Agent: "a", At: w.now().Wall, JobEnd: talk.JobEnd{ID: id, Name: "n", Outcome: talk.JobPassed, Host: host, Oldest: oldest[host]}}
			events := turn.EndJob(w.state, r)
			if (len(events) == 0) != told[host][id] {
				rt.Fatalf("job %d of %q was told: %v; events %v", id, host, told[host][id], events)
			}
			if w.state.JobTold(host, id) != told[host][id] {
				rt.Fatalf("told %v", w.state.Jobs)
			}
			told[host][id] = true
			if len(events) > 0 {
				w.commit(events, nil)
			}
			if h := w.state.HighestJob(host); h < id && told[host][id] {
				rt.Fatalf("the highest is %d, told %d", h, id)
			}
		}
		if m := w.state.Member("b"); m != nil && m.LastMail != 0 {
			rt.Fatal("told to another")
		}
	})
}

func TestWhoIsToldOfAJob(t *testing.T) {
	w := room(t, members("a", "b"))
	end := func(agent string, at time.Time) int {
		return len(turn.EndJob(w.state, turn.JobEndRequest{Agent: agent, At: event.NewTime(at), JobEnd: talk.JobEnd{ID: 7, Name: "n", Outcome: talk.JobLost}}))
	}
	now := w.now().Wall.Time
	for agent, want := range map[string]int{"a": 1, "b": 1, "c": 0} {
		if got := end(agent, now); got != want {
			t.Errorf("%s: %d events", agent, got)
		}
	}
	if end("a", now.Add(-time.Hour)) != 0 {
		t.Error("told of what ended before it joined")
	}
	w.endJob("a", 7, talk.JobPassed)
	e := w.events[len(w.events)-1]
	for agent, want := range map[string]string{"a": turn.ClassJob, "b": ""} {
		if got := turn.ClassOf(&e, agent); got != want {
			t.Errorf("%s: class %q", agent, got)
		}
	}
	if who := w.state.WhoHasNews([]event.Event{e}); len(who) != 1 || who[0] != "a" {
		t.Errorf("news for %v", who)
	}
	left("a")(w)
	left("b")(w)
	if end("b", now) != 0 {
		t.Error("told in a room that has ended")
	}
}

func TestJobWords(t *testing.T) {
	two := 2
	for want, j := range map[string]talk.JobEnd{
		"t#4 passed after 1m3s":                                    {Outcome: talk.JobPassed, Duration: 63_412},
		"t#4 failed with status 2 after 0s":                        {Outcome: talk.JobFailed, Exit: &two},
		"t#4 failed: SIGKILL after 5ms":                            {Outcome: talk.JobFailed, Signal: "SIGKILL", Duration: 5},
		"t#4 was stopped after 0s; the tree was changed meanwhile": {Outcome: talk.JobStopped, TreeMoved: true},
		"t#4 is lost: nobody knows how it ended":                   {Outcome: talk.JobLost},
	} {
		j.ID, j.Name = 4, "t"
		if got := j.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
