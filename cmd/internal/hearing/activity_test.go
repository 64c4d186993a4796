package hearing

import (
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

func newAgent(t *testing.T) Agent {
	store, err := fsroom.Open(t.TempDir(), fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Agent{Store: store, Table: identity.System(), ID: "a:1"}
}

// TestNote: each activity follows each other one, in the same session and in another, noted of
// the session and of a helper in it.
func TestNote(t *testing.T) {
	a := newAgent(t)
	note := func(d Doing, seconds int64) bool {
		d.Since = turn.Instant{Wall: at(seconds)}
		turned, err := a.Note(d)
		if err != nil {
			t.Fatal(err)
		}
		return turned
	}
	for _, before := range append([]string{""}, turn.Activities...) {
		for _, after := range turn.Activities {
			for _, session := range []string{"s1", "s2"} {
				for _, helper := range []bool{false, true} {
					a.Forget("s1")
					a.Forget("s2")
					if before != "" {
						note(Doing{What: before, Session: "s1"}, 10)
					}
					turned := note(Doing{What: after, Session: session, Helper: helper, Tool: "Bash"}, 20)
					known := before != "" && session == "s1"
					want, since, turns := after, int64(20), turn.InTurn(after) != (known && turn.InTurn(before))
					switch {
					case known && helper && after == turn.ActivityWorking && !turn.InTurn(before): // begins no turn
						want, since, turns = before, 10, false
					case known && before == after:
						since = 10
					}
					got := a.Activity()
					if got.What != want || got.Since != at(since) || got.At.Before(at(20).Time) || turned != turns {
						t.Errorf("%s, then %s in %s, helper %v: %+v, turned %v; want %s since %d", before, after, session, helper, got, turned, want, since)
					}
				}
			}
		}
	}
}

// TestActivityIsWhole: who reads while a hook writes sees one activity or the other.
func TestActivityIsWhole(t *testing.T) {
	a := newAgent(t)
	details := map[string]string{turn.ActivityWorking: "git push", turn.ActivityAsks: "rm"}
	note := func(what string) {
		if _, err := a.Note(Doing{What: what, Detail: details[what], Session: "s", Since: turn.Instant{Wall: at(1)}}); err != nil {
			t.Error(err)
		}
	}
	note(turn.ActivityAsks)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			default:
				note(turn.ActivityWorking)
				note(turn.ActivityAsks)
			}
		}
	}()
	for range 10_000 {
		if got := a.Activity(); details[got.What] == "" || details[got.What] != got.Detail {
			t.Errorf("read %+v", got)
			break
		}
	}
	close(over)
	<-done
}
