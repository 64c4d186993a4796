//go:build linux

package main

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
	"sync/atomic"
	"syscall"
)

// A rig is what all attacks share.
type rig struct {
	base      string // everything is in here
	workspace string // one for all data directories, so that copies are of the same room
	tt        string
	bus       string // agent-bus, once it is built
	some      bool   // of many points only some, at random
	long      bool
	seed      uint64
	dirs      atomic.Int64
	stages    func() []*stage // of all scenes, made once
}

// close ends and removes all there is, also in the middle of an attack.
func (g *rig) close() {
	g.reap(g.base)
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], g.base+"/") {
			_ = disk{dir: f[1]}.unmount()
		}
	}
	_ = os.RemoveAll(g.base)
}

// closeOnSignal closes the rig when somebody interrupts.
func (g *rig) closeOnSignal() {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-caught
		g.close()
		g.close() // what the attack has made meanwhile
		os.Exit(130)
	}()
}

func (g *rig) random() *rand.Rand { return rand.New(rand.NewPCG(g.seed, uint64(g.dirs.Add(1)))) }

// pick is the number of a run for a change, or that for a release.
func (g *rig) pick(short, long int) int {
	if g.long {
		return long
	}
	return short
}

// newDir is the path of a directory that does not exist yet.
func (g *rig) newDir() string { return filepath.Join(g.base, "d"+strconv.FormatInt(g.dirs.Add(1), 10)) }

// A result is how a command ended.
type result struct {
	exit   int // -1: by a signal
	signal syscall.Signal
	stdout string
	stderr string
}

func (r result) String() string {
	said := strings.TrimSpace(r.stdout + r.stderr)
	return fmt.Sprintf("exit %d: %s", r.exit, said[:min(len(said), 400)])
}

func (g *rig) env(data string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(g.base, "home"), "TALKING_STICK_DATA_DIR=" + data}
}

// command is tt on a data directory, below other programs.
func (g *rig) command(data string, under []string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	line := append(append(append([]string{}, under...), g.tt), args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env, cmd.Dir = g.env(data), g.workspace
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	return cmd, &stdout, &stderr
}

func (g *rig) runUnder(data string, under []string, args ...string) result {
	cmd, stdout, stderr := g.command(data, under, args...)
	err := cmd.Run()
	return ended(err, stdout.String(), stderr.String())
}

func ended(err error, stdout, stderr string) result {
	r := result{stdout: stdout, stderr: stderr}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.exit = exit.ExitCode()
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			r.signal = status.Signal()
		}
		if r.exit == 128+int(syscall.SIGKILL) {
			r.exit, r.signal = -1, syscall.SIGKILL
		}
	case err != nil:
		r.exit, r.stderr = 1, stderr+err.Error()
	}
	return r
}

// run is tt with --json.
func (g *rig) run(data string, args ...string) result {
	return g.runUnder(data, nil, append(args, "--json")...)
}

// copyDir copies a directory with its times, as a backup does.
func copyDir(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %v: %s", err, out)
	}
	return nil
}

// reap ends the guardians of a data directory, or of all: their environment names
// it, and only we use it. It returns where /proc shows them.
func (g *rig) reap(data string) (killed []string) {
	mark := "TALKING_STICK_DATA_DIR=" + data
	if data != g.base {
		mark += "\x00"
	}
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		b, err := os.ReadFile(proc + "/environ")
		if err != nil || !bytes.Contains(b, []byte(mark)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed = append(killed, proc)
		}
	}
	return killed
}

// remove ends the guardians of a data directory and removes it.
func (g *rig) remove(data string) {
	g.reap(data)
	_ = os.RemoveAll(data)
}
