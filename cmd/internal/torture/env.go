//go:build linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// An env is what all attacks share.
type env struct {
	base      string // the directory of everything
	workspace string // one for all data directories, so that copies are of the same room
	tt        string // the program
	long      bool
	seed      uint64
	dirs      atomic.Int64
	fixtures  func() []*fixture // of all cases, made once
}

// newEnv builds tt and makes a directory for everything, in memory if possible.
func newEnv(long bool, seed uint64) (*env, error) {
	base, err := os.MkdirTemp("/dev/shm", "tt-torture-")
	if err != nil {
		if base, err = os.MkdirTemp("", "tt-torture-"); err != nil {
			return nil, err
		}
	}
	e := &env{base: base, workspace: filepath.Join(base, "workspace"), long: long, seed: seed}
	e.fixtures = sync.OnceValue(e.allFixtures)
	for _, dir := range []string{e.workspace, filepath.Join(base, "home")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if e.tt, err = e.build("tt"); err != nil {
		e.close()
	}
	return e, err
}

// close ends all processes of the run and removes its files.
func (e *env) close() {
	e.reap(e.base)
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], e.base+"/") {
			_ = disk{dir: f[1]}.unmount()
		}
	}
	_ = os.RemoveAll(e.base)
}

func (e *env) closeOnSignal() {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-caught
		e.close()
		e.close() // what the attack has made meanwhile
		os.Exit(130)
	}()
}

func (e *env) random() *rand.Rand { return rand.New(rand.NewPCG(e.seed, uint64(e.dirs.Add(1)))) }

// pick is short, or long in a long run.
func (e *env) pick(short, long int) int {
	if e.long {
		return long
	}
	return short
}

// newDir is the path of a directory that does not exist yet.
func (e *env) newDir() string { return filepath.Join(e.base, "d"+strconv.FormatInt(e.dirs.Add(1), 10)) }

// remove ends the guardians of a data directory and removes it.
func (e *env) remove(data string) {
	e.reap(data)
	_ = os.RemoveAll(data)
}

// A result is how a command ended.
type result struct {
	exit   int // -1: by a signal
	stdout string
	stderr string
}

func (r result) String() string {
	text := strings.TrimSpace(r.stdout + r.stderr)
	return fmt.Sprintf("exit %d: %s", r.exit, text[:min(len(text), 400)])
}

// A process is a command that was started, with what it has printed.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

// command is a program on a data directory, in the workspace, with a handoff on its
// standard input.
func (e *env) command(data string, line ...string) *process {
	p := &process{Cmd: exec.Command(line[0], line[1:]...)}
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(e.base, "home"), "TALKING_STICK_DATA_DIR=" + data}
	p.Dir, p.Stdout, p.Stderr = e.workspace, &p.stdout, &p.stderr
	p.Stdin = strings.NewReader(`{"status":"s","next_action":"n"}`)
	return p
}

// outcome is how the process ended, from the error of Run or Wait.
func (p *process) outcome(err error) result {
	r := result{stdout: p.stdout.String(), stderr: p.stderr.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.exit = exit.ExitCode()
	case err != nil:
		r.exit, r.stderr = 1, r.stderr+err.Error()
	}
	return r
}

// A background is a command that runs beside others.
type background struct {
	*process
	over   chan struct{}
	result result    // once it is over
	ended  time.Time // likewise
}

// start starts tt --json below other programs.
func (e *env) start(data string, under []string, args ...string) (*background, error) {
	b := &background{process: e.command(data, e.line(under, args...)...), over: make(chan struct{})}
	if err := b.Start(); err != nil {
		return nil, err
	}
	go func() {
		b.result, b.ended = b.outcome(b.Wait()), time.Now()
		close(b.over)
	}()
	return b, nil
}

func (b *background) isOver() bool { return isClosed(b.over) }

func (b *background) kill() {
	_ = b.Process.Kill()
	<-b.over
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// line is tt --json with arguments, below another program such as strace.
func (e *env) line(under []string, args ...string) []string {
	return append(append(append([]string{}, under...), e.tt), append(args, "--json")...)
}

// run runs tt --json.
func (e *env) run(data string, args ...string) result { return e.runUnder(data, nil, args...) }

func (e *env) runUnder(data string, under []string, args ...string) result {
	p := e.command(data, e.line(under, args...)...)
	return p.outcome(p.Run())
}

// ok runs tt commands, one per line, which must succeed.
func (e *env) ok(data string, lines ...string) error {
	for _, line := range lines {
		if r := e.run(data, strings.Fields(line)...); r.exit != 0 {
			return fmt.Errorf("tt %s: %v", line, r)
		}
	}
	return nil
}

// command runs a program of the system.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// owns reports whether a process is of a data directory, or of any: its environment
// names it.
func (e *env) owns(data string, pid int) bool {
	mark := "TALKING_STICK_DATA_DIR=" + data
	if data != e.base {
		mark += "\x00"
	}
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return pid != os.Getpid() && bytes.Contains(b, []byte(mark))
}

// processes are the processes of a data directory, or of all.
func (e *env) processes(data string) (pids []int) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil && e.owns(data, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// reap kills the guardians of a data directory, or all, and returns their pids.
func (e *env) reap(data string) []int {
	pids := e.processes(data)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return pids
}

// sleepUpTo lets a random time pass.
func sleepUpTo(random *rand.Rand, most time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(most))))
}

// eventually polls a condition of another process or a mount, of which nothing
// notifies. It reports whether the condition was met within the time.
func eventually(patience time.Duration, met func() bool) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if met() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
