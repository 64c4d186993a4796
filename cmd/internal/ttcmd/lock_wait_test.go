package ttcmd

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/lockfile/queue"
)

// A wait is reported when it begins, when the holder or the place changes, and otherwise
// every 30 seconds, however often it looks.
func TestWaitForLockIsReportedAgain(t *testing.T) {
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	held := now.Add(-time.Minute)
	var w *lockWait
	waitAt(t, stderr, func(c *cli.Invocation) {
		c.Env.Now = func() time.Time { return now }
		w = &lockWait{call: c, id: locks.ID{Name: "build", Scope: locks.Machine}}
	})
	ahead := 0
	holder := &queue.Entry{Condition: queue.Alive, Ticket: queue.Ticket{
		Number: 1, Agent: "a:1", Mode: queue.Exclusive, State: queue.Held, PID: 7, Command: []string{"make"}, HeldAt: &held,
	}}
	look := func() {
		w.say(lockProgress{Ahead: &ahead, Holder: locks.ViewOf(holder)})
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
	want := strings.Join([]string{
		"tt: waits for lock build: a:1 has it for 1m, pid 7: make",
		"tt: waits for lock build: a:1 has it for 1m30s, pid 7: make",
		"tt: waits for lock build: a:1 has it for 2m, pid 7: make",
		"tt: waits for lock build: a:1 has it for 2m15s, pid 7 (stopped): make",
		"tt: waits for lock build: a:1 has it for 2m16s, pid 7 (stopped): make; 2 before you",
		"",
	}, "\n")
	if got, err := os.ReadFile(stderr.Name()); string(got) != want {
		t.Errorf("%v, got:\n%swant:\n%s", err, got, want)
	}
}

// A wait that has no end gives up where the queue itself is locked for too long: then the lock was not had in
// time, as after --timeout, and the error names who has the queue.
func TestWaitForLockedQueue(t *testing.T) {
	w := &lockWait{call: &cli.Invocation{Env: &cli.Env{Now: time.Now}}, id: locks.ID{Name: "build", Scope: locks.Machine}}
	stuck := &lockfile.BusyError{Path: "lock", Waited: time.Minute, Holder: &lockfile.Holder{PID: 7, Command: "tt lock run build", State: "stopped"}}
	const want = "lock build was not to be had in 1m: its queue is locked by process 7 (tt lock run build), stopped"
	for patience, err := range map[time.Duration]error{-1: stuck, time.Second: errors.Join(queue.ErrTimeout, stuck)} {
		e := (*code.Error)(nil)
		err := w.refused(err, "dir", patience)
		if !errors.As(err, &e) || e.Code != code.LockBusy || e.Message != want || !strings.Contains(e.Hint, "kill -CONT 7") {
			t.Errorf("%v: %v", patience, err)
		}
		if reflect.TypeOf(err) != reflect.TypeOf(cli.Fail(statusLockBusy, nil)) {
			t.Errorf("%v: no exit status in %T", patience, err)
		}
	}
}
