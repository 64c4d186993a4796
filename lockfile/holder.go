package lockfile

import (
	"fmt"
	"time"
)

// A BusyError says that a lock was not to be had before the deadline.
type BusyError struct {
	Path   string
	Waited time.Duration // in the queue; 0 if there was no time to queue
	Holder *Holder       // who has the lock; nil when unknown
}

func (e *BusyError) Error() string {
	who := "another process"
	if e.Holder != nil {
		who = e.Holder.String()
	}
	return fmt.Sprintf("%s is locked by %s, waited %s", e.Path, who, e.Waited.Round(time.Millisecond))
}

// A Holder is a process that has a lock, as it was when it was looked at.
type Holder struct {
	PID     int
	Command string // the command line, printable, at most 200 bytes; "" when unknown
	State   string // "running", "sleeping", "disk sleep", "stopped", "traced", "zombie", "dead", "idle"; "gone" when it has ended, "" when unknown
}

func (h *Holder) String() string {
	text := fmt.Sprintf("process %d", h.PID)
	if h.State != "" {
		text += " (" + h.State + ")"
	}
	if h.Command != "" {
		text += " " + h.Command
	}
	return text
}

// FindHolder returns the process that has the lock on the file at path, or one of
// those that share it; false if there is none or it cannot be found out: the list
// the kernel offers exists on Linux only, omits processes of other PID
// namespaces, and names files by a device number that some file systems (btrfs) do
// not show to stat. A process that took the lock is named even if it has handed
// the descriptor to a child since.
func FindHolder(path string) (*Holder, bool) {
	return findHolder("/proc", path)
}
