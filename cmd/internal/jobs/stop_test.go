package jobs

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestStopUnattended: a command that does not end when it is asked to is killed, also where its runner has ended.
func TestStopUnattended(t *testing.T) {
	defer func(d time.Duration) { stopGrace = d }(stopGrace)
	stopGrace = 10 * time.Millisecond
	r := roomOf(t)
	c := exec.Command("/bin/sh", "-c", "trap '' TERM; echo; while :; do read line; done")
	ownSession(c)
	in, err := c.StdinPipe() // it waits there
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // the trap is set
		t.Fatal(err)
	}
	info, err := r.Table.Inspect(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	j := &Job{ID: 1, Name: "deaf", Agent: "a:1", Process: &info.Process, room: r}
	if err := os.MkdirAll(r.job(1), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.Stop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Error(c.ProcessState)
	}
}
