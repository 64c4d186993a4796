package listen

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What ends a program that wakes an agent is said: the time that it took, or the end of the
// listener.
func TestEndOfATransport(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip("there is no sleep")
	}
	defer func(d time.Duration) { patience = d }(patience)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := run(ended, exec.Command("sleep", "60")); err == nil || strings.Contains(err.Error(), "after") {
		t.Errorf("the listener ends: %v", err)
	}
	patience = time.Millisecond
	if _, err := run(ctx, exec.Command("sleep", "60")); err == nil || !strings.Contains(err.Error(), "after 1ms") {
		t.Errorf("it takes too long: %v", err)
	}
}

// TestEndBesideAnOpenOutput: the listener ends at once although what the program has started holds its output.
func TestEndBesideAnOpenOutput(t *testing.T) {
	least := time.Hour
	for range 3 { // the machine may be busy
		listening, end := context.WithCancel(ctx)
		read, started, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		program := exec.Command("sh", "-c", "sleep 3 & echo >&3; wait")
		program.ExtraFiles = []*os.File{started}
		over := make(chan time.Time)
		go func() {
			_, _ = run(listening, program)
			over <- time.Now()
		}()
		_, _ = read.Read(make([]byte, 1))
		ended := time.Now()
		end()
		least = min(least, (<-over).Sub(ended))
		_, _ = started.Close(), read.Close()
	}
	if least > 900*time.Millisecond {
		t.Errorf("it takes %v", least)
	}
}
