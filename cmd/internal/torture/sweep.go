//go:build linux

package main

import (
	"iter"
	"slices"
	"sync"
)

// The system calls that look at or change files.
const (
	changing = "write,pwrite64,fdatasync,fsync,renameat,renameat2,rename,mkdirat,unlinkat,ftruncate,fchmod,fchmodat,fchmodat2,utimensat,linkat"
	opening  = ",openat,flock"
	looking  = ",openat,flock,newfstatat,fstat,getdents64,read,pread64,close"
)

// sweepKills kills each command at the entry of each of its calls, which leaves
// every state that there is between two calls.
func sweepKills(g *rig, r *report) {
	calls := changing + opening
	if g.long {
		calls = changing + looking
	}
	g.sweepScenes(r, calls, "signal=SIGKILL")
}

// sweepErrors lets each call fail with what it may fail with: once, and in a long
// run also from then on.
func sweepErrors(g *rig, r *report) {
	g.sweepScenes(r, changing+opening, "error=EIO")
	g.sweepScenes(r, g.deep("write,fdatasync,renameat,mkdirat,openat"), "error=ENOSPC")
	g.sweepScenes(r, g.deep("fdatasync,fsync,flock,openat"), "error=EINTR")
	if !g.long {
		g.sweepScenes(r, "fdatasync", "error=EIO*")
		return
	}
	g.sweepScenes(r, changing+opening, "error=EIO*")
	for _, f := range []fault{"error=EACCES", "error=EMFILE", "error=EROFS", "error=EDQUOT", "error=ENOLCK", "error=EIO+", "error=ENOSPC+"} {
		g.sweepScenes(r, changing+opening, f)
	}
}

// deep is the calls of a long run where one is asked for.
func (g *rig) deep(calls string) string {
	if g.long {
		return changing + opening
	}
	return calls
}

func (g *rig) sweepScenes(r *report, calls string, f fault) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	var runs []func()
	for _, st := range g.stages() {
		t, points, err := g.trial(r, st, calls, f)
		if err != nil {
			r.wrong("%v", err)
		}
		for _, p := range points {
			runs = append(runs, func() { t.at(p) })
		}
	}
	most := len(runs)
	if g.some && !f.isKill() {
		most = 600
	}
	r.inParallel(g.sample(runs, most, len(runs)))
}

// sample is so many of the runs, in random order.
func (g *rig) sample(runs []func(), short, long int) iter.Seq[func()] {
	g.random().Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return slices.Values(runs[:min(len(runs), g.pick(short, long))])
}

// inParallel does all runs, a few at a time.
func (r *report) inParallel(runs iter.Seq[func()]) {
	queue := make(chan func())
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for run := range queue {
				run()
			}
		})
	}
	for run := range runs {
		queue <- run
	}
	close(queue)
	workers.Wait()
}
