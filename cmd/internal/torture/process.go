//go:build linux

package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A host is a data directory on a machine.
type host struct {
	machine *machine // of a host that shares rooms; nil: this one
	tt      string
	data    string
	dir     string // in which its commands run
	environ []string
}

// on is a data directory on this machine as a host.
func (e *env) on(data string) *host {
	return &host{tt: e.tt, data: data, dir: e.workspace, environ: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(e.base, "home"), "TALKING_STICK_DATA_DIR=" + data,
	}}
}

// A process is a program on a host, with what it has printed.
type process struct {
	*exec.Cmd
	machine  *machine
	out, err bytes.Buffer
	over     chan struct{} // closed when it has ended
	exit     int           // its status then; -1: by a signal
}

// process is a program, with a handoff on its standard input.
func (h *host) process(line ...string) *process {
	p := &process{Cmd: exec.Command(line[0], line[1:]...), machine: h.machine, over: make(chan struct{}), exit: -1}
	p.Env, p.Dir, p.Stdin = h.environ, h.dir, strings.NewReader(`{"status":"s","next_action":"n"}`)
	p.Stdout, p.Stderr = &p.out, &p.err
	return p
}

// command is tt --json on the host.
func (h *host) command(args ...string) *process {
	return h.process(append(append([]string{h.tt}, args...), "--json")...)
}

// ok runs tt commands, one per line, which must succeed.
func (h *host) ok(lines ...string) error {
	for _, line := range lines {
		if p := h.command(strings.Fields(line)...).run(); p.exit != 0 {
			return fmt.Errorf("tt %v", p)
		}
	}
	return nil
}

func (p *process) String() string {
	text := strings.TrimSpace(p.out.String() + p.err.String())
	return fmt.Sprintf("%s: exit %d: %s", strings.Join(p.Args[1:], " "), p.exit, text[:min(len(text), 600)])
}

func (p *process) launch() (err error) {
	if p.machine.in(func() { err = p.Start() }); err == nil {
		go func() {
			_ = p.Wait()
			p.exit = p.ProcessState.ExitCode()
			close(p.over)
		}()
	}
	return err
}

// longest is how long a command may take: a wait of a few seconds, its calls of the engine,
// on a busy machine.
const longest = 3 * time.Minute

// result waits until the process has ended, which it must in time: else its stacks are its answer, and status 2.
func (p *process) result() *process {
	defer time.AfterFunc(longest, func() { p.signal(syscall.SIGQUIT) }).Stop()
	<-p.over
	return p
}

// run runs the process to its end.
func (p *process) run() *process {
	if err := p.launch(); err != nil {
		p.exit = 1
		fmt.Fprint(&p.err, err)
		return p
	}
	return p.result()
}

func (p *process) signal(sig syscall.Signal) { _ = p.Process.Signal(sig) }

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.over
}

// code is that of the error of a process that has ended, "" if it names none.
func (p *process) code() (code string) {
	for line := range bytes.Lines(p.err.Bytes()) {
		var v struct{ Error string }
		if json.Unmarshal(line, &v) == nil && v.Error != "" {
			code = v.Error
		}
	}
	return code
}
