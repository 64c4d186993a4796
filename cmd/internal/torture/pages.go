//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

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
