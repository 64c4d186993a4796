package listen

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"pgregory.net/rapid"
)

// Tests with several processes run this binary again with its part in a variable.
const partVariable = "LISTEN_TEST_PART"

func TestMain(m *testing.M) {
	if os.Args[0] == "tt" { // this binary was started as a guardian
		os.Exit(0)
	}
	part := os.Getenv(partVariable)
	if part == "" {
		os.Exit(m.Run())
	}
	store, err := fsroom.Open(os.Getenv("LISTEN_TEST_DATA"), fsroom.Options{})
	if err != nil {
		panic(err)
	}
	a := &Agent{Session: "s1", Began: time.Now(), Client: &member.Client{Store: store, Table: identity.System(), Self: identity.Agent{ID: "a:1"}, Warn: func(string) {}}}
	kill := func() {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	switch part {
	case "wake":
		if w, err := a.DecideWake(ctx, hearing.ByHook); err == nil && w.Text != "" {
			fmt.Println("said")
		}
	case "show":
		_ = a.Confirm(ctx)
		_, _ = a.Show(ctx, "hook", func(string) error { fmt.Println("shown"); return nil })
	case "stop":
		_ = a.Confirm(ctx)
		a.Note(doing(turn.ActivityIdle))
		_, _ = a.Show(ctx, "hook", func(string) error { fmt.Println("shown"); return nil })
	case "killed before it says":
		_, _ = a.DecideWake(ctx, hearing.ByHook)
		kill()
	case "killed after it printed":
		_, _ = a.Show(ctx, "hook", func(text string) error { fmt.Println(text); kill(); return nil })
	}
	os.Exit(0)
}

// play runs this binary with a part, and returns what it printed.
func (f *fixture) play(part string) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), partVariable+"="+part, "LISTEN_TEST_DATA="+f.data)
	out, _ := cmd.Output()
	return string(out)
}

// Of any two processes that notice the same news at the same time one wakes the agent, and
// one shows it.
func TestOneSpeaksAndOneShows(t *testing.T) {
	t.Parallel()
	parts := []string{"wake", "show", "stop"}
	for i, first := range parts {
		for _, second := range parts[i:] {
			t.Run(first+" and "+second, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.listener("a:1")
				f.send(f.join("b:1"), "a:1", "one", false)
				printed := make([]string, 4)
				var all sync.WaitGroup
				for i := range printed {
					all.Go(func() { printed[i] = f.play([]string{first, second}[i%2]) })
				}
				all.Wait()
				said := strings.Count(strings.Join(printed, ""), "said")
				shown := strings.Count(strings.Join(printed, ""), "shown")
				shows := first != "wake" || second != "wake"
				if said > 1 || shown > 1 || shows != (shown == 1) || !shows && said != 1 {
					t.Errorf("said %d times, shown %d times", said, shown)
				}
			})
		}
	}
}

// A process that is killed between deciding and doing leads to a repetition, not to a loss.
func TestNothingIsLostByAKill(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, _ := f.listener("a:1")
	f.send(f.join("b:1"), "a:1", "one", false)
	f.play("killed before it says")
	f.wants(a, "")
	f.clock = time.Now().Add(31 * time.Second)
	f.wants(a, "1 message")
	if out := f.play("killed after it printed"); !strings.Contains(out, "one") {
		t.Fatalf("printed %q", out)
	}
	if !strings.Contains(f.show(a), "one") {
		t.Error("what was printed by a process that was killed is not shown again")
	}
	if again := f.show(a); again != "" {
		t.Errorf("shown again: %q", again)
	}
}

