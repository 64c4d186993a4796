package hearing

import (
	"errors"
	"os"
	"path/filepath"
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
		d.Since = Began{Wall: at(seconds)}
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
		if _, err := a.Note(Doing{What: what, Detail: details[what], Session: "s", Since: Began{Wall: at(1)}}); err != nil {
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

// TestActivityWriterKilled: whatever a hook that is killed leaves behind, readers see what was
// noted last, and the next hook notes what the agent does.
func TestActivityWriterKilled(t *testing.T) {
	full := `{"what":"asks","since":"2026-01-01T00:00:00.000Z","session":"s"}` + "\n"
	temp := func(content string) func(dir string) error {
		return func(dir string) error {
			if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "tmp", ".new-1"), []byte(content), 0o600)
		}
	}
	for name, left := range map[string]func(dir string) error{
		"no directory": func(string) error { return nil },
		"a directory":  func(dir string) error { return os.MkdirAll(dir, 0o700) },
		"one for files that are written": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "tmp"), 0o700)
		},
		"an empty file": temp(""),
		"half a file":   temp(full[:20]),
		"a whole file":  temp(full),
		"after a reboot": func(dir string) error {
			return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, activityFile), nil, 0o600))
		},
	} {
		for _, known := range []bool{false, true} {
			a := newAgent(t)
			want := ""
			if known {
				want = turn.ActivityWorking
				if _, err := a.Note(Doing{What: want, Session: "s", Since: Began{Wall: at(1)}}); err != nil {
					t.Fatal(err)
				}
			}
			dir := a.Dir().Path("")
			if err := left(dir); err != nil {
				t.Fatal(err)
			}
			if name == "after a reboot" { // unsynced, it is empty
				want = ""
			}
			if got := a.Activity().What; got != want {
				t.Errorf("%s, known before: %v: %q", name, known, got)
			}
			if _, err := a.Note(Doing{What: turn.ActivityAsks, Session: "s", Since: Began{Wall: at(2)}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := a.Activity().What; got != turn.ActivityAsks {
				t.Errorf("%s, afterwards: %q", name, got)
			}
		}
	}
}
