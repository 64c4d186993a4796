package ttcmd

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestGuardianKeepsNoFileOpen: a pipe that the caller left open to tt comes to
// its end with tt, not with the guardian, which lives on.
func TestGuardianKeepsNoFileOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	cmd := r.command("a:1", "try", "--json")
	cmd.ExtraFiles = []*os.File{writer}
	out, err := cmd.Output()
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	var granted struct {
		PID int `json:"guardian_pid"`
	}
	if err := json.Unmarshal(out, &granted); err != nil || granted.PID == 0 {
		t.Fatalf("%s: %v", out, err)
	}
	defer syscall.Kill(granted.PID, syscall.SIGKILL)
	const generous = 2 * time.Minute // only a failure takes that long
	if err := reader.SetReadDeadline(time.Now().Add(generous)); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the pipe is still open: %v", err)
	}
	if err := syscall.Kill(granted.PID, 0); err != nil {
		t.Errorf("the guardian is gone: %v", err)
	}
}
