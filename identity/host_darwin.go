package identity

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/unix"
)

func readBootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// readMonotonic uses the clock that does not advance during sleep. On macOS
// CLOCK_MONOTONIC does advance.
func readMonotonic() time.Duration { return clock(unix.CLOCK_UPTIME_RAW) }

// readUptime uses the clock that advances during sleep and is never adjusted.
func readUptime() time.Duration { return clock(unix.CLOCK_MONOTONIC_RAW) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// The states SSTOP and SZOMB of <sys/proc.h>.
const (
	stateStopped = 4
	stateZombie  = 5
)

func isZombie(pid int) bool  { return hasState(pid, stateZombie) }
func isStopped(pid int) bool { return hasState(pid, stateStopped) }

func hasState(pid int, state int8) bool {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && k.Proc.P_stat == state
}

// arguments asks the kernel. gopsutil would start ps when it is built without cgo,
// and split arguments at their blanks.
func arguments(p *process.Process) []string {
	raw, err := unix.SysctlRaw("kern.procargs2", int(p.Pid))
	if err != nil || len(raw) < 4 {
		return nil
	}
	return splitProcArgs(raw)
}

// splitProcArgs returns the argv in raw, which holds argc, the path of the
// executable, argv and the environment. All but argc end with zeros.
func splitProcArgs(raw []byte) []string {
	count := int(binary.NativeEndian.Uint32(raw))
	_, rest, _ := bytes.Cut(raw[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	var args []string
	for len(args) < count && len(rest) > 0 {
		var arg []byte
		arg, rest, _ = bytes.Cut(rest, []byte{0})
		args = append(args, string(arg))
	}
	return args
}
