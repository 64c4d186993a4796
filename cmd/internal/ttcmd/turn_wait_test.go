package ttcmd

import (
	"context"
	"os"
	"path/filepath"
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
		{held(), 48 * time.Second, "Waiting: codex:1 holds turn 3 for 2m48s."},
		{held(), -time.Hour, "Waiting: codex:1 holds turn 3."}, // the clock was set back
		{turn.WaitResult{CurrentOwner: "codex:1", TurnID: 3}, 0, "Waiting: codex:1 holds turn 3."},
		{reserved, 30 * time.Second, "Waiting: the turn is reserved for codex:1, 2m30s left to claim it."},
		{reserved, time.Hour, "Waiting: the turn is reserved for codex:1, 0s left to claim it."},
		{turn.WaitResult{TurnID: 3}, 0, "Waiting: the turn is kept for other members for a moment."},
		{turn.WaitResult{TurnID: 3, Parked: true}, 0, "Waiting until the turn is meant for you; the stick is free."},
	} {
		if got := waitingWords(test.result, began.Add(test.after)); got != test.want {
			t.Errorf("after %v: %q, want %q", test.after, got, test.want)
		}
	}
}

// waitAt runs a wait whose standard error is a terminal.
func waitAt(t *testing.T, stderr *os.File, wait func(*cli.Invocation)) {
	t.Helper()
	run := func(_ context.Context, c *cli.Invocation) error {
		wait(c)
		return nil
	}
	program := &cli.Program{Name: "tt", Groups: []cli.Group{{Commands: []*cli.Command{{Name: "wait", Run: run}}}}}
	status := program.Main(t.Context(), &cli.Env{
		Args: []string{"wait"}, Stdout: stderr, Stderr: stderr, StderrTTY: true, Now: func() time.Time { return began },
		Lookup: func(string) string { return "" },
	})
	if status != 0 {
		t.Fatalf("status %d", status)
	}
}

func held() turn.WaitResult {
	return turn.WaitResult{CurrentOwner: "codex:1", TurnID: 3, OwnerSince: event.NewTime(began.Add(-2 * time.Minute))}
}

func TestWaitIsShownOnce(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	waitAt(t, file, func(c *cli.Invocation) {
		out := &waitOutput{c: c}
		out.Waiting(held())
		out.Waiting(held())
		out.Waiting(turn.WaitResult{ReservedFor: "codex:1\x1b[2J", TurnID: 3})
	})
	const want = "Waiting: codex:1 holds turn 3 for 2m.\nWaiting: the turn is reserved for codex:1\\x1b[2J.\n"
	if content, err := os.ReadFile(file.Name()); err != nil || string(content) != want {
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
	waitAt(t, writer, func(c *cli.Invocation) {
		out := &waitOutput{c: c}
		out.Waiting(held())
		if c.Out.CanRemarkNow() {
			t.Error("the pipe has room")
		}
	})
}
