package ttcmd

import (
	"context"
	"errors"
	"reflect"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// TestFailedBySignal: what a signal has ended, and says how, has the status of the signal.
func TestFailedBySignal(t *testing.T) {
	failed := errors.New("what was written is put back")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := failedBySignal(ctx, failed); err != failed {
		t.Errorf("without a signal: %v", err)
	}
	cancel(caught{syscall.SIGTERM})
	if err := failedBySignal(ctx, failed); !reflect.DeepEqual(err, cli.Fail(143, failed)) {
		t.Errorf("%#v", err)
	}
	if err := failedBySignal(ctx, nil); err != nil {
		t.Errorf("of what was done: %v", err)
	}
}
