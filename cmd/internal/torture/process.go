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
	machine  *machine // that it runs on; nil: this one
	out, err bytes.Buffer
	over     *latch  // closed when it has ended
	outcome  outcome // from then on
}

func (p *process) launch() (err error) {
	p.outcome.began = time.Now()
	if p.machine.in(func() { err = p.Start() }); err == nil {
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
	p.over.close()
}

// longest is how long a command may take: a wait of a few seconds, its calls of the engine,
// on a busy machine.
const longest = 3 * time.Minute

// result waits until the process has ended, which it must in time.
func (p *process) result() *outcome {
	hang := time.AfterFunc(longest, func() { p.signal(syscall.SIGQUIT) })
	<-p.over.Done()
	p.outcome.hung = !hang.Stop()
	return &p.outcome
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.over.Done()
}

func (p *process) signal(sig syscall.Signal) { _ = p.Process.Signal(sig) }

// run runs the process to its end.
func (p *process) run() *outcome {
	if err := p.launch(); err != nil {
		return &outcome{line: p.Args, exit: 1, stderr: err.Error()}
	}
	return p.result()
}

// on is a data directory on this machine as a host.
func (e *env) on(data string) *host {
	return &host{tt: e.tt, data: data, workspace: e.workspace, environ: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(e.base, "home"), "TALKING_STICK_DATA_DIR=" + data,
	}}
}
