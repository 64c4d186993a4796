package lockfile

import (
	"fmt"
	"time"
)

// A BusyError means that a lock was not released before the deadline.
type BusyError struct {
	Path   string
	Waited time.Duration // 0 if Lock was not to wait
	Holder *Holder       // the process that has the lock; nil if unknown
}

func (e *BusyError) Error() string {
	who := "another process"
	if e.Holder != nil {
		who = e.Holder.String()
	}
	return fmt.Sprintf("%s is locked by %s, waited %s", e.Path, who, e.Waited.Round(time.Millisecond))
}

// A Holder is a process that has a lock, as it was when it was inspected.
type Holder struct {
	PID     int
	Command string // the command line, printable, at most 200 bytes; "" when unknown
	State   string // "running", "sleeping", "disk sleep", "stopped", "traced", "zombie", "dead", "idle"; "gone" when it has ended, "" when unknown
}

// String returns the process as far as it is known: "process 812 (tt wait), stopped".
func (h *Holder) String() string {
	text := fmt.Sprintf("process %d", h.PID)
	if h.Command != "" {
		text += " (" + h.Command + ")"
	}
	if h.State != "" {
		text += ", " + h.State
	}
	return text
}

// FindHolder returns the process that has the lock on the file at path, or one of
// those that share it. It returns false if there is none or it is unknown: only
// Linux has a list of locks. The list omits processes of other PID namespaces, and
// names files by a device number that differs from that of stat on some file systems
// (btrfs). The process named is the one that took the lock, even if it has passed the
// descriptor to a child since.
func FindHolder(path string) (*Holder, bool) {
	return findHolder("/proc", path)
}
