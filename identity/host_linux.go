package identity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/common"
	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/unix"
)

const (
	awakeClock  = unix.CLOCK_MONOTONIC
	uptimeClock = unix.CLOCK_BOOTTIME

	namespaced    = true // a pid is valid in its pid namespace only
	startsInOrder = true // ticks only grow: no process is older than its parent
)

// ownProc keeps gopsutil from reading another directory than /proc where HOST_PROC is set, as it
// is in containers that watch their host.
var ownProc = context.WithValue(context.Background(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: "/proc"})

func argumentsOf(p *process.Process) []string {
	args, _ := p.CmdlineSliceWithContext(ownProc)
	return args
}

// readStat reads /proc/PID/stat. gopsutil rounds the start to seconds, asks for the parent what machine
// this is, and reads the state from another file. The error is fs.ErrNotExist only if the kernel confirms that
// there is no such process: the file is also missing where /proc is mounted with hidepid.
func readStat(pid int) (stat, error) {
	line, err := readSmall("/proc/" + strconv.Itoa(pid) + "/stat")
	switch {
	case err != nil && unix.Kill(pid, 0) == unix.ESRCH:
		return stat{}, fs.ErrNotExist
	case err != nil:
		return stat{}, fmt.Errorf("process %d is hidden: %w", pid, errors.Unwrap(err))
	}
	return parseStat(line)
}

// readSmall returns the first 4 KiB of a file of /proc, which the kernel makes when it is read: a stat line has at most
// 1 100 bytes. Nothing is waited for there, so no signal interrupts it.
func readSmall(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	b := make([]byte, 4096)
	n, err := unix.Read(fd, b)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return b[:n], nil
}

// parseStat parses a line "PID (name) STATE PPID …", whose 22nd field is the start in clock ticks since boot.
// The name may contain blanks, parentheses and line ends, so the third field is behind the last ')'.
func parseStat(line []byte) (stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	fields := bytes.Fields(line[end+1:])
	if open < 0 || end < open || len(fields) <= 22-3 {
		return stat{}, fmt.Errorf("malformed stat line %q", line)
	}
	parent, noParent := strconv.Atoi(string(fields[4-3]))
	start, noStart := strconv.ParseUint(string(fields[22-3]), 10, 64)
	if err := cmp.Or(noParent, noStart); err != nil {
		return stat{}, fmt.Errorf("malformed stat line %q: %v", line, err)
	}
	state := fields[0][0]
	return stat{start: start, parent: parent, name: string(line[open+1 : end]),
		zombie: state == 'Z' || state == 'X', stopped: state == 'T' || state == 't'}, nil
}

// wallClock returns the time of a start.
func wallClock(start uint64) time.Time {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every platform that Go supports
	return time.Now().Add(time.Duration(start)*tick - Uptime()).Truncate(tick).UTC()
}

// initialTimeNamespace is the inode of the time namespace of process 1.
const initialTimeNamespace = "4026531834"

func readBootID() string {
	text, err := readSmall("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// readNamespace returns the inode of the pid namespace, followed by that of the
// time namespace unless that is the initial one: start ticks are shown with the
// offset of the time namespace. It returns "" if /proc is not mounted, or shows the
// pids of another namespace, as after "unshare --pid" without a mount of /proc.
func readNamespace() string {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return ""
	}
	pids := cmp.Or(namespaceInode("pid"), "only") // a kernel without pid namespaces has one
	times := namespaceInode("time")
	if times == "" || times == initialTimeNamespace {
		return pids
	}
	return pids + "/" + times
}

// namespaceInode returns the number in a link such as "pid:[4026531836]".
func namespaceInode(kind string) string {
	link, err := os.Readlink("/proc/self/ns/" + kind)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(link, kind+":["), "]")
}
