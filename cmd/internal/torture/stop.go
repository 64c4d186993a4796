//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// stoppedHolder stops commands at their calls. While one has the room's lock
// others are told who it is and do not wait for ever; once it goes on, it and who
// queued behind it succeed in this order.
func stoppedHolder(g *rig, r *report) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	var runs []func()
	for _, st := range g.stages() {
		if st.repair || strings.HasPrefix(st.args[0]+" "+st.args[1], "msg recv") {
			continue
		}
		t, points, err := g.trial(r, st, changing+looking, "signal=SIGSTOP")
		if err != nil {
			r.wrong("%v", err)
		}
		for _, p := range points[max(0, slices.IndexFunc(points, func(p point) bool { return p.call == "flock" })):] {
			runs = append(runs, func() { t.stopped(p) })
		}
	}
	var workers sync.WaitGroup // each waits for others most of the time
	places := make(chan struct{}, 24)
	for run := range g.sample(runs, 24, 600) {
		places <- struct{}{}
		workers.Go(func() {
			run()
			<-places
		})
	}
	workers.Wait()
}

// stopped stops the command at a point and judges.
func (t *trial) stopped(p point) {
	what := fmt.Sprintf("tt %s, stopped at %v", strings.Join(t.args, " "), p)
	t.report.reach(what, func() bool {
		data := t.newDir()
		defer t.remove(data)
		held, err := t.stopAt(data, p)
		if err == errPassed {
			return false
		}
		t.report.add(1, 0, 1)
		t.report.held(held)
		if err != nil {
			t.report.wrong("%s: %v", what, err)
		}
		return true
	})
}

var errPassed = fmt.Errorf("it did not come to the point")

func (t *trial) stopAt(data string, p point) (held bool, err error) {
	if err := t.copyTo(data); err != nil {
		return false, err
	}
	room, err := t.room(data)
	if err != nil {
		return false, err
	}
	trace := data + ".trace"
	defer os.Remove(trace)
	cmd, stdout, stderr := t.command(data, strace(append(t.fault.at(p), "-o", trace)...), t.args...)
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ends := make(chan error, 1)
	go func() { ends <- cmd.Wait() }()
	pid, err := stoppedIn(trace, ends)
	if err != nil {
		return false, err
	}
	held = holds(pid, filepath.Join(room.Dir(), "lock"))
	var follow func() result
	if held {
		err = t.refused(data, pid)
		follow = t.queued(data, pid)
	} else if other := t.run(data, "join", "--agent", "y:8"); other.exit != 0 {
		err = fmt.Errorf("nothing is locked, but: %v", other)
	}
	res := ended(goOn(pid, ends), stdout.String(), stderr.String())
	if follow != nil {
		if other := follow(); other.exit != 0 && err == nil {
			err = fmt.Errorf("who was queued behind it: %v", other)
		}
	}
	if err == nil && res.exit != 0 {
		err = fmt.Errorf("the stopped process: %v", res)
	}
	if err == nil {
		err = t.inOrder(data, held)
	}
	if err == nil {
		err = t.mended(data)
	}
	return held, err
}

// holds reports whether the process has the lock. The kernel's list of locks is
// read in pieces, between which a line can be missed while others lock and unlock,
// as they do here: so it is looked at more than once.
func holds(pid int, lock string) bool {
	for range 5 {
		if holder, ok := lockfile.FindHolder(lock); ok {
			return holder.PID == pid
		}
	}
	return false
}

// refused: another one is told in time who has the lock, and so does the doctor;
// if not at the first look, see [holds], then at one of the next.
func (t *trial) refused(data string, pid int) (err error) {
	for range 3 {
		began := time.Now()
		blocked := t.run(data, "join", "--agent", "y:8")
		if took := time.Since(began); took < 4*time.Second || took > 15*time.Second {
			return fmt.Errorf("the lock was waited for %v", took)
		}
		if err = namesHolder(blocked, t.run(data, "doctor"), pid); err == nil || !strings.Contains(blocked.stderr, "lock_timeout") {
			return err
		}
	}
	return err
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

// queued starts somebody who waits for the lock, and returns how that ended.
func (t *trial) queued(data string, holder int) func() result {
	cmd, stdout, stderr := t.command(data, nil, "join", "--agent", "x:7", "--json")
	if err := cmd.Start(); err != nil {
		return func() result { return result{exit: 1, stderr: err.Error()} }
	}
	for deadline := time.Now().Add(4 * time.Second); !waitsForLock(cmd.Process.Pid) && time.Now().Before(deadline); {
		time.Sleep(2 * time.Millisecond)
	}
	return func() result { err := cmd.Wait(); return ended(err, stdout.String(), stderr.String()) }
}

// waitsForLock reports whether the process is in the queue for any lock.
func waitsForLock(pid int) bool {
	locks, _ := os.ReadFile("/proc/locks")
	for line := range bytes.Lines(locks) {
		if f := strings.Fields(string(line)); len(f) > 5 && f[1] == "->" && f[5] == strconv.Itoa(pid) {
			return true
		}
	}
	return false
}

// inOrder: who was queued came last, and all that was there is there.
func (t *trial) inOrder(data string, held bool) error {
	now, err := t.events(data)
	if err != nil {
		return err
	}
	if err := kept(t.before, now); err != nil {
		return err
	}
	joined := func(id string) int {
		return slices.IndexFunc(now, func(e journal.Event) bool { return e.Type == turn.MemberJoined && e.From == id })
	}
	// A wait may make two changes, and others come in between.
	last := joined("x:7") == len(now)-1 || strings.HasPrefix(t.name, "wait") && joined("x:7") > len(t.before)
	if held && !last {
		return fmt.Errorf("who was queued is not last: event %d of %d", joined("x:7")+1, len(now))
	}
	if !t.happened(slices.DeleteFunc(now[len(t.before):], func(e journal.Event) bool { return e.From == "x:7" || e.From == "y:8" })) {
		return fmt.Errorf("the stopped command is not in the journal")
	}
	return nil
}

// stoppedIn waits until the trace tells that a process stands still, and returns
// its number.
func stoppedIn(trace string, ends chan error) (int, error) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(trace)
		if before, _, found := strings.Cut(string(b), " --- stopped by SIGSTOP"); found {
			return strconv.Atoi(strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]))
		}
		select {
		case err := <-ends:
			ends <- err
			return 0, errPassed
		default:
		}
	}
	return 0, fmt.Errorf("it neither stopped nor ended")
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
func goOn(pid int, ends <-chan error) error {
	for {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		select {
		case err := <-ends:
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
