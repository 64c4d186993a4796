//go:build linux

package torture

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/doctor"
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
		d, err := e.newDisk(kind, members...)
		defer os.Remove(d.image)
		if !r.check(kind.name, err) {
			return
		}
		disks = append(disks, d)
	}
	for n := range e.pick(36, 1000) {
		d, moment := disks[n%len(disks)], []moment{inTheMidst, afterOne, ofANewRoom, amongTurns}[n/len(disks)%4]
		e.powerCut(r, fmt.Sprintf("cut %d, %s, %s", n, d.name, moment), d, moment)
	}
}

// A moment is when the power is cut.
type moment string

const (
	inTheMidst moment = "while three talk"
	afterOne   moment = "right after the first acknowledgement"
	ofANewRoom moment = "while a room is new"
	amongTurns moment = "while turns are taken"
)

// powerCut cuts the power while a load works on a copy of the disk, and judges what the
// next start finds.
func (e *env) powerCut(r *report, name string, from disk, when moment) {
	d := from.at(e.newDir())
	if when == ofANewRoom {
		d.dataName = "new"
	}
	if !r.check(name, from.copyTo(d)) || !r.check(name, d.mount()) {
		return
	}
	l := e.newLoad(r, d.data(), plan{})
	enough := 5 + e.random().IntN(40)
	switch when {
	case inTheMidst:
		l.each(3, (*agent).say)
	case afterOne:
		enough = 1
		l.each(1, (*agent).say)
	case ofANewRoom:
		enough = 1 + enough%8
		l.each(3, joining((*agent).say))
	case amongTurns:
		l.each(3, (*agent).takeTurn)
	}
	eventually(10*time.Second, func() bool { return l.acked() >= enough })
	acked := l.freeze()
	d, err := d.cut(e.newDir(), l.end)
	if r.check(name, err) {
		r.check(name, e.judgeCut(d.data(), acked))
	}
	reap(d.dir)
	r.check(name, d.remove())
	r.count("points", 1)
	r.count("acknowledged", acked.count())
}

// judgeCut checks a data directory before and after the next command: it has all that was
// acknowledged, once, its turns are in order, and a fresh command works.
func (e *env) judgeCut(data string, acked acks) error {
	room, err := e.room(data)
	if err != nil {
		return err
	}
	for _, p := range doctor.Check(room) {
		if p.Repair == "" || strings.Contains(p.Problem, "damaged") || p.Line > 0 {
			return fmt.Errorf("%s:%d: %s", p.File, p.Line, p.Problem)
		}
	}
	events, err := e.events(data)
	if err == nil {
		_, err = acked.check(events)
	}
	if err != nil {
		return err
	}
	return e.mended(data)
}
