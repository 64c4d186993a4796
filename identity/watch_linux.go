package identity

import (
	"os"

	"golang.org/x/sys/unix"
)

// watchExit waits on a pidfd. It becomes readable when the process has ended, and it
// never refers to another process that gets the same pid.
func watchExit(table Table, p Process) (<-chan struct{}, func(), error) {
	handle, err := openProcess(p.PID)
	if err != nil { // no such process, an old kernel, a sandbox, no descriptors left
		return watchByPolling(table, p, pollInterval)
	}
	// Before the pidfd was open the pid could still be given to another process.
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

// openProcess returns a pidfd as a file of the runtime's poller. os.NewFile hands a
// file to the poller only if it is non-blocking.
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

// hasEnded reports whether a pidfd is readable. SyscallConn.Read calls it until it
// returns true, and sleeps in between.
func hasEnded(fd uintptr) bool {
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(set, 0)
	return err == nil && n > 0 && set[0].Revents&(unix.POLLIN|unix.POLLHUP) != 0
}
