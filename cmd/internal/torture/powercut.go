//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A disk is an ext4 file system in a file. A power cut is a copy of the file,
// taken while every process stands still: what the kernel had not written yet
// is not in it.
type disk struct {
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

// newDisk makes a file system with a room in it, not mounted.
func (g *rig) newDisk(tt string) (string, error) {
	d := disk{image: g.newDir() + ".ext4", dir: g.newDir()}
	f, err := os.Create(d.image)
	if err != nil {
		return "", err
	}
	err = f.Truncate(24 << 20)
	f.Close()
	if err == nil {
		err = command("mkfs.ext4", "-q", "-F", d.image)
	}
	if err == nil {
		err = d.mount("")
	}
	if err != nil {
		return "", err
	}
	err = g.members(tt, d.data())
	g.reap(d.data())
	if e := d.unmount(); err == nil {
		err = e
	}
	return d.image, err
}

func (d disk) data() string { return filepath.Join(d.dir, "data") }

// mount mounts the image. The journal of the file system is written as rarely
// as can be: only what is synced is sure to be there.
func (d disk) mount(options string) error {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	return command("mount", "-o", "loop,commit=1000"+options, d.image, d.dir)
}

func (d disk) unmount() error {
	var err error
	for range 50 { // a killed process may be on its way out
		if err = command("umount", d.dir); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// powerCuts cuts the power while processes work, under several kinds of ext4.
func powerCuts(g *rig, r *report) {
	if why := canMount(); why != "" {
		r.skip(why)
		return
	}
	options := []string{"", ",noauto_da_alloc"}
	if g.long {
		options = append(options, ",data=writeback", ",nodelalloc")
	}
	image, err := g.newDisk(g.tt)
	if err != nil {
		r.wrong("%v", err)
		return
	}
	for n := range g.pick(60, 1000) {
		acked, err := g.powerCut(g.tt, image, options[n%len(options)], n%3 == 0)
		r.add(1, 0, acked)
		if err != nil {
			r.wrong("cut %d: %v", n, err)
		}
	}
}

// powerCut works on a copy of the image, cuts the power, and judges what the
// next start finds. A lone cut comes right after the first acknowledgement.
func (g *rig) powerCut(tt, image, options string, lone bool) (acked int, err error) {
	d := disk{image: g.newDir() + ".ext4", dir: g.newDir()}
	defer os.Remove(d.image)
	if err := command("cp", "--sparse=always", image, d.image); err != nil {
		return 0, err
	}
	if err := d.mount(options); err != nil {
		return 0, err
	}
	after := disk{image: g.newDir() + ".ext4", dir: g.newDir()}
	defer os.Remove(after.image)
	said, failed, err := g.cut(tt, d, after.image, lone)
	if e := d.unmount(); err == nil {
		err = e
	}
	if err == nil && failed != "" {
		err = fmt.Errorf("%s", failed)
	}
	if err != nil {
		return len(said), err
	}
	return len(said), g.afterCut(after, said)
}

// A finding is what was wrong after a cut, and not with making it.
type finding struct{ error }

// cut lets a load work and copies the image in the midst of it.
func (g *rig) cut(tt string, d disk, to string, lone bool) (acked []string, failed string, err error) {
	lanes, enough := 3, 5+g.random().IntN(40)
	if lone {
		lanes, enough = 1, 1
	}
	l := g.startLoad(tt, d.data(), lanes, false)
	for deadline := time.Now().Add(10 * time.Second); len(l.acknowledgements()) < enough && time.Now().Before(deadline); {
		time.Sleep(200 * time.Microsecond)
	}
	acked = l.freeze()
	err = command("cp", "--sparse=always", d.image, to)
	l.end()
	return acked, l.failed, err
}

// afterCut mounts what the cut has left, and looks before anything is mended.
func (g *rig) afterCut(d disk, acked []string) error {
	if err := d.mount(""); err != nil {
		return err
	}
	var err error
	if e := g.judgeCut(d.data(), acked); e != nil {
		err = finding{e}
	}
	g.reap(d.data())
	if e := d.unmount(); err == nil {
		err = e
	}
	return err
}

func (g *rig) judgeCut(data string, acked []string) error {
	room, err := g.room(data)
	if err != nil {
		return err
	}
	for _, p := range room.Check() {
		if p.Repair == "" || strings.Contains(p.Problem, "damaged") || p.Line > 0 {
			return fmt.Errorf("%s:%d: %s", p.File, p.Line, p.Problem)
		}
	}
	events, err := g.events(data)
	if err != nil {
		return err
	}
	if err := counted(bodies(events), acked); err != nil {
		return err
	}
	return g.mended(data)
}
