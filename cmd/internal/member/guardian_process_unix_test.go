package member

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/identity"
)

// TestKillLeavesNoZombie: a guardian of a turn that was not granted is ended once
// and collected.
func TestKillLeavesNoZombie(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	pid, err := jobs.StartDetached(sleep, []string{"sleep", "3600"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &guardianProcess{Process: identity.Process{PID: pid}}
	g.kill()
	g.kill()
	for start := time.Now(); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("process %d is still there", pid)
		}
	}
}
