//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// canWrite reports whether file takes some bytes now, without a reader that makes
// room first. A pipe that is not full takes a page.
func canWrite(file *os.File, size int) bool {
	const page = 4096
	if size > page {
		return false
	}
	ask := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(ask, 0)
	return err == nil && n == 1 && ask[0].Revents&unix.POLLOUT != 0
}
