package listen

import (
	"context"
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
