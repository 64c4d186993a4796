package ttcmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
)

// endings are the signals with which people and harnesses end a command.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// onSignal returns a context that ends when one of the signals arrives, and a function that
// ends it before and gives the signals their usual effect again. The signal is the context's
// cause, see [signalOf]; once the function has returned, none is on its way to it. A second
// signal ends the process, as usual.
func onSignal(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	arrived, done := make(chan os.Signal, 1), make(chan struct{})
	if len(signals) > 0 { // none stands for all
		signal.Notify(arrived, signals...)
	}
	go func() {
		defer close(done)
		select {
		case s, ok := <-arrived:
			if !ok {
				return
			}
			cancel(caught{s})
			interruptHosts()
		case <-ctx.Done():
		}
		signal.Stop(arrived)
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(arrived)
		close(arrived)
		<-done
		cancel(nil)
	})
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

// failedBySignal returns err, which is printed, with the exit status of the signal that ended ctx, if one did.
func failedBySignal(ctx context.Context, err error) error {
	if s, ok := signalOf(ctx).(syscall.Signal); ok && err != nil {
		return cli.Fail(128+int(s), err)
	}
	return err
}

// untilReaderGone returns a context that ends when nobody reads from out any
// more, also while nothing is written to it.
func untilReaderGone(ctx context.Context, out io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	f, ok := out.(*os.File)
	if !ok {
		return ctx, cancel
	}
	fd := int32(f.Fd())
	go func() {
		// Asking for no event still reports errors and hang-ups, which for a pipe
		// is the end of its reader. A regular file never has one.
		set := []unix.PollFd{{Fd: fd}}
		for ctx.Err() == nil {
			n, err := unix.Poll(set, -1)
			if err == unix.EINTR {
				continue
			}
			if err == nil && n > 0 && set[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
				cancel()
			}
			return
		}
	}()
	return ctx, cancel
}
