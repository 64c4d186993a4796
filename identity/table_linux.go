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

// System returns the machine's process table. It reads nothing until asked.
func System() Table { return system }

var system = &procTable{}

// A procTable reads /proc directly.
type procTable struct {
	once sync.Once
	self Process
}

func (t *procTable) Self() Process {
	t.once.Do(func() {
		t.self = Process{Host: hostName(), Boot: BootID(), PID: os.Getpid(), Namespace: namespace()}
		if s, err := readStat(t.self.PID); err == nil && t.self.Namespace != "" {
			t.self.Start = s.start
		}
	})
	return t.self
}

func (t *procTable) Inspect(pid int) (Info, error) {
	info, err := t.look(pid)
	if err != nil {
		return Info{}, err
	}
	info.StartedAt = bootInstant().Add(time.Duration(info.Start) * tick).Truncate(tick)
	// The process may end between the reads: then it has no arguments any more.
	if line, err := readProc(pid, "cmdline"); err == nil {
		info.Args = splitArgs(line)
	}
	return info, nil
}

func (t *procTable) Verdict(p Process) Verdict {
	return Judge(p, t.Self(), t.look)
}

// look is Inspect without arguments and wall time: one file.
func (t *procTable) look(pid int) (Info, error) {
	if namespace() == "" {
		return Info{}, fmt.Errorf("/proc does not show the processes of this namespace")
	}
	s, err := readStat(pid)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Process: Process{Host: hostName(), Boot: BootID(), PID: pid, Start: s.start, Namespace: namespace()},
		PPID:    s.ppid,
		Name:    s.name,
		Zombie:  s.zombie(),
	}, nil
}

// readStat reads /proc/PID/stat. The error is fs.ErrNotExist only when the
// kernel confirms that there is no such process: hidepid and missing mounts make
// the file absent too.
func readStat(pid int) (stat, error) {
	line, err := readProc(pid, "stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		if pid <= 0 || unix.Kill(pid, 0) == unix.ESRCH {
			return stat{}, fs.ErrNotExist
		}
		// It was born in between, or it is hidden: the second look tells.
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

// readSmall reads one small file of /proc with one open, read and close.
// os.ReadFile would add an fstat, a second read, and the poller: the first file
// that package os opens sets that up for the whole process.
func readSmall(path string) ([]byte, error) {
	fd, err := retried(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096) // a stat line has at most some 1 100 bytes; of a longer argv the beginning will do
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
