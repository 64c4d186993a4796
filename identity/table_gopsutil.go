//go:build darwin || windows

package identity

import (
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v3/process"
)

const (
	namespaced     = false
	startTolerance = 2000  // milliseconds: creation times are rounded and derived from the wall clock
	startsInOrder  = false // the wall clock may have been set back between parent and child
)

// System returns the machine's process table. It reads nothing before its first use.
func System() Table { return system }

var system = &gopsutilTable{}

type gopsutilTable struct {
	once sync.Once
	self Process
}

func (t *gopsutilTable) Self() Process {
	t.once.Do(func() {
		t.self = Process{Host: processHost(), Boot: BootID(), PID: os.Getpid(), Namespace: namespace()}
		if info, err := t.Look(t.self.PID); err == nil {
			t.self = info.Process
		}
	})
	return t.self
}

func (t *gopsutilTable) Inspect(pid int) (Info, error) {
	info, err := t.Look(pid)
	if err != nil {
		return Info{}, err
	}
	p := &process.Process{Pid: int32(pid)}
	if ppid, err := p.Ppid(); err == nil {
		info.PPID = int(ppid)
	}
	info.Name, _ = p.Name() // what cannot be read stays empty
	info.Args = arguments(p)
	return info, nil
}

func (t *gopsutilTable) Verdict(p Process) Verdict {
	return Judge(p, t.Self(), t.Look)
}

// Look leaves out parent and name, too.
func (t *gopsutilTable) Look(pid int) (Info, error) {
	created, err := (&process.Process{Pid: int32(pid)}).CreateTime()
	if err != nil {
		if exists, existsErr := process.PidExists(int32(pid)); existsErr == nil && !exists {
			return Info{}, fs.ErrNotExist
		}
		return Info{}, err
	}
	return Info{
		Process:   Process{Host: processHost(), Boot: BootID(), PID: pid, Start: uint64(created), Namespace: namespace()},
		Zombie:    isZombie(pid),
		Stopped:   isStopped(pid),
		StartedAt: time.UnixMilli(created).UTC(),
	}, nil
}

func readNamespace() string { return "" }

func watchExit(table Table, p Process) (<-chan struct{}, func(), error) {
	return watchByPolling(table, p, pollInterval)
}
