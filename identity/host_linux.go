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
	namespaced     = true // a pid means something in its pid namespace only
	startTolerance = 0    // ticks are exact
	startsInOrder  = true // ticks only grow: nobody is older than its parent
)

// initialTimeNamespace is the inode of the time namespace the kernel starts with.
const initialTimeNamespace = "4026531834"

func readBootID() string {
	text, err := readSmall("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// readNamespace returns the inode of the pid namespace, with that of the time
// namespace behind it where that is not the initial one: its offset shifts the
// start ticks that are shown in it. It is "" when /proc is not mounted or shows
// another namespace's pids, as after "unshare --pid" without a mount of its own.
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

// clock reads a clock of the kernel. The three used here cannot fail.
func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
