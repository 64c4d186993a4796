//go:build linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

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
		r.check(fmt.Sprintf("cut %d, %s, %s", n, d.name, moment), e.powerCut(r, d, moment))
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

// powerCut cuts the power while a load works on the disk, and judges what the
// next start finds.
func (e *env) powerCut(r *report, from disk, when moment) error {
	var acked acks
	if when == ofANewRoom {
		from.dataName = "new"
	}
	work := func(d disk) (end func(), err error) {
		l := e.newLoad(r, d.data())
		enough := 5 + e.random().IntN(40)
		switch when {
		case inTheMidst:
			l.each(3, (*agent).talk)
		case afterOne:
			enough = 1
			l.each(1, (*agent).talk)
		case ofANewRoom:
			enough = 1 + enough%8
			l.each(3, joining((*agent).talk))
		case amongTurns:
			l.each(3, (*agent).takeTurns)
		}
		l.until(10*time.Second, func(a *acks) bool { return a.count() >= enough })
		acked = l.freeze()
		return l.end, nil
	}
	err := e.cutPower(from, work, func(d disk) error { return e.judgeCut(d.data(), acked) })
	r.add(1, 0, acked.count())
	return err
}

// judgeCut checks a data directory before and after the next command.
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
	return e.judge(data, acked)
}

const pageSize = 4096

// lostPages cuts the power when the kernel has written back only some pages of a
// change that is not committed.
func lostPages(e *env, r *report) {
	d, err := e.newDisk(ext4)
	defer os.Remove(d.image)
	if !r.check(ext4.name, err) {
		return
	}
	judge := func(d disk) error { return e.judgeCut(d.data(), acks{joined: []string{"a:1"}}) }
	for first := 20; first < 500; first += e.pick(120, 20) {
		for _, second := range []bool{true, false} {
			r.add(1, 1, 0)
			work := func(d disk) (func(), error) { return func() {}, e.loseHalf(d, first, second) }
			r.check(fmt.Sprintf("the first %d bytes of a change are on one page and the rest on another, only one of which was written (the second: %v)", first, second),
				e.cutPower(d, work, judge))
		}
	}
}

// loseHalf leaves a room, which ends it with a change of two lines. The command is
// killed before it syncs the change, and one of the two pages that the change is
// on is written back.
func (e *env) loseHalf(d disk, first int, second bool) error {
	data := d.data()
	if err := e.ok(data, "join --agent a:1"); err != nil {
		return err
	}
	room, err := e.room(data)
	if err != nil {
		return err
	}
	path := room.JournalPath()
	size, err := e.fillPage(data, path, first)
	if err != nil {
		return err
	}
	if err := command("sync", "-f", path); err != nil {
		return err
	}
	under := strace("-P", path, "-e", "trace=fdatasync", "-e", "inject=fdatasync:signal=SIGKILL:when=1", "-o", "/dev/null")
	if res := e.runUnder(data, under, "leave", "--agent", "a:1"); res.exit != -1 {
		return fmt.Errorf("leave was not killed: %v", res)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	page := size / pageSize * pageSize
	if second {
		page += pageSize
	}
	const writeAndWait = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	if err := unix.SyncFileRange(int(f.Fd()), page, pageSize, writeAndWait); err != nil {
		return os.NewSyscallError("sync_file_range", err)
	}
	// Another file's sync commits the length of this one.
	other, err := os.Create(filepath.Join(d.dir, "other"))
	if err != nil {
		return err
	}
	defer other.Close()
	if _, err := other.WriteString(strings.Repeat("x", 100)); err != nil {
		return err
	}
	return other.Sync()
}

// fillPage sends messages until a page of the journal has so many bytes left. It
// returns the size of the journal.
func (e *env) fillPage(data, path string, left int) (int64, error) {
	fileSize := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	before, body := fileSize(), "begin"
	for n := range 10 {
		if err := e.ok(data, "msg send room "+body+" --agent a:1"); err != nil {
			return 0, err
		}
		size := fileSize()
		if size%pageSize == pageSize-int64(left) {
			return size, nil
		}
		line := size - before - int64(len(body)) // all but the body
		want := (2*pageSize - int64(left) - (size+line)%pageSize) % pageSize
		before, body = size, strings.Repeat(string(rune('a'+n)), max(1, int(want)))
	}
	return 0, fmt.Errorf("the journal never ends %d bytes before a page", left)
}
