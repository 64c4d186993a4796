package ttcmd

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

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
