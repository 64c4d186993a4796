//go:build linux

package torture

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
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
	image, dir string // where it is mounted
}

// at is the disk in another file, mounted at path.
func (d disk) at(path string) disk {
	d.image, d.dir = path+".image", path
	return d
}

// format makes the file system and mounts it.
func (d disk) format() error {
	return errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, d.size),
		command(d.make[0], append(d.make[1:], d.image)...), d.mount())
}

func (d disk) mount() error {
	return errors.Join(os.Mkdir(d.dir, 0o700), command("mount", "-o", d.options, d.image, d.dir))
}

func (d disk) unmount() (err error) {
	eventually(2*time.Second, func() bool { // a killed process may be on its way out
		err = unix.Unmount(d.dir, 0)
		return err == nil
	})
	return err
}

// copyTo copies the disk as a power cut would leave it, if those who write stand still.
func (d disk) copyTo(other disk) error {
	return command("cp", "--sparse=always", d.image, other.image)
}

// cut mounts the disk at path as a power cut leaves it. Those who write to it stand still;
// end ends them.
func (d disk) cut(path string, end func()) (after disk, err error) {
	after = d.at(path)
	err = d.copyTo(after)
	end()
	return after, errors.Join(err, d.unmount(), os.Remove(d.image), after.mount())
}
