//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/doctor"
)

// A disk is a file system in a file. A power cut is a copy of the file,
// taken while every process stands still: what the kernel had not written yet
// is not in it.
type disk struct {
	fileSystem
	image, dir string
}

// command runs a program of the system.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// canMount tells why file systems cannot be mounted, "" if they can.
func canMount() string {
	if os.Geteuid() != 0 {
		return "not root, so nothing can be mounted"
	}
	for _, program := range []string{"mount", "mkfs.ext4", "cp"} {
		if _, err := exec.LookPath(program); err != nil {
			return "there is no " + program
		}
	}
	return ""
}

// A fileSystem is what is made and how it is mounted.
type fileSystem struct {
	name    string
	size    int64
	make    []string
	options string // the rarest writes there are: only what is synced is sure to be there
}

var (
	ext4      = fileSystem{"ext4", 24 << 20, []string{"mkfs.ext4", "-q", "-F"}, "loop,commit=1000"}
	ext4Small = fileSystem{"ext4 with 1 KiB blocks", 24 << 20, []string{"mkfs.ext4", "-q", "-F", "-b", "1024"}, "loop,commit=1000"}
	xfs       = fileSystem{"xfs", 300 << 20, []string{"mkfs.xfs", "-q", "-f"}, "loop,nouuid"}
)

// with is the same file system mounted with more options.
func (fs fileSystem) with(options string) fileSystem {
	fs.name += " with " + options
	fs.options += "," + options
	return fs
}

// newDisk makes a file system with a room in it, not mounted.
func (g *rig) newDisk(tt string, fs fileSystem) (disk, error) {
	d := disk{fileSystem: fs, image: g.newDir() + ".image", dir: g.newDir()}
	err := g.makeDisk(d)
	if err == nil {
		err = d.mount()
	}
	if err != nil {
		return d, err
	}
	err = g.members(tt, d.data())
	g.reap(d.data())
	if e := d.unmount(); err == nil {
		err = e
	}
	return d, err
}

// makeDisk makes an empty file system.
func (g *rig) makeDisk(d disk) error {
	f, err := os.Create(d.image)
	if err != nil {
		return err
	}
	err = f.Truncate(d.size)
	f.Close()
	if err == nil {
		err = command(d.make[0], append(d.make[1:], d.image)...)
	}
	return err
}

func (d disk) data() string { return filepath.Join(d.dir, "data") }

func (d disk) mount() error {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	return command("mount", "-o", d.options, d.image, d.dir)
}

func (d disk) unmount() error {
	var err error
	eventually(2*time.Second, func() bool { // a killed process may be on its way out
		err = command("umount", d.dir)
		return err == nil
	})
	return err
}

// disks are a room on each kind of file system that this machine can make.
func (g *rig) disks(r *report) (disks []disk) {
	kinds := []fileSystem{ext4, ext4.with("noauto_da_alloc"), xfs}
	if g.long {
		kinds = append(kinds, ext4.with("data=writeback"), ext4.with("nodelalloc"), ext4Small)
	}
	for _, kind := range kinds {
		if _, err := exec.LookPath(kind.make[0]); err != nil {
			r.skip(kind.name + ": there is no " + kind.make[0])
			continue
		}
		d, err := g.newDisk(g.tt, kind)
		if err != nil {
			r.wrong("%s: %v", kind.name, err)
			continue
		}
		disks = append(disks, d)
	}
	return disks
}

// powerCuts cuts the power while processes work, on several file systems.
func powerCuts(g *rig, r *report) {
	if why := canMount(); why != "" {
		r.skip(why)
		return
	}
	disks := g.disks(r)
	if len(disks) == 0 {
		return
	}
	for n := range g.pick(60, 1000) {
		d, cut := disks[n%len(disks)], []cutting{inTheMidst, afterOne, ofANewRoom, amongTurns}[n/len(disks)%4]
		acked, err := g.powerCut(g.tt, d, cut)
		r.add(1, 0, acked)
		if err != nil {
			r.wrong("cut %d, %s, %s: %v", n, d.name, cut, err)
		}
	}
	for _, d := range disks {
		_ = os.Remove(d.image)
	}
}

// A cutting is when the power goes.
type cutting string

const (
	inTheMidst cutting = "while three talk"
	afterOne   cutting = "right after the first acknowledgement"
	ofANewRoom cutting = "while a room is new"
	amongTurns cutting = "while turns are taken"
)

// data is the data directory that a cut is made in.
func (c cutting) data(d disk) string {
	if c == ofANewRoom {
		return filepath.Join(d.dir, "new")
	}
	return d.data()
}

// powerCut works on a copy of the disk, cuts the power, and judges what the next
// start finds.
func (g *rig) powerCut(tt string, from disk, cut cutting) (acked int, err error) {
	d, after := from, from
	d.image, d.dir = g.newDir()+".image", g.newDir()
	after.image, after.dir = g.newDir()+".image", g.newDir()
	defer os.Remove(d.image)
	defer os.Remove(after.image)
	if err := command("cp", "--sparse=always", from.image, d.image); err != nil {
		return 0, err
	}
	if err := d.mount(); err != nil {
		return 0, err
	}
	a, failed, err := g.cut(tt, d, after.image, cut)
	if e := d.unmount(); err == nil {
		err = e
	}
	if err == nil && failed != "" {
		err = fmt.Errorf("%s", failed)
	}
	if err != nil {
		return a.count(), err
	}
	return a.count(), g.afterCut(after, cut, a)
}

// A finding is what was wrong after a cut, and not with making it.
type finding struct{ error }

// cut lets a load work and copies the image in the midst of it.
func (g *rig) cut(tt string, d disk, to string, cut cutting) (a acks, failed string, err error) {
	l, enough := g.newLoad(tt, cut.data(d), false), 5+g.random().IntN(40)
	switch cut {
	case inTheMidst:
		l.talkers(3)
	case afterOne:
		enough = 1
		l.talkers(1)
	case ofANewRoom:
		enough = 1 + enough%8
		l.joiners()
	case amongTurns:
		l.waiters()
	}
	for deadline := time.Now().Add(10 * time.Second); l.acknowledgements().count() < enough && time.Now().Before(deadline); {
		time.Sleep(200 * time.Microsecond)
	}
	a = l.freeze()
	err = command("cp", "--sparse=always", d.image, to)
	l.end()
	return a, l.failed, err
}

// afterCut mounts what the cut has left, and looks before anything is mended.
func (g *rig) afterCut(d disk, cut cutting, a acks) error {
	if err := d.mount(); err != nil {
		return err
	}
	var err error
	if e := g.judgeCut(cut.data(d), a); e != nil {
		err = finding{e}
	}
	g.reap(cut.data(d))
	if e := d.unmount(); err == nil {
		err = e
	}
	return err
}

func (g *rig) judgeCut(data string, a acks) error {
	room, err := g.room(data)
	if err != nil {
		return err
	}
	for _, p := range doctor.Check(room) {
		if p.Repair == "" || strings.Contains(p.Problem, "damaged") || p.Line > 0 {
			return fmt.Errorf("%s:%d: %s", p.File, p.Line, p.Problem)
		}
	}
	events, err := g.events(data)
	if err != nil {
		return err
	}
	if err := a.in(events); err != nil {
		return err
	}
	return g.mended(data)
}
