package member

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/identity"
)

// until fails the test unless holds returns true in the end.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestSight(t *testing.T) {
	f := newFixture(t)
	r := f.join("codex:1")
	snap, err := r.FS.View()
	f.must(err)
	if s := r.Sight(snap.State, "codex:1"); s != (Sight{}) {
		t.Errorf("of a member without a known process: %+v", s)
	}
	process := exec.Command("sleep", "600")
	f.must(process.Start())
	defer process.Process.Kill()
	info, err := identity.System().Inspect(process.Process.Pid)
	f.must(err)
	f.must(r.own().Write(processesFile, &processRecord{Processes: []identity.Process{info.Process}}))
	if s := r.Sight(snap.State, "codex:1"); s.PID != info.PID || s.Stopped {
		t.Errorf("of a running process: %+v", s)
	}
	f.must(process.Process.Signal(syscall.SIGSTOP))
	until(t, "stopped", func() bool { return r.Sight(snap.State, "codex:1").Stopped })
	f.must(process.Process.Kill())
	_ = process.Wait()
	if s := r.Sight(snap.State, "codex:1"); s != (Sight{}) {
		t.Errorf("of a process that has ended: %+v", s)
	}
	release, err := r.own().Hold(waitingFile)
	f.must(err)
	defer release()
	if s := r.Sight(snap.State, "codex:1"); s.WaitsSince.IsZero() {
		t.Errorf("while it waits: %+v", s)
	}
}
