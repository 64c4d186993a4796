package ttcmd

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var began = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func TestWaitingWords(t *testing.T) {
	at := func(d time.Duration) event.Time { return event.NewTime(began.Add(d)) }
	claim := at(3 * time.Minute)
	reserved := turn.WaitResult{ReservedFor: "codex:1", TurnID: 3, ClaimExpiresAt: &claim}
	for _, test := range []struct {
		result turn.WaitResult
		after  time.Duration
		want   string
	}{
		{held(), 0, "Waiting: codex:1 holds turn 3 for 2m."},
		{held(), 48 * time.Second, "Waiting for 48s: codex:1 holds turn 3 for 2m48s."},
		{held(), 2 * time.Hour, "Waiting for 2h: codex:1 holds turn 3 for 2h2m."},
		{held(), -time.Hour, "Waiting: codex:1 holds turn 3."}, // the clock was set back
		{turn.WaitResult{CurrentOwner: "codex:1", TurnID: 3}, 0, "Waiting: codex:1 holds turn 3."},
		{reserved, 30 * time.Second, "Waiting for 30s: the turn is reserved for codex:1, 2m30s left to claim it."},
		{reserved, time.Hour, "Waiting for 1h: the turn is reserved for codex:1, 0s left to claim it."},
		{turn.WaitResult{TurnID: 3}, 0, "Waiting: the turn is kept for other members for a moment."},
	} {
		if got := waitingWords(test.result, began, began.Add(test.after)); got != test.want {
			t.Errorf("after %v: %q, want %q", test.after, got, test.want)
		}
	}
}

// waitAt runs a wait whose standard error is a terminal of so many columns.
func waitAt(t *testing.T, stderr *os.File, width int, term string, wait func(*cli.Invocation)) {
	t.Helper()
	now := began
	program := &cli.Program{Name: "tt", Commands: []*cli.Command{{Name: "wait", Run: func(_ context.Context, c *cli.Invocation) error {
		wait(c)
		return nil
	}}}}
	status := program.Main(t.Context(), &cli.Env{
		Args: []string{"wait"}, Stdout: stderr, Stderr: stderr, StderrTTY: true,
		Width:  func() int { return width },
		Lookup: func(string) string { return term }, // of TERM
		Now: func() time.Time { // a second passes between two looks at it
			now = now.Add(time.Second)
			return now.Add(-time.Second)
		},
	})
	if status != 0 {
		t.Fatalf("status %d", status)
	}
}

func held() turn.WaitResult {
	return turn.WaitResult{CurrentOwner: "codex:1", TurnID: 3, OwnerSince: event.NewTime(began.Add(-2 * time.Minute))}
}

func TestWaitIsShownInOneLine(t *testing.T) {
	for name, test := range map[string]struct {
		width int
		want  []string
	}{
		"wide": {80, []string{
			"Waiting: codex:1 holds turn 3 for 2m.", "Waiting for 1s: codex:1 holds turn 3 for 2m1s.",
			"Waiting for 2s: the turn is reserved for codex:1\\x1b[2J.", "",
		}},
		"narrow":  {20, []string{"Waiting: codex:1 …", "Waiting for 1s: c …", "Waiting for 2s: t …", ""}},
		"unknown": {0, []string{"Waiting: codex:1 holds turn 3 for 2m.", "Waiting for 1s: codex:1 holds turn 3 for 2m1s.", "Waiting for 2s: the turn is reserved for codex:1\\x1b[2J.", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stderr")
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			waitAt(t, file, test.width, "xterm", func(c *cli.Invocation) {
				p := waitProgress{results: make(chan turn.WaitResult, 1), done: make(chan struct{})}
				tick := make(chan time.Time)
				go func() {
					defer close(p.done)
					p.run(c, held(), began, tick)
				}()
				tick <- began // received when the first line is drawn
				p.results <- turn.WaitResult{ReservedFor: "codex:1\x1b[2J", TurnID: 3}
				for len(p.results) > 0 {
					runtime.Gosched()
				}
				p.end()
			})
			content, err := os.ReadFile(path)
			if want := "\r" + strings.Join(test.want, "\x1b[K\r") + "\x1b[K"; err != nil || string(content) != want {
				t.Errorf("got\n%q, %v; want\n%q", content, err, want)
			}
		})
	}
}

// A terminal that cannot redraw a line gets one, and keeps it.
func TestWaitOnDumbTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stderr")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	waitAt(t, file, 80, "dumb", func(c *cli.Invocation) {
		var p waitProgress
		p.show(c, held())
		p.show(c, turn.WaitResult{ReservedFor: "codex:2", TurnID: 3})
		p.end()
		p.end()
	})
	const want = "Waiting: codex:1 holds turn 3 for 2m.\n"
	if content, err := os.ReadFile(path); err != nil || string(content) != want {
		t.Errorf("%q, %v", content, err)
	}
}

// A terminal that is held up holds up no wait.
func TestWaitOnStalledTerminal(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	for n := 0; n == 0; { // a write that has begun ends when the pipe is full
		if err := writer.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, _ = writer.Write(make([]byte, 1<<20))
	}
	waitAt(t, writer, 80, "xterm", func(c *cli.Invocation) {
		var p waitProgress
		for range 5 {
			p.show(c, held())
		}
		if c.Out.CanRemarkNow() {
			t.Error("the pipe has room")
		}
		p.end()
	})
}
