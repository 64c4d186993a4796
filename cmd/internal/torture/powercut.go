//go:build linux

package torture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// powerCuts cuts the power while processes work, on several file systems.
func powerCuts(e *env, r *report) {
	kinds := []fileSystem{ext4, ext4.with("noauto_da_alloc"), xfs}
	if e.size == long {
		kinds = append(kinds, ext4.with("data=writeback"), ext4.with("nodelalloc"), ext4Small)
	}
	var disks []disk
	for _, kind := range kinds {
		if why := missing(kind.make[0]); why != "" {
			r.skip(kind.name + ": " + why)
			continue
		}
		d := disk{fileSystem: kind}.at(e.newDir())
		err := d.format()
		if err == nil {
			err = e.on(filepath.Join(d.dir, "data")).ok("join --agent a:1")
			reap(d.dir)
		}
		if !r.check(kind.name, err) || !r.check(kind.name, d.unmount()) {
			return
		}
		disks = append(disks, d)
	}
	for n := range e.pick(36, 1000) {
		d, room := disks[n%len(disks)], []string{"data", "new"}[n/len(disks)%2]
		r.check(fmt.Sprintf("cut %d, %s, %s", n, d.name, room), e.powerCut(r, d, room, n/len(disks)%4 < 2))
		r.count("points", 1)
	}
}

// powerCut cuts the power while three talk, or take turns, on a copy of the disk, at times right after the first acknowledgement, and
// judges what the next start finds: all that was acknowledged, once, turns in order, and a fresh command works.
func (e *env) powerCut(r *report, from disk, room string, talk bool) error {
	dir := e.newDir()
	defer remove(dir)
	d := from.at(filepath.Join(dir, "before"))
	if err := errors.Join(os.Mkdir(dir, 0o700), from.copyTo(d), d.mount()); err != nil {
		return err
	}
	l, do := e.newLoad(r), (*agent).takeTurn
	if talk {
		do = (*agent).say
	}
	l.live(3, []*host{e.on(filepath.Join(d.dir, room))}, do)
	random := e.random()
	enough := 1 + random.IntN(1<<random.IntN(7))
	eventually(10*time.Second, func() bool { return l.acked() >= enough })
	said := l.freeze()
	d, err := d.cut(filepath.Join(dir, "after"), func() {
		l.end(syscall.SIGKILL, "")
		reap(dir)
	})
	if err != nil {
		return err
	}
	r.count("acknowledged", l.acked())
	events, err := e.mended(filepath.Join(d.dir, room))
	if err != nil {
		return err
	}
	return checkSaid(said, events)
}
