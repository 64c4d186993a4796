package identity

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// System returns the machine's process table. It reads nothing before its first use.
func System() Table { return system }

var system = &procTable{}

// A procTable reads /proc directly.
type procTable struct {
	once sync.Once
	self Process
}

func (t *procTable) Self() Process {
	t.once.Do(func() {
		t.self = Process{Host: processHost(), Boot: BootID(), PID: os.Getpid(), Namespace: namespace()}
		if s, err := readStat(t.self.PID); err == nil && t.self.Namespace != "" {
			t.self.Start = s.start
		}
	})
	return t.self
}

func (t *procTable) Inspect(pid int) (Info, error) {
	info, err := t.Look(pid)
	if err != nil {
		return Info{}, err
	}
	info.StartedAt = time.Now().Add(time.Duration(info.Start)*tick - readUptime()).Truncate(tick).UTC()
	// If the process ends between the reads it has no arguments.
	if line, err := readProc(pid, "cmdline"); err == nil {
		info.Args = splitArgs(line)
	}
	return info, nil
}

func (t *procTable) Verdict(p Process) Verdict {
	return Judge(p, t.Self(), t.Look)
}

// Look reads one file.
func (t *procTable) Look(pid int) (Info, error) {
	if namespace() == "" {
		return Info{}, fmt.Errorf("/proc does not show the processes of this namespace")
	}
	s, err := readStat(pid)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Process: Process{Host: processHost(), Boot: BootID(), PID: pid, Start: s.start, Namespace: namespace()},
		PPID:    s.ppid,
		Name:    s.name,
		Zombie:  s.zombie(),
		Stopped: s.stopped(),
	}, nil
}

// readStat reads /proc/PID/stat. The error is fs.ErrNotExist only if the kernel
// confirms that there is no such process: the file is also missing where /proc is
// mounted with hidepid or not at all.
func readStat(pid int) (stat, error) {
	line, err := readProc(pid, "stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		if pid <= 0 || unix.Kill(pid, 0) == unix.ESRCH {
			return stat{}, fs.ErrNotExist
		}
		// It has started in the meantime, or it is hidden: a second read tells.
		if line, err = readProc(pid, "stat"); err != nil {
			return stat{}, fmt.Errorf("process %d is hidden: %v", pid, err)
		}
	}
	if err != nil {
		return stat{}, err
	}
	return parseStat(line)
}

func readProc(pid int, name string) ([]byte, error) {
	return readSmall("/proc/" + strconv.Itoa(pid) + "/" + name)
}

// readSmall reads a small file of /proc with one open, read and close. os.ReadFile
// would add an fstat, a second read, and the runtime's poller, which the first file
// that package os opens sets up.
func readSmall(path string) ([]byte, error) {
	fd, err := retried(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096) // a stat line has at most 1 100 bytes; of a longer argv the beginning is enough
	n, err := retried(func() (int, error) { return unix.Read(fd, buf) })
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func splitArgs(line []byte) []string {
	if len(line) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(line, []byte{0})), "\x00")
}
