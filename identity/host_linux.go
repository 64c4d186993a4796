package identity

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	namespaced     = true // a pid is valid in its pid namespace only
	startTolerance = 0    // ticks are exact
	startsInOrder  = true // ticks only grow: no process is older than its parent
)

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

func readMonotonic() time.Duration { return clock(unix.CLOCK_MONOTONIC) }

func readUptime() time.Duration { return clock(unix.CLOCK_BOOTTIME) }

// clock returns the time of a kernel clock. The clocks used here cannot fail.
func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
