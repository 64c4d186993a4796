//go:build linux

package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// An outcome is how a command ended.
type outcome struct {
	line           []string
	began, ended   time.Time
	exit           int // -1: by a signal
	stdout, stderr string
	code           string // of its error
	disturbed      bool   // it was stopped or killed, or meant to be
	hung           bool
}

func (o *outcome) String() string {
	text := strings.TrimSpace(o.stdout + o.stderr)
	return fmt.Sprintf("%s: exit %d after %v: %s", strings.Join(o.line, " "), o.exit, o.ended.Sub(o.began).Round(time.Millisecond), text[:min(len(text), 600)])
}

// A process is a command, with what it has printed.
type process struct {
	*exec.Cmd
	out, err bytes.Buffer
	over     chan struct{} // closed when it has ended
	outcome  outcome       // from then on
}

func newProcess(dir string, environ, line []string) *process {
	p := &process{Cmd: exec.Command(line[0], line[1:]...), over: make(chan struct{})}
	p.Env, p.Dir, p.Stdout, p.Stderr = environ, dir, &p.out, &p.err
	p.outcome.line = line[1:]
	return p
}

// launch starts the process, by exec.Cmd.Start if start is nil.
func (p *process) launch(start func(*exec.Cmd) error) error {
	if start == nil {
		start = (*exec.Cmd).Start
	}
	p.outcome.began = time.Now()
	err := start(p.Cmd)
	if err == nil {
		go p.await()
	}
	return err
}

func (p *process) await() {
	err := p.Wait()
	o := &p.outcome
	o.ended, o.stdout, o.stderr = time.Now(), p.out.String(), p.err.String()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		o.exit = exit.ExitCode()
	case err != nil:
		o.exit, o.stderr = 1, o.stderr+err.Error()
	}
	for line := range strings.Lines(o.stderr) {
		var v struct{ Error string }
		if json.Unmarshal([]byte(line), &v) == nil && v.Error != "" {
			o.code = v.Error
		}
	}
	close(p.over)
}

// result waits until the process has ended.
func (p *process) result() *outcome {
	<-p.over
	return &p.outcome
}

// within is result for a process that must end within a time.
func (p *process) within(most time.Duration) *outcome {
	hang := time.AfterFunc(most, func() { p.signal(syscall.SIGQUIT) })
	o := p.result()
	o.hung = !hang.Stop()
	return o
}

func (p *process) isOver() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.over
}

func (p *process) signal(sig syscall.Signal) { _ = p.Process.Signal(sig) }

// run runs the process to its end.
func (p *process) run() *outcome {
	if err := p.launch(nil); err != nil {
		return &outcome{line: p.Args, exit: 1, stderr: err.Error()}
	}
	return p.result()
}

// command is a program on a data directory, in the workspace, with a handoff on its
// standard input.
func (e *env) command(data string, line ...string) *process {
	p := newProcess(e.workspace, e.environ(data), line)
	p.Stdin = strings.NewReader(`{"status":"s","next_action":"n"}`)
	return p
}

// environ is the environment of programs on a data directory.
func (e *env) environ(data string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(e.base, "home"), "TALKING_STICK_DATA_DIR=" + data}
}

// line is tt --json with arguments, below another program such as strace.
func (e *env) line(under []string, args ...string) []string {
	return append(append(append([]string{}, under...), e.tt), append(args, "--json")...)
}

// start starts tt --json below other programs.
func (e *env) start(data string, under []string, args ...string) (*process, error) {
	p := e.command(data, e.line(under, args...)...)
	return p, p.launch(nil)
}

// run runs tt --json.
func (e *env) run(data string, args ...string) *outcome { return e.runUnder(data, nil, args...) }

func (e *env) runUnder(data string, under []string, args ...string) *outcome {
	return e.command(data, e.line(under, args...)...).run()
}

// ok runs tt commands, one per line, which must succeed.
func (e *env) ok(data string, lines ...string) error {
	for _, line := range lines {
		if o := e.run(data, strings.Fields(line)...); o.exit != 0 {
			return fmt.Errorf("tt %v", o)
		}
	}
	return nil
}
