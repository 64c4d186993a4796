//go:build linux

package hosts

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

// A host is a data directory on a machine.
type host struct {
	n       int
	tt      string
	machine *machine
	dir     string // its home and workspace
	environ []string
}

const roomName = "torture/hosts"

func newHost(n int, tt, dir, url string, m *machine, environ ...string) (*host, error) {
	h := &host{n: n, tt: tt, machine: m, dir: dir}
	h.environ = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TALKING_STICK_DATA_DIR=" + h.data(),
		"TALKING_STICK_ENGINE=" + url, "TALKING_STICK_ROOM=" + roomName}, environ...)
	return h, os.MkdirAll(h.workspace(), 0o700)
}

func (h *host) workspace() string { return filepath.Join(h.dir, "workspace") }

func (h *host) data() string { return filepath.Join(h.dir, "data") }

// An outcome is how a command ended.
type outcome struct {
	line         []string
	began, ended time.Time
	exit         int // -1: by a signal
	stdout       []byte
	stderr       []byte
	code         string // of its error
	hung         bool
}

func (o *outcome) String() string {
	text := string(bytes.TrimSpace(append(bytes.Clone(o.stdout), o.stderr...)))
	return fmt.Sprintf("%s: exit %d after %v: %s", strings.Join(o.line, " "), o.exit, o.ended.Sub(o.began).Round(time.Millisecond), text[:min(len(text), 600)])
}

// longest is how long a command may take: a wait of a few seconds, its calls of the engine,
// on a busy machine.
const longest = 60 * time.Second

// run runs a command of tt on the host. Unless killAfter is 0 it is killed after that time.
func (h *host) run(killAfter time.Duration, args ...string) *outcome {
	return h.exec(killAfter, "", append(args, "--json")...)
}

// exec is run with a standard input, and without --json.
func (h *host) exec(killAfter time.Duration, stdin string, args ...string) *outcome {
	o := &outcome{line: args, began: time.Now(), exit: -1}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(h.tt, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.environ, h.workspace(), &stdout, &stderr
	cmd.Stdin = strings.NewReader(stdin)
	err := h.machine.start(cmd)
	if err == nil {
		if killAfter > 0 {
			defer time.AfterFunc(killAfter, func() { _ = cmd.Process.Kill() }).Stop()
		}
		hang := time.AfterFunc(longest, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
		err = cmd.Wait()
		o.hung = !hang.Stop()
	}
	o.ended, o.stdout, o.stderr = time.Now(), stdout.Bytes(), stderr.Bytes()
	var exit *exec.ExitError
	switch {
	case err == nil:
		o.exit = 0
	case errors.As(err, &exit):
		o.exit = exit.ExitCode()
	default:
		o.stderr = append(o.stderr, err.Error()...)
	}
	for line := range bytes.Lines(o.stderr) {
		var v struct{ Error string }
		if json.Unmarshal(line, &v) == nil && v.Error != "" {
			o.code = v.Error
		}
	}
	return o
}

// mirror returns the journal of the room as the host has it.
func (h *host) mirror() ([]byte, error) {
	paths, err := filepath.Glob(filepath.Join(h.data(), "engines", "*", "rooms", "*", "journal.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(paths) != 1 {
		return nil, fmt.Errorf("host %d has the journals %q, want one", h.n+1, paths)
	}
	return os.ReadFile(paths[0])
}
