//go:build !windows

package main

import (
	"os"
	"strconv"
	"syscall"
)

// detached gives a process a session of its own: no terminal, no signals meant
// for our process group.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepFiles keeps what our caller left open from the processes we start. Go's
// own files are kept anyway; a pipe that a shell or a harness handed down is
// not, and whoever waits for its end would wait for as long as a guardian lives.
func keepFiles() {
	const first = 3 // after standard input, output and error
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
}
