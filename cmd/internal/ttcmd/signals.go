package ttcmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
)

// endings are the signals with which people and harnesses end a command.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// onSignal returns a context that ends when one of the signals arrives, and a function
// that ends it before. The signal is the context's cause, see [signalOf]. A second
// signal ends the process, as usual.
func onSignal(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, signals...)
	go func() {
		defer signal.Stop(arrived)
		select {
		case s := <-arrived:
			cancel(caught{s})
			if build.Sharing != nil {
				build.Sharing.Interrupt()
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// caught is the cause of a context that a signal ended.
type caught struct{ os.Signal }

func (c caught) Error() string { return "ended by the signal " + c.String() }

// signalOf returns the signal that ended ctx, which [onSignal] made or one derived from
// it, and nil if no signal did.
func signalOf(ctx context.Context) os.Signal {
	var c caught
	if errors.As(context.Cause(ctx), &c) {
		return c.Signal
	}
	return nil
}

// interrupted returns the error with which a command ends: the exit status of the
// signal that ended ctx, or err. It keeps an err that the signal did not cause.
func interrupted(ctx context.Context, err error) error {
	s, ok := signalOf(ctx).(syscall.Signal)
	var failure *code.Error
	if !ok || (errors.As(err, &failure) && !errors.Is(err, context.Canceled)) {
		return err
	}
	return cli.Exit(128 + int(s))
}
