//go:build linux

package torture

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The tt that is tried lists its own system calls, or disturbs one of them: its package syscall is
// another one, see callsSource. What it starts does neither.

// callNames are the system calls of Go that change files, and those that open and lock them.
var callNames = map[uint32]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_FSYNC: "fsync",
	unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_FCHMOD: "fchmod", unix.SYS_FCHMODAT: "fchmodat", unix.SYS_FCHMODAT2: "fchmodat2",
	unix.SYS_UTIMENSAT: "utimensat", unix.SYS_LINKAT: "linkat", unix.SYS_OPENAT: "openat", unix.SYS_FLOCK: "flock",
}

// A point is one call at which something happens: the nth of its name.
type point struct {
	call    uint32
	n       int
	changes bool // files
}

func (p point) String() string { return fmt.Sprintf("%s %d", callNames[p.call], p.n) }

// A fault is what happens at a point: the call fails with an error, or the process sends itself a
// signal before it. One that lasts fails every later call that changes files as well; write, with
// which a command also prints its result, is among them only if it was the first.
type fault struct {
	name  string
	does  int // an error, or a signal above signals
	lasts bool
}

const signals = 4096

var (
	kills = fault{name: "SIGKILL", does: signals + int(unix.SIGKILL)}
	stops = fault{name: "SIGSTOP", does: signals + int(unix.SIGSTOP)}
)

func fails(errno unix.Errno) fault { return fault{name: unix.ErrnoName(errno), does: int(errno)} }

func breaks(errno unix.Errno) fault {
	return fault{name: unix.ErrnoName(errno) + " from then on", does: int(errno), lasts: true}
}

// callsVariable says to tt what to do: a fault, 0 to list the calls; the number of the call; those
// that then fail, the first of which is that call; the file for the list, or for a note that
// the fault has come.
const callsVariable = "TT_TORTURE_CALLS"

// at is the variable for the fault at a point.
func (f fault) at(p point, path string) string {
	text := fmt.Sprintf("%s=%d %d %d", callsVariable, f.does, p.n, p.call)
	if f.lasts {
		for call := range callNames {
			if call != p.call && call != unix.SYS_WRITE && call != unix.SYS_OPENAT && call != unix.SYS_FLOCK {
				text += fmt.Sprintf(",%d", call)
			}
		}
	}
	return text + " " + path
}

// A called is an entry in the list of calls. Its first and third argument are that of
// a read, and how a file is opened.
type called struct{ Call, First, Third uint32 }

// readCalls reads and removes the list of calls.
func readCalls(path string) ([]called, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list := make([]called, len(b)/binary.Size(called{}))
	if _, err := binary.Decode(b, binary.NativeEndian, list); err != nil {
		return nil, err
	}
	return list, os.Remove(path)
}

// pointsIn are the calls of a list with a name.
func pointsIn(list []called) (points []point) {
	counts := map[uint32]int{}
	for _, c := range list {
		if callNames[c.Call] != "" {
			counts[c.Call]++
			points = append(points, point{c.Call, counts[c.Call], c.Call != unix.SYS_OPENAT || c.Third&(unix.O_CREAT|unix.O_TRUNC) != 0})
		}
	}
	return points
}

// readsInput is the index of the last read of the standard input.
func readsInput(list []called) int {
	for i, c := range slices.Backward(list) {
		if c.Call == unix.SYS_READ && c.First == 0 {
			return i
		}
	}
	return 0
}

// withCalls are the edits of the package syscall.
func withCalls() ([]edit, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src", "syscall")
	edits := []edit{{File: filepath.Join(dir, "calls_linux.go"), New: strings.ReplaceAll(callsSource, "VARIABLE", callsVariable)}}
	for _, args := range []string{"trap, a1, a2, a3, 0, 0, 0", "trap, a1, a2, a3, a4, a5, a6"} {
		const call = "r1, r2, err = %s(%s)\n\truntime_exitsyscall()"
		was, is := fmt.Sprintf(call, "RawSyscall6", args), fmt.Sprintf(call, "disturbed", args)
		edits = append(edits, edit{File: filepath.Join(dir, "syscall_linux.go"), Old: was, New: is})
	}
	return edits, nil
}

// callsSource is called by every system call that may block, of all packages but runtime. It
// may not grow the stack.
const callsSource = `package syscall

import (
	"sync/atomic"
	"unsafe"
)

var (
	disturbing            bool
	disturbWith, disturbAt, disturbOut uintptr
	disturbFirst          uintptr
	disturbLater          [512]bool
	disturbCounts         [512]uint32
	disturbCame           uint32
)

func init() {
	text, ok := Getenv("VARIABLE")
	if !ok {
		return
	}
	Unsetenv("VARIABLE")
	number := func() (n uintptr) {
		for ; '0' <= text[0] && text[0] <= '9'; text = text[1:] {
			n = 10*n + uintptr(text[0]-'0')
		}
		return n
	}
	next := func() uintptr { text = text[1:]; return number() }
	disturbWith, disturbAt, disturbFirst = number(), next(), next()
	for text[0] == ',' {
		disturbLater[next()], disturbLater[disturbFirst] = true, true
	}
	out, err := Open(text[1:], O_CREAT|O_WRONLY|O_APPEND|O_CLOEXEC, 0600)
	disturbOut, disturbing = uintptr(out), err == nil
}

//go:nosplit
func disturbed(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err Errno) {
	if disturbing && trap < uintptr(len(disturbCounts)) {
		n := uintptr(atomic.AddUint32(&disturbCounts[trap], 1))
		record := [3]uint32{uint32(trap), uint32(a1), uint32(a3)}
		came := trap == disturbFirst && n == disturbAt || disturbLater[trap] && atomic.LoadUint32(&disturbCame) != 0
		if disturbWith == 0 || came {
			RawSyscall6(SYS_WRITE, disturbOut, uintptr(unsafe.Pointer(&record)), unsafe.Sizeof(record), 0, 0, 0)
		}
		if came {
			atomic.StoreUint32(&disturbCame, 1)
			if disturbWith < 4096 {
				return ^uintptr(0), 0, Errno(disturbWith)
			}
			pid, _, _ := RawSyscall6(SYS_GETPID, 0, 0, 0, 0, 0, 0)
			tid, _, _ := RawSyscall6(SYS_GETTID, 0, 0, 0, 0, 0, 0)
			RawSyscall6(SYS_TGKILL, pid, tid, disturbWith-4096, 0, 0, 0)
		}
	}
	return RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
}
`
