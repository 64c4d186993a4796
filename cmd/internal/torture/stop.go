//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// stoppedHolder stops a process that has the lock. Others are told who it is
// and do not wait for ever; once it goes on, all is as if nothing had been.
func stoppedHolder(g *rig, r *report) {
	if _, err := exec.LookPath("strace"); err != nil {
		r.skip("there is no strace")
		return
	}
	for _, call := range []string{"fdatasync", "renameat"}[:g.pick(1, 2)] {
		data := g.newDir()
		acked, err := g.stopAt(data, call)
		r.add(1, 0, len(acked))
		if err != nil {
			r.wrong("stopped at %s: %v", call, err)
			continue
		}
		r.judge(g, data, acked)
	}
}

func (g *rig) stopAt(data, call string) (acked []string, err error) {
	if err := g.members(g.tt, data); err != nil {
		return nil, err
	}
	under := strace("-e", "trace="+call, "-e", "inject="+call+":signal=SIGSTOP:when=1", "-o", "/dev/null")
	cmd, stdout, stderr := g.command(data, under, "msg", "send", "room", "slow", "--agent", "a:1")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	room, err := g.room(data)
	if err != nil {
		return nil, err
	}
	pid, err := stoppedHolderOf(filepath.Join(room.Dir(), "lock"))
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	blocked := g.run(data, "msg", "send", "room", "blocked", "--agent", "b:2")
	doctor := g.run(data, "doctor")
	if res := ended(goOn(pid, cmd), stdout.String(), stderr.String()); res.exit != 0 {
		return nil, fmt.Errorf("the stopped process: %v", res)
	}
	return []string{"slow"}, namesHolder(blocked, doctor, pid)
}

// namesHolder: the error and the doctor say who has the lock.
func namesHolder(blocked, doctor result, pid int) error {
	var told struct {
		Error  string
		Holder int `json:"holder_pid"`
	}
	if err := json.Unmarshal([]byte(blocked.stderr), &told); err != nil || told.Error != "lock_timeout" || told.Holder != pid {
		return fmt.Errorf("process %d has the lock, but told is: %v", pid, blocked)
	}
	if doctor.exit != 1 || !strings.Contains(doctor.stdout, "held by process "+strconv.Itoa(pid)) {
		return fmt.Errorf("process %d has the lock; doctor: %v", pid, doctor)
	}
	return nil
}

// stoppedHolderOf waits for a process to have the lock and stand still with it.
func stoppedHolderOf(lock string) (int, error) {
	still := 0
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		h, ok := lockfile.FindHolder(lock)
		if !ok || h.State != "stopped" && h.State != "traced" {
			still = 0
			continue
		}
		if still++; still == 20 {
			return h.PID, nil
		}
	}
	return 0, fmt.Errorf("it did not stop")
}

// goOn lets the process go on, and again if it was not stopped yet, until its
// command has ended.
func goOn(pid int, cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		select {
		case err := <-done:
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
