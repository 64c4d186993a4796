package fsroom_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
)

// Tests with several processes run this binary again with its part in a variable.
const partVariable = "FSROOM_TEST_PART"

func TestMain(m *testing.M) {
	part := os.Getenv(partVariable)
	if part == "" {
		os.Exit(fsroomtest.Main(m))
	}
	if err := play(part, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, part+":", err)
		os.Exit(1)
	}
}

func play(part, dir string, args []string) error {
	s, err := fsroom.Open(dir, fsroom.Options{Patience: patience})
	if err != nil {
		return err
	}
	return parts[part](fsroom.At(s, tallyRules, "demo"), args)
}

// A process is this binary in a part.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.Closer
	lines *bufio.Scanner
}

func start(t testing.TB, part, dir string, args ...string) *process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{dir}, args...)...)
	if _, err := os.Stat(cmd.Path); err != nil {
		cmd.Path = os.Args[0]
	}
	return startAs(t, part, cmd)
}

func startAs(t testing.TB, part string, cmd *exec.Cmd) *process {
	t.Helper()
	cmd.Env = append(os.Environ(), partVariable+"="+part)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, in: in, lines: bufio.NewScanner(out)}
	t.Cleanup(func() { p.in.Close(); p.cmd.Process.Kill(); p.cmd.Wait() })
	return p
}

// line returns the next line of the process, "" at the end.
func (p *process) line() string {
	if !p.lines.Scan() {
		return ""
	}
	return p.lines.Text()
}

// rest returns all lines to come.
func (p *process) rest() []string {
	var lines []string
	for p.lines.Scan() {
		lines = append(lines, p.lines.Text())
	}
	return lines
}

// done waits for a process that must end well.
func (p *process) done() {
	p.t.Helper()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%s: %v", p.cmd.Args, err)
	}
}

// kill ends the process at once and returns what it had still said.
func (p *process) kill() []string {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	lines := p.rest()
	_ = p.cmd.Wait()
	return lines
}
