package identity

import (
	"os"

	"golang.org/x/sys/unix"
)

// watchExit waits on a pidfd: it becomes readable when the process has ended,
// and it never follows the pid to another process.
func watchExit(table Table, p Process) (<-chan struct{}, func(), error) {
	handle, err := openProcess(p.PID)
	if err != nil { // no such process, an old kernel, a sandbox, no descriptors left: the table decides
		return watchByPolling(table, p, pollInterval)
	}
	// Only now: before the pidfd was open the pid could still change hands.
	verdict := table.Verdict(p)
	if verdict != Alive {
		handle.Close()
	}
	switch verdict {
	case Gone:
		return alreadyEnded()
	case Unknown:
		return nil, nil, unwatchable(p)
	}
	return watchHandle(handle)
}

// openProcess returns a pidfd as a file that the runtime's poller knows. Being
// non-blocking is what makes os.NewFile hand it to the poller.
func openProcess(pid int) (*os.File, error) {
	if pid <= 0 {
		return nil, unix.EINVAL
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

func watchHandle(handle *os.File) (<-chan struct{}, func(), error) {
	conn, err := handle.SyscallConn()
	if err != nil {
		handle.Close()
		return nil, nil, err
	}
	return watching(func(ended chan<- struct{}) {
		if err := conn.Read(hasEnded); err == nil {
			close(ended)
		}
		handle.Close()
	}, func() { handle.Close() })
}

// hasEnded reports whether a pidfd is readable. Asked by the poller's loop, it
// makes the goroutine sleep until there is news.
func hasEnded(fd uintptr) bool {
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(set, 0)
	return err == nil && n > 0 && set[0].Revents&(unix.POLLIN|unix.POLLHUP) != 0
}
