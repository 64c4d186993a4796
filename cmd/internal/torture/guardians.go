//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// guardians are the guardian processes of a data directory.
func (g *rig) guardians(data string) (pids []int) {
	mark := []byte("TALKING_STICK_DATA_DIR=" + data + "\x00")
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		env, err := os.ReadFile(proc + "/environ")
		if err != nil || !bytes.Contains(env, mark) {
			continue
		}
		line, _ := os.ReadFile(proc + "/cmdline")
		if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil && slices.Contains(strings.Split(string(line), "\x00"), "guard") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// guardiansEnd hands over the turns of a room in which nobody waits any more until
// none is had, and reports an error if a guardian outlives them. Two turns have
// to pass: a guardian that was started ahead of a turn waits for that one.
func (g *rig) guardiansEnd(data string) error {
	for range 2 {
		for _, agent := range agents {
			if r := g.run(data, "try", "--agent", agent); strings.Contains(r.stdout, `"your_turn"`) {
				if r = g.run(data, "release", "--status", "s", "--next-action", "n", "--agent", agent); r.exit != 0 {
					return fmt.Errorf("release: %v", r)
				}
			}
		}
	}
	var left []int
	if eventually(atLatest+4*time.Second, func() bool { left = g.guardians(data); return len(left) == 0 }) {
		return nil
	}
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", left[0]))
	return fmt.Errorf("%d guardians of turns that have ended are left: %q; %v", len(left), line, g.run(data, "state", "--agent", agents[0]).stdout)
}

// halt stops a process that has no lock, which would stop others too: one that has
// goes on for a moment.
func halt(pid int) {
	for range 1000 {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		eventually(time.Second, func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || bytes.Contains(stat, []byte(") T "))
		})
		if locks, _ := os.ReadFile("/proc/locks"); !bytes.Contains(locks, fmt.Appendf(nil, " %d ", pid)) {
			return
		}
		_ = syscall.Kill(pid, syscall.SIGCONT)
		time.Sleep(5 * time.Millisecond) // for it to let the lock go
	}
}
