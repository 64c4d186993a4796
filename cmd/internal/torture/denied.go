//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// deniedLocks runs each command while somebody else has the room's lock all the
// time. What it tells is true: it can change nothing, and ends in time.
func deniedLocks(g *rig, r *report) {
	var workers sync.WaitGroup // they wait for the lock most of the time
	for _, st := range g.stages() {
		workers.Go(func() {
			t := &trial{rig: g, stage: st, report: r}
			if err := t.denied(); err != nil {
				r.wrong("%s: %v", t.name, err)
			}
		})
	}
	workers.Wait()
}

func (t *trial) denied() error {
	if t.err != nil {
		return t.err
	}
	data := t.newDir()
	defer t.remove(data)
	if err := t.copyTo(data); err != nil {
		return err
	}
	room, err := t.room(data)
	if err != nil || !room.Exists() {
		return err // the scene begins without a room, and so without a lock
	}
	unlock, err := lockfile.Lock(context.Background(), filepath.Join(room.Dir(), "lock"))
	if err != nil {
		return err
	}
	began := time.Now()
	res := t.runUnder(data, nil, t.args...)
	took := time.Since(began)
	if err := unlock(); err != nil {
		return err
	}
	t.report.add(1, 0, 0)
	refused := res.exit == 1 && strings.Contains(res.stderr, `{"error":"lock_timeout"`)
	if t.repair {
		refused = res.exit == 1 && strings.Contains(res.stdout, "held by process")
	}
	if !refused && (t.args[1] != "recv" || res.exit != 0) {
		return fmt.Errorf("the lock cannot be had, but told is: %v", res)
	}
	if took > 15*time.Second {
		return fmt.Errorf("the lock was waited for %v", took)
	}
	return t.judge(data, res)
}
