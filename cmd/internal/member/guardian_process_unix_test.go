//go:build unix

package member

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/identity"
)

// TestKillLeavesNoZombie: a guardian of a turn that was not granted is ended once
// and collected.
func TestKillLeavesNoZombie(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pid, err := startDetached(sleep, []string{"sleep", "3600"}, nil, null)
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
