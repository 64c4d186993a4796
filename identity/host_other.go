//go:build !linux && !darwin && !windows

package identity

import (
	"slices"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/unix"
)

// readBootID returns "": on these systems every process is Unknown.
func readBootID() string { return "" }

func readMonotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func readUptime() time.Duration { return readMonotonic() }

func isZombie(pid int) bool  { return hasStatus(pid, process.Zombie) }
func isStopped(pid int) bool { return hasStatus(pid, process.Stop) }

func hasStatus(pid int, wanted string) bool {
	status, err := (&process.Process{Pid: int32(pid)}).Status()
	return err == nil && slices.Contains(status, wanted)
}

func arguments(p *process.Process) []string {
	args, err := p.CmdlineSlice()
	if err != nil {
		return nil
	}
	return args
}
