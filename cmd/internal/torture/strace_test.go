//go:build linux

package torture

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const someTrace = `10 openat(AT_FDCWD, "0", O_RDONLY) = 3
10 openat(AT_FDCWD, "a", O_RDONLY) = 3
11 openat(AT_FDCWD, "b", O_RDONLY <unfinished ...>
10 --- SIGURG {si_signo=SIGURG, si_code=SI_TKILL, si_pid=10, si_uid=0} ---
11 <... openat resumed>) = 4
11 write(3, "x", 1) = 1
11 write(5, "\1\0\0\0\0\0\0\0", 8) = 8
10 write(3, "y", 1) = 1
10 fdatasync(3) = 0
10 +++ exited with 0 +++
`

func TestPointsInATrace(t *testing.T) {
	got := pointsIn(someTrace)
	want := []point{
		{"openat", 1, false, map[string]int{}},
		{"openat", 2, false, map[string]int{"openat": 1}},
		{"write", 1, true, map[string]int{"openat": 1}},
		{"fdatasync", 1, true, map[string]int{"openat": 2, "write": 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFaultAtAPoint(t *testing.T) {
	p := point{"write", 3, true, map[string]int{"openat": 4, "write": 2, "fdatasync": 1}}
	for f, want := range map[fault]string{
		"signal=SIGKILL": "inject=write:signal=SIGKILL:when=3",
		"error=EIO":      "inject=write:error=EIO:when=3",
	} {
		if args := f.at(p); !slices.Contains(args, want) {
			t.Errorf("%s: got %v, want %s", f, args, want)
		}
	}
	args := fault("error=EIO*").at(p)
	for _, want := range []string{"inject=?write:error=EIO:when=3+", "inject=?fdatasync:error=EIO:when=2+", "inject=?fsync:error=EIO:when=1+"} {
		if !slices.Contains(args, want) {
			t.Errorf("a dead disk: got %v, want %s", args, want)
		}
	}
	p.call = "fsync"
	if args := strings.Join(fault("error=EIO*").at(p), " "); strings.Contains(args, "inject=?write") {
		t.Errorf("nothing can be told: %s", args)
	}
}

func TestWhetherAFaultStruck(t *testing.T) {
	for _, c := range []struct {
		fault fault
		trace string
		want  bool
	}{
		{"signal=SIGKILL", "10 write(1, \"a\", 1) = ?\n10 +++ killed by SIGKILL +++\n", true},
		{"signal=SIGKILL", "10 write(1, \"a\", 1) = 1\n", false},
		{"signal=SIGINT", "10 --- SIGINT {si_signo=SIGINT} ---\n", true},
		{"signal=SIGINT", "10 --- SIGURG {si_signo=SIGURG} ---\n", false},
		{"error=EIO*", "10 write(1, \"a\", 1) = -1 EIO (Input/output error) (INJECTED)\n", true},
		{"error=EIO", "10 write(1, \"a\", 1) = -1 EIO (Input/output error)\n", false},
	} {
		if got := c.fault.struck(c.trace); got != c.want {
			t.Errorf("%s: got %v in %s", c.fault, got, c.trace)
		}
	}
}
