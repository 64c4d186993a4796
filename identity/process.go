package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v3/process"
)

// A Process identifies one process among all that ever ran: two values are the
// same process exactly when they are ==. The zero value identifies none.
type Process struct {
	Host      string `json:"host_id,omitempty"` // the host name: renaming the host makes its processes Unknown, never wrongly Gone
	Boot      string `json:"boot_id,omitempty"` // see [BootID]
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"`                   // Linux: clock ticks since boot; elsewhere: start time, Unix milliseconds
	Namespace string `json:"pid_namespace,omitempty"` // Linux: the pid and time namespace that PID and Start belong to
}

// String returns pid@start, for messages and anchors.
func (p Process) String() string { return fmt.Sprintf("%d@%d", p.PID, p.Start) }

// Info is an entry of the process table.
type Info struct {
	Process
	PPID      int
	Name      string    // the name of its program, which it may have changed, or as much of it as the kernel keeps
	Args      []string  // argv; empty for kernel threads, zombies and where it may not be read
	Zombie    bool      // it has ended and its parent has not collected its status
	Stopped   bool      // it is suspended, by a signal or a debugger; false where that cannot be told
	StartedAt time.Time // wall clock, approximate, for display; never compare it
}

// A Verdict says whether a process is alive.
type Verdict string

// The verdicts. Treat an Unknown process as alive until a timeout.
const (
	Alive   Verdict = "alive"
	Gone    Verdict = "gone"
	Unknown Verdict = "unknown"
)

// A Table is a process table. [System] is the machine's.
type Table interface {
	// Self returns the calling process. Fields that cannot be determined are empty.
	Self() Process

	// Inspect returns the process that has pid now. The error is fs.ErrNotExist if
	// there is none; any other error means that it is not known whether there is.
	Inspect(pid int) (Info, error)

	// Look is Inspect for less: it may leave out Args and StartedAt.
	Look(pid int) (Info, error)

	// Verdict says whether p is alive; see [Judge].
	Verdict(p Process) Verdict
}

// Judge implements [Table.Verdict]. self is the calling process. inspect looks up
// a pid in self's namespace, with the errors of [Table.Inspect]; it is called only
// if p belongs to the host, the boot and the namespace of self.
//
// Alive means that a process with p's pid and start runs in self's boot, host and
// namespace. Gone means that self is on the same host and in the same namespace,
// and that the machine has been booted since, or that the pid is free or belongs to
// a zombie or to another process. Everything else is Unknown.
func Judge(p, self Process, inspect func(pid int) (Info, error)) Verdict {
	switch {
	case p.PID <= 0 || p.Start == 0 || p.Host == "":
		return Unknown
	case p.Host != self.Host || p.Namespace != self.Namespace:
		return Unknown
	case p.Boot == "" || self.Boot == "" || namespaced && p.Namespace == "":
		return Unknown
	case p.Boot != self.Boot:
		return Gone
	}
	info, err := inspect(p.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Gone
	case err != nil:
		return Unknown
	case info.Zombie || info.Start != p.Start:
		return Gone
	}
	return Alive
}

// Condition returns the verdict on a process of the table, and whether it is suspended,
// by a signal or a debugger. Only a process that is alive is suspended.
func Condition(t Table, p Process) (v Verdict, stopped bool) {
	v = Judge(p, t.Self(), func(pid int) (Info, error) {
		info, err := t.Look(pid)
		stopped = info.Stopped
		return info, err
	})
	return v, stopped && v == Alive
}

// System returns the machine's process table. It reads nothing before its first use.
func System() Table { return system }

var system = &systemTable{}

// A systemTable has arguments from gopsutil, where that starts no program, and from the
// kernel the exact start and what stands beside it.
type systemTable struct {
	once sync.Once
	self Process
}

func (t *systemTable) Self() Process {
	t.once.Do(func() {
		t.self = processAt(os.Getpid(), 0)
		if namespaced && t.self.Namespace == "" {
			return
		}
		if s, err := readStat(t.self.PID); err == nil {
			t.self.Start = s.start
		}
	})
	return t.self
}

func processAt(pid int, start uint64) Process {
	return Process{Host: processHost(), Boot: BootID(), PID: pid, Start: start, Namespace: namespace()}
}

func (t *systemTable) Inspect(pid int) (Info, error) {
	info, err := t.Look(pid)
	if err != nil {
		return Info{}, err
	}
	info.StartedAt = wallClock(info.Start)
	info.Args = argumentsOf(&process.Process{Pid: int32(pid)}) // nil if the process ends between the reads
	return info, nil
}

func (t *systemTable) Verdict(p Process) Verdict {
	return Judge(p, t.Self(), t.Look)
}

// Look leaves out StartedAt and Args.
func (t *systemTable) Look(pid int) (Info, error) {
	switch {
	case pid <= 0 || pid > math.MaxInt32:
		return Info{}, fs.ErrNotExist
	case namespaced && namespace() == "":
		return Info{}, errors.New("/proc does not show the processes of this namespace")
	}
	s, err := readStat(pid)
	if err != nil {
		return Info{}, err
	}
	return Info{Process: processAt(pid, s.start), PPID: s.parent, Name: s.name, Zombie: s.zombie, Stopped: s.stopped}, nil
}

// A stat is what the kernel says of a process at one moment.
type stat struct {
	start           uint64 // exact, in the unit of the system
	parent          int
	name            string
	zombie, stopped bool
}
