package identity

import (
	"cmp"
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

// A systemTable has from gopsutil what that reads without starting a program, and from the
// kernel the exact start.
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
		if start, _, err := startOf(t.self.PID); err == nil {
			t.self.Start = start
		}
	})
	return t.self
}

func processAt(pid int, start uint64) Process {
	return Process{Host: processHost(), Boot: BootID(), PID: pid, Start: start, Namespace: namespace()}
}

func (t *systemTable) Inspect(pid int) (Info, error) {
	p := &process.Process{Pid: int32(pid)}
	info, err := t.look(pid, p)
	if err != nil {
		return Info{}, err
	}
	info.StartedAt = wallClock(info.Start)
	info.Name, info.Args = nameOf(p), argumentsOf(p) // empty if the process ends between the reads
	return info, nil
}

func (t *systemTable) Verdict(p Process) Verdict {
	return Judge(p, t.Self(), t.Look)
}

func (t *systemTable) Look(pid int) (Info, error) {
	return t.look(pid, &process.Process{Pid: int32(pid)})
}

// look leaves out StartedAt, Name and Args. The start is read last: if there is one, the state
// is that of this process or of one that has ended before it.
func (t *systemTable) look(pid int, p *process.Process) (Info, error) {
	switch {
	case pid <= 0 || pid > math.MaxInt32:
		return Info{}, fs.ErrNotExist
	case namespaced && namespace() == "":
		return Info{}, errors.New("/proc does not show the processes of this namespace")
	}
	state, unread := stateOf(p)
	start, parent, err := startOf(pid)
	if err := cmp.Or(err, unread); err != nil {
		return Info{}, err
	}
	return Info{
		Process: processAt(pid, start),
		PPID:    parent,
		Zombie:  state == process.Zombie,
		Stopped: state == process.Stop,
	}, nil
}
