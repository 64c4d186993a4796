package identity

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"sync"

	"github.com/shirou/gopsutil/v3/process"
)

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
