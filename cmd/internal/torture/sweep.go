//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

// fileCalls are the system calls that look at or change files.
const (
	changing = "write,pwrite64,fdatasync,fsync,renameat,renameat2,rename,mkdirat,unlinkat,ftruncate,fchmod,fchmodat,fchmodat2,utimensat,linkat"
	looking  = "openat,flock,newfstatat,fstat,getdents64,read,pread64,close"
)

// A point is one call at which something happens: the nth of its name.
type point struct {
	call string
	n    int
}

// sweepKills kills each command at the entry of each of its calls, which leaves
// every state that there is between two calls.
func sweepKills(g *rig, r *report) {
	calls := changing + ",openat,flock"
	if g.long {
		calls = changing + "," + looking
	}
	g.sweep(r, scenes(), calls, "signal=SIGKILL")
}

// sweepErrors lets each call fail once, with what it may fail with.
func sweepErrors(g *rig, r *report) {
	g.sweep(r, scenes(), changing+",openat,flock", "error=EIO")
	g.sweep(r, scenes(), g.deep("write,fdatasync,renameat,mkdirat,openat"), "error=ENOSPC")
	g.sweep(r, scenes(), g.deep("fdatasync,fsync,flock,openat"), "error=EINTR")
	if g.long {
		for _, e := range []string{"EACCES", "EMFILE", "EROFS", "EDQUOT", "ENOLCK"} {
			g.sweep(r, scenes(), changing+",openat,flock", "error="+e)
		}
	}
}

// deep is the calls of a long run where one is asked for.
func (g *rig) deep(calls string) string {
	if g.long {
		return changing + ",openat,flock"
	}
	return calls
}

// sweep runs each scene once for each of its calls.
func (g *rig) sweep(r *report, scenes []scene, calls, fault string) {
	if _, err := exec.LookPath("strace"); err != nil {
		r.skip("there is no strace")
		return
	}
	type job struct {
		*trial
		point
	}
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for j := range jobs {
				j.at(j.point)
			}
		})
	}
	for _, s := range scenes {
		t, points, err := g.prepare(r, s, calls, fault)
		if err != nil {
			r.wrong("%s: %v", s.name, err)
			continue
		}
		for _, p := range points {
			jobs <- job{t, p}
		}
	}
	close(jobs)
	workers.Wait()
}

// A trial is a scene under one kind of fault.
type trial struct {
	*rig
	report *report
	scene  scene
	fault  string
	data   string // the template, which is copied for each point
	args   []string
	before []journal.Event
}

func (g *rig) prepare(r *report, s scene, calls, fault string) (*trial, []point, error) {
	data, args, err := g.stage(s)
	if err != nil {
		return nil, nil, err
	}
	t := &trial{rig: g, report: r, scene: s, fault: fault, data: data, args: args}
	if !s.repair {
		if t.before, err = g.events(data); err != nil {
			return nil, nil, err
		}
	}
	points, err := t.count(calls)
	return t, points, err
}

// strace is how tt is run under it. It lets go of the guardian, which would
// otherwise keep it.
func strace(args ...string) []string {
	return append([]string{"strace", "-f", "-qq", "-b", "execve"}, args...)
}

// count runs the command without a fault and counts its calls. Each thread is
// counted on its own, as strace does when it injects.
func (t *trial) count(calls string) ([]point, error) {
	data := t.newDir()
	if err := t.copyTo(data); err != nil {
		return nil, err
	}
	trace := data + ".trace"
	if r := t.runUnder(data, strace("-e", "trace="+known(calls), "-o", trace), t.args...); r.exit != 0 {
		return nil, fmt.Errorf("without a fault: %v", r)
	}
	t.remove(data)
	b, err := os.ReadFile(trace)
	if err != nil {
		return nil, err
	}
	return pointsIn(string(b)), nil
}

func pointsIn(trace string) []point {
	line := regexp.MustCompile(`^(\d+) +([a-z0-9_]+)\(`)
	byThread := map[string]int{}
	var points []point
	most := map[string]int{}
	for _, l := range strings.Split(trace, "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil || m[2] == "execve" {
			continue
		}
		byThread[m[1]+m[2]]++
		if n := byThread[m[1]+m[2]]; n > most[m[2]] {
			most[m[2]] = n
			points = append(points, point{m[2], n})
		}
	}
	return points
}

// known leaves out calls that this machine's strace does not know.
func known(calls string) string {
	var ok []string
	for _, c := range strings.Split(calls, ",") {
		ok = append(ok, "?"+c) // strace ignores an unknown call with a question mark
	}
	return strings.Join(ok, ",")
}

func (t *trial) copyTo(data string) error {
	if _, err := os.Stat(t.data); err != nil {
		return nil // the scene begins without a data directory
	}
	return copyDir(t.data, data)
}

// at runs the scene with the fault at one point and judges what is left.
func (t *trial) at(p point) {
	data := t.newDir()
	defer t.remove(data)
	if err := t.copyTo(data); err != nil {
		t.report.wrong("%v", err)
		return
	}
	inject := fmt.Sprintf("inject=%s:%s:when=%d", p.call, t.fault, p.n)
	under := strace("-e", "trace="+p.call, "-e", inject, "-o", "/dev/null")
	res := t.runUnder(data, under, t.args...)
	kills, acks := 0, 0
	if res.exit == -1 {
		kills = 1
	}
	if res.exit == 0 {
		acks = 1
	}
	t.report.add(1, kills, acks)
	if err := t.judge(data, res); err != nil {
		t.report.wrong("tt %s, %s at %s %d: %v\n    %v", strings.Join(t.args, " "), t.fault, p.call, p.n, err, res)
	}
}

func (t *trial) judge(data string, res result) error {
	if t.scene.repair {
		if r := t.run(data, "doctor", "--repair"); r.exit != 0 {
			return fmt.Errorf("repair cannot be repeated: %v", r)
		}
		return t.mended(data)
	}
	now, err := t.events(data)
	if err != nil {
		return err
	}
	if err := kept(t.before, now); err != nil {
		return err
	}
	if err := t.acknowledged(res, t.happened(now[len(t.before):])); err != nil {
		return err
	}
	return t.mended(data)
}

// happened reports whether what was asked for is among the new events. A wait
// may join, which is a change of its own, and then fail to get the turn.
func (t *trial) happened(events []journal.Event) bool {
	if strings.HasPrefix(t.scene.name, "wait") {
		return slices.ContainsFunc(events, func(e journal.Event) bool { return e.Type == turn.Claim })
	}
	return len(events) > 0
}

// acknowledged: success was told exactly if there is something to show for it.
func (t *trial) acknowledged(res result, happened bool) error {
	switch {
	case t.scene.name == "msg recv": // reads, and moves its cursor
		return nil
	case res.exit == 0 && !happened:
		return fmt.Errorf("acknowledged, but not in the journal")
	case res.exit > 0 && happened && !saysSo(res):
		return fmt.Errorf("it happened, but failure was told")
	}
	return nil
}

// saysSo reports whether a failure tells that what was asked for may have happened.
func saysSo(r result) bool {
	for _, s := range []string{"in_doubt", "guardian_failed", "what the command did stands", "runtime:"} {
		if strings.Contains(r.stderr+r.stdout, s) {
			return true
		}
	}
	return false
}
