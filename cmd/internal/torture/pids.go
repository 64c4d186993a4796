//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// reusedPIDs ends owners and gives their pid to somebody else. The owner is gone
// all the same, and whoever waits is told.
func reusedPIDs(g *rig, r *report) {
	if err := os.WriteFile(lastPID, fmt.Append(nil, os.Getpid()), 0o600); err != nil {
		r.skip(fmt.Sprintf("a pid cannot be had again here: %v", err))
		return
	}
	for n := range g.pick(4, 50) {
		r.add(1, 0, 0)
		err := g.reusedPID(r, n%2 == 0)
		if err == errNotHad {
			r.skip(err.Error())
			return
		}
		if err != nil {
			r.wrong("%v", err)
		}
	}
	r.tellLate()
}

const lastPID = "/proc/sys/kernel/ns_last_pid"

var errNotHad = fmt.Errorf("the pid was not had again in 1000 tries")

// reusedPID: the owner is a process that calls itself claude and has run
// `tt try`, or an agent of which nothing is known but its guardian.
func (g *rig) reusedPID(r *report, harness bool) error {
	data := g.newDir()
	defer g.remove(data)
	pid, owner, err := g.mortal(data, harness)
	if err != nil {
		return err
	}
	w, err := g.startWait(data, nil, "b:2")
	if err != nil {
		return err
	}
	defer w.kill()
	since := time.Now()
	if owner == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	} else {
		_ = owner.Process.Kill()
		_ = owner.Wait()
	}
	late, err := w.told(since)
	if err != nil {
		return err
	}
	if !strings.Contains(w.stdout, `"`+turn.TakeoverAvailable+`"`) {
		return fmt.Errorf("the owner, pid %d, was gone, and the waiter was told %v", pid, w.result)
	}
	r.wereTold(late)
	other, err := reuse(pid)
	if err != nil {
		return err
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	if res := g.run(data, "state", "--agent", "b:2"); !strings.Contains(res.stdout, `"owner_gone"`) {
		return fmt.Errorf("the owner's pid %d is another's, and that counts as the owner: %v", pid, res)
	}
	if err := g.ok(data, "take", "--reason", "its process has ended", "--agent", "b:2"); err != nil {
		return err
	}
	return g.mended(data)
}

// mortal gives the turn to somebody whose end is that of one process.
func (g *rig) mortal(data string, harness bool) (pid int, owner *exec.Cmd, err error) {
	if !harness {
		y := relay{rig: g, data: data, owner: "a:1"}
		err := y.have(g.run(data, "try", "--agent", y.owner))
		return y.guardian, nil, err
	}
	claude, err := g.claude()
	if err != nil {
		return 0, nil, err
	}
	owner = exec.Command(claude, filepath.Join(g.base, "agent.sh"))
	owner.Env, owner.Dir = append(g.env(data), "CLAUDECODE=1", "TT="+g.tt), g.workspace
	out, err := owner.StdoutPipe()
	if err == nil {
		err = owner.Start()
	}
	if err != nil {
		return 0, nil, err
	}
	said := make([]byte, 1<<10)
	n, err := out.Read(said)
	if err != nil || !strings.Contains(string(said[:n]), turn.YourTurn) {
		_ = owner.Process.Kill()
		return 0, nil, fmt.Errorf("the owner was told %s, %v", said[:n], err)
	}
	return owner.Process.Pid, owner, nil
}

// claude is a shell by that name, for which the pid it has is its session.
func (g *rig) claude() (string, error) {
	path := filepath.Join(g.base, "claude")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	sh, err := exec.LookPath("bash")
	if err != nil {
		return "", err
	}
	if err := command("cp", sh, path); err != nil {
		return "", err
	}
	return path, os.WriteFile(filepath.Join(g.base, "agent.sh"), []byte("\"$TT\" try --json\nexec sleep 60\n"), 0o600)
}

// reuse starts a process that has the pid of one that has ended. Others start
// processes meanwhile, so it takes several tries.
func reuse(pid int) (*exec.Cmd, error) {
	eventually(5*time.Second, func() bool { return !exists(pid) }) // somebody has to take its status
	for range 1000 {
		if err := os.WriteFile(lastPID, fmt.Append(nil, pid-1), 0o600); err != nil {
			return nil, err
		}
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		if cmd.Process.Pid == pid {
			return cmd, nil
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return nil, errNotHad
}

func exists(pid int) bool { return syscall.Kill(pid, 0) == nil }
