//go:build linux

package torture

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// A fileSystem is how a file system is made and mounted.
type fileSystem struct {
	name    string
	size    int64
	make    []string
	options string // the rarest writes there are: only what is synced is sure to be there
}

var (
	ext4      = fileSystem{"ext4", 24 << 20, []string{"mkfs.ext4", "-q", "-F"}, "loop,commit=1000"}
	ext4Small = fileSystem{"ext4 with 1 KiB blocks", 24 << 20, []string{"mkfs.ext4", "-q", "-F", "-b", "1024"}, "loop,commit=1000"}
	ext4Large = fileSystem{"ext4", 256 << 20, []string{"mkfs.ext4", "-q", "-F"}, "loop,commit=1000"}
	xfs       = fileSystem{"xfs", 300 << 20, []string{"mkfs.xfs", "-q", "-f"}, "loop,nouuid"}
)

// with is the same file system mounted with more options.
func (fs fileSystem) with(options string) fileSystem {
	fs.name += " with " + options
	fs.options += "," + options
	return fs
}

// A disk is a file system in an image file. A power cut is a copy of the file,
// taken while every process stands still: what the kernel had not written yet is
// not in it.
type disk struct {
	fileSystem
	image, dir string
	dataName   string // of the data directory on it
}

func (d disk) data() string { return filepath.Join(d.dir, d.dataName) }

// newDisk makes a file system on which some commands, one per line, have run.
func (e *env) newDisk(fs fileSystem, lines ...string) (disk, error) {
	d := disk{fileSystem: fs, dataName: "data"}.at(e.newDir())
	err := d.format()
	if err == nil {
		err = d.mounted(func() error { return e.ok(d.data(), lines...) })
	}
	return d, err
}

func (d disk) format() error {
	err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, d.size))
	if err == nil {
		err = command(d.make[0], append(d.make[1:], d.image)...)
	}
	return err
}

func (d disk) mount() error {
	return errors.Join(os.MkdirAll(d.dir, 0o700), command("mount", "-o", d.options, d.image, d.dir))
}

// mounted mounts the disk and does something on it.
func (d disk) mounted(do func() error) error {
	if err := d.mount(); err != nil {
		return err
	}
	err := do()
	reap(d.data())
	return errors.Join(err, d.unmount())
}

// at is the disk in another file, mounted at path.
func (d disk) at(path string) disk {
	d.image, d.dir = path+".image", path
	return d
}

// copyTo copies the disk as a power cut would leave it, if those who write stand still.
func (d disk) copyTo(other disk) error {
	return command("cp", "--sparse=always", d.image, other.image)
}

func (d disk) unmount() (err error) {
	eventually(2*time.Second, func() bool { // a killed process may be on its way out
		err = command("umount", d.dir)
		return err == nil
	})
	return err
}

// cutPower runs work on a copy of the disk and cuts the power when it returns.
// What work returned is then called, and the disk after the power cut is judged.
func (e *env) cutPower(from disk, work func(disk) (end func(), err error), judge func(disk)) error {
	d, after := from.at(e.newDir()), from.at(e.newDir())
	defer os.Remove(d.image)
	defer os.Remove(after.image)
	if err := from.copyTo(d); err != nil {
		return err
	}
	err := d.mounted(func() error {
		end, err := work(d)
		if err == nil {
			err = d.copyTo(after)
		}
		end()
		return err
	})
	if err != nil {
		return err
	}
	return after.mounted(func() error {
		judge(after)
		return nil
	})
}
