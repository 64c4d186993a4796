package ttcmd

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/lockfile/queue"
)

// A wait is reported when it begins, when the holder or the place changes, and otherwise
// every 30 seconds, however often it looks.
func TestWaitForLockIsReportedAgain(t *testing.T) {
	var stderr strings.Builder
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	held := now.Add(-time.Minute)
	w := &lockWait{
		call: &cli.Invocation{Program: &cli.Program{Name: "tt"}, Env: &cli.Env{Stderr: &stderr, Now: func() time.Time { return now }}},
		id:   locks.ID{Name: "build", Scope: locks.Machine},
	}
	ahead := 0
	holder := &queue.Entry{Condition: queue.Alive, Ticket: queue.Ticket{
		Number: 1, Agent: "a:1", Mode: queue.Exclusive, State: queue.Held, PID: 7, Command: []string{"make"}, HeldAt: &held,
	}}
	look := func() {
		p := lockProgress{Ahead: &ahead, Holder: viewTicket(holder)}
		w.say(p.about(), p)
	}
	for range 75 {
		look()
		now = now.Add(time.Second)
	}
	holder.Condition = queue.Stopped
	look()
	now = now.Add(time.Second)
	ahead = 2
	look()
	w.lines.flush()
	want := strings.Join([]string{
		"tt: waits for lock build: a:1 has it since 1m, pid 7: make",
		"tt: waits for lock build: a:1 has it since 1m30s, pid 7: make",
		"tt: waits for lock build: a:1 has it since 2m, pid 7: make",
		"tt: waits for lock build: a:1 has it since 2m15s, pid 7 (stopped): make",
		"tt: waits for lock build: a:1 has it since 2m16s, pid 7 (stopped): make; 2 before you",
		"",
	}, "\n")
	if got := stderr.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
