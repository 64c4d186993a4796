//go:build linux

package torture

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
)

// The system calls that change files, and those that open and lock them.
const (
	changing = "write,pwrite64,fdatasync,fsync,renameat,renameat2,rename,mkdirat,unlinkat,ftruncate,fchmod,fchmodat,fchmodat2,utimensat,linkat"
	opening  = ",openat,flock"
)

// strace is the command line below which a program is traced. It detaches from the
// guardian, for which it would wait otherwise.
func strace(args ...string) []string {
	return append([]string{"strace", "-f", "-qq", "-b", "execve"}, args...)
}

// known is the calls with a question mark each, so that strace ignores one that it
// does not know.
func known(calls string) string { return "?" + strings.ReplaceAll(calls, ",", ",?") }

// A point is one call at which something happens: the nth of its name in its
// thread.
type point struct {
	call    string
	n       int
	changes bool           // files
	earlier map[string]int // how many of each name its thread made before
}

func (p point) String() string { return fmt.Sprintf("%s %d", p.call, p.n) }

var traced = regexp.MustCompile(`^(\d+) +([a-z0-9_]+)\(`)

// noise is what the runtime of Go does: it wakes its poller, and reads when it starts what the
// machine lets it use.
var noise = regexp.MustCompile(`write\(\d+, "\\1\\0\\0\\0\\0\\0\\0\\0", 8|openat\(AT_FDCWD, "/(sys|proc/self)/`)

// changes reports whether a traced call may change files: to open one does so if it makes it.
func changes(line string) bool {
	return !strings.Contains(line, "openat(") || strings.Contains(line, "O_CREAT") || strings.Contains(line, "O_TRUNC")
}

// pointsIn are the calls in a trace. Each thread is counted on its own, as strace
// does when it injects. Where two threads make an nth call of one name, the point
// is the one that came first.
func pointsIn(trace string) []point {
	byThread := map[string]map[string]int{}
	most := map[string]int{}
	var points []point
	for line := range strings.Lines(trace) {
		m := traced.FindStringSubmatch(line)
		if m == nil || m[2] == "execve" {
			continue
		}
		thread, call := m[1], m[2]
		if byThread[thread] == nil {
			byThread[thread] = map[string]int{}
		}
		calls := byThread[thread]
		if n := calls[call] + 1; n > most[call] && !noise.MatchString(line) {
			most[call] = n
			points = append(points, point{call, n, changes(line), maps.Clone(calls)})
		}
		calls[call]++
	}
	return points
}

// A fault is what strace does at a point: "signal=SIGKILL", "error=EIO". With a star
// at its end it does so at every later call that changes files as well; write, with
// which a command also prints its result, is among them only if it was the first.
type fault string

// lasts reports whether more than one call fails.
func (f fault) lasts() bool { return strings.HasSuffix(string(f), "*") }

// at returns the arguments of strace that cause the fault at a point.
func (f fault) at(p point) []string {
	if does, ok := strings.CutSuffix(string(f), "*"); ok {
		var args []string
		for call := range strings.SplitSeq(changing, ",") {
			if call != "write" || p.call == "write" {
				args = append(args, "-e", fmt.Sprintf("inject=?%s:%s:when=%d+", call, does, p.earlier[call]+1))
			}
		}
		return append([]string{"-e", "trace=" + known(changing)}, args...)
	}
	return []string{"-e", "trace=" + p.call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", p.call, f, p.n)}
}

// struck reports whether the fault is in the trace.
func (f fault) struck(trace string) bool {
	if signal, ok := strings.CutPrefix(string(f), "signal="); ok {
		return strings.Contains(trace, "+++ killed by "+signal) || strings.Contains(trace, "--- "+signal+" {")
	}
	return strings.Contains(trace, "(INJECTED)")
}

// readTrace reads and removes what strace wrote.
func readTrace(path string) string {
	b, _ := os.ReadFile(path)
	_ = os.Remove(path)
	return string(b)
}