// Whatever happens in whatever order: what was woken for and what was shown only grow,
// everything is shown once and in order, and nothing is said about what was shown.
func TestDeliveryStatesOnlyGrow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, r := f.listener("a:1")
	b := f.join("b:1")
	var sent atomic.Int64
	shown := 0
	cursor := func() hearing.Cursor {
		snap, err := r.FS.View()
		f.must(err)
		return mailbox.Of(r).Cursor(snap.State)
	}
	rapid.Check(t, func(t *rapid.T) {
		was := cursor()
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"send", "tell all", "wake", "show", "wait"}).Draw(t, "step") {
			case "send":
				f.send(b, "a:1", fmt.Sprintf("m%d.", sent.Add(1)), false)
			case "tell all":
				f.send(b, turn.Everyone, fmt.Sprintf("m%d.", sent.Add(1)), false)
			case "wait":
				f.later(time.Duration(rapid.IntRange(1, 200).Draw(t, "seconds")) * time.Second)
			case "wake":
				unshown := int(sent.Load()) > shown
				if w := f.wake(a); w.Text != "" && !unshown {
					t.Fatalf("said %q after everything was shown", w.Text)
				}
			case "show":
				_ = a.Confirm(ctx)
				text := f.show(a)
				for {
					next := fmt.Sprintf(": m%d.\n", shown+1)
					if !strings.Contains(text+"\n", next) {
						break
					}
					shown++
				}
				if rest := int(sent.Load()) - shown; rest > 0 && !strings.Contains(text, "more in ") {
					t.Fatalf("%d of %d are not shown by %q", rest, sent.Load(), text)
				}
			}
			now := cursor()
			if now.EventSeq < was.EventSeq || now.Woken.EventSeq < was.Woken.EventSeq {
				t.Fatalf("%+v after %+v", now, was)
			}
			snap, err := r.FS.View()
			f.must(err)
			if n := mailbox.Of(r).Unread(snap.State).Messages; n != sent.Load()-int64(shown) {
				t.Fatalf("%d are unread, %d of %d were printed", n, shown, sent.Load())
			}
			was = now
		}
	})
}

// Questions and answers are news as messages are.
func TestQuestionsWake(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, r := f.listener("a:1")
	b := f.join("b:1")
	f.must(os.Chtimes(r.FS.JournalPath(), time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))
	if text := f.show(a); text != "" {
		t.Errorf("shown: %q", text)
	}
	asked, err := questions.Of(b).Ask(ctx, "a:1", "is it\ntt: red?")
	f.must(err)
	f.wants(a, "1 question for you")
	text := f.show(a)
	if !strings.Contains(text, "b:1 asks (tt answer "+asked.ID) || !strings.Contains(text, "is it\n  tt: red?") {
		t.Errorf("shown: %q", text)
	}
	f.later(time.Hour)
	f.wants(a, "")
	if again := f.show(a); again != "" {
		t.Errorf("shown again: %q", again)
	}
	asker := &Agent{Client: b.Client, Clock: a.Clock}
	_, err = asker.WakePath()
	f.must(err)
	_, _, err = questions.Of(r).Answer(ctx, asked.ID, "blue")
	f.must(err)
	f.wants(asker, "1 answer for you")
	if text := f.show(asker); !strings.Contains(text, "a:1 answers your question: blue") {
		t.Errorf("shown: %q", text)
	}
	if again := f.show(asker); again != "" {
		t.Errorf("shown again: %q", again)
	}
}

// TestASlowWriterIsNotMissed: who listens is notified before a change is committed. It looks
// too early if the writer is slow, and nobody notifies it again.
func TestASlowWriterIsNotMissed(t *testing.T) {
	t.Parallel()
	for name, patience := range map[string]time.Duration{"patient": 0, "in a hurry": time.Millisecond} {
		f := newFixture(t)
		a, _ := f.listener("a:1")
		f.join("b:1")
		a.Client.Store = f.store(fsroom.Options{Patience: patience})
		slow := f.client("b:1")
		looked := make(chan struct{})
		slow.Store = f.store(fsroom.Options{Fault: func(step fsroom.Step) error {
			if step == fsroom.StepAppend {
				select {
				case <-looked:
				case <-time.After(200 * time.Millisecond): // it waits for the writer
				}
			}
			return nil
		}})
		b, _, err := slow.Find(f.workspace(), nil)
		f.must(err)
		began := a.Client.Hearing().Listener().Heard
		go func() {
			for !a.Client.Hearing().Listener().Heard.After(began.Add(time.Millisecond)) || wakeTime(a).After(a.Client.Hearing().Listener().Heard.Time) {
				time.Sleep(time.Millisecond)
			}
			close(looked)
		}()
		go f.send(b, "a:1", "one", false)
		limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
		said := ""
		f.must(a.Run(limited, Transport{How: hearing.ByExec, Once: true, Deliver: func(_ context.Context, w Wake) error { said = w.Text; return nil }}))
		cancel()
		if !strings.Contains(said, "1 message") {
			t.Errorf("%s: said %q", name, said)
		}
	}
}
