package identity

import (
	"bytes"
	"encoding/binary"
	"io/fs"
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

const (
	awakeClock  = unix.CLOCK_UPTIME_RAW    // it does not advance during sleep; on macOS CLOCK_MONOTONIC does
	uptimeClock = unix.CLOCK_MONOTONIC_RAW // it advances during sleep and is never adjusted

	namespaced    = false
	startsInOrder = false // the wall clock may have been set back between parent and child
)

func readNamespace() string { return "" }

// readStat asks the kernel. A start is in Unix milliseconds, as the kernel has noted it.
func readStat(pid int) (stat, error) {
	p := &process.Process{Pid: int32(pid)}
	created, err := p.CreateTime()
	if err != nil {
		if unix.Kill(pid, 0) == unix.ESRCH {
			err = fs.ErrNotExist
		}
		return stat{}, err
	}
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return stat{}, err
	}
	const stopped, zombie = 4, 5 // SSTOP and SZOMB of <sys/proc.h>
	return stat{start: uint64(created), parent: int(k.Eproc.Ppid), name: unix.ByteSliceToString(k.Proc.P_comm[:]),
		zombie: k.Proc.P_stat == zombie, stopped: k.Proc.P_stat == stopped}, nil
}

// wallClock returns the time of a start.
func wallClock(start uint64) time.Time { return time.UnixMilli(int64(start)).UTC() }

// argumentsOf asks the kernel: gopsutil would start ps when it is built without cgo, and split
// arguments at their blanks.
func argumentsOf(p *process.Process) []string {
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

func watchExit(table Table, p Process) (<-chan struct{}, func(), error) {
	return watchByPolling(table, p, pollInterval)
}
