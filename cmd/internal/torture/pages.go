//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

// lostPages cuts the power when the kernel has written back only some pages of a
// change that is not committed.
func lostPages(g *rig, r *report) {
	if why := canMount(); why != "" {
		r.skip(why)
		return
	}
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	d := disk{fileSystem: ext4, image: g.newDir() + ".image", dir: g.newDir()}
	if err := g.makeDisk(d); err != nil {
		r.wrong("%v", err)
		return
	}
	defer os.Remove(d.image)
	for first := 20; first < 500; first += g.pick(120, 20) {
		for _, second := range []bool{true, false} {
			r.add(1, 1, 0)
			if err := g.lostPage(d, first, second); err != nil {
				r.wrong("the first %d bytes of a change are on one page and the rest on another, only one of which was written (the second: %v): %v", first, second, err)
			}
		}
	}
}

// lostPage leaves a room, which ends it with a change of two lines, kills that
// before it is synced, writes back one of the two pages that the change is on,
// and cuts the power.
func (g *rig) lostPage(from disk, first int, second bool) error {
	d, after := from, from
	d.image, d.dir = g.newDir()+".image", g.newDir()
	after.image, after.dir = g.newDir()+".image", g.newDir()
	defer os.Remove(d.image)
	defer os.Remove(after.image)
	if err := command("cp", "--sparse=always", from.image, d.image); err != nil {
		return err
	}
	if err := d.mount(); err != nil {
		return err
	}
	err := g.loseHalf(d, first, second)
	if err == nil {
		err = command("cp", "--sparse=always", d.image, after.image)
	}
	g.reap(d.data())
	if e := d.unmount(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := after.mount(); err != nil {
		return err
	}
	err = g.judgeCut(after.data(), acks{joined: []string{"a:1"}})
	if e := after.unmount(); err == nil {
		err = e
	}
	return err
}

// loseHalf leaves the room with its last change on two pages, one of them written.
func (g *rig) loseHalf(d disk, first int, second bool) error {
	data := d.data()
	if err := g.ok(data, "join", "--agent", "a:1"); err != nil {
		return err
	}
	room, err := g.room(data)
	if err != nil {
		return err
	}
	path := room.JournalPath()
	size, err := g.fillPage(data, path, first)
	if err != nil {
		return err
	}
	if err := command("sync", "-f", path); err != nil {
		return err
	}
	under := strace("-P", path, "-e", "trace=fdatasync", "-e", "inject=fdatasync:signal=SIGKILL:when=1", "-o", "/dev/null")
	if res := g.runUnder(data, under, "leave", "--agent", "a:1"); res.exit != -1 {
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
	if _, err := other.Write(bytes.Repeat([]byte("x"), 100)); err != nil {
		return err
	}
	return other.Sync()
}

// fillPage says things until a page of the journal has so many bytes left.
func (g *rig) fillPage(data, path string, left int) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	before, body := info.Size(), "begin"
	for n := range 10 {
		if err := g.ok(data, "msg", "send", "room", body, "--agent", "a:1"); err != nil {
			return 0, err
		}
		if info, err = os.Stat(path); err != nil {
			return 0, err
		}
		size := info.Size()
		if size%pageSize == pageSize-int64(left) {
			return size, nil
		}
		line := size - before - int64(len(body)) // all but the body
		want := (2*pageSize - int64(left) - (size+line)%pageSize) % pageSize
		before, body = size, strings.Repeat(string(rune('a'+n)), max(1, int(want)))
	}
	return 0, fmt.Errorf("the journal never ends %d bytes before a page", left)
}
