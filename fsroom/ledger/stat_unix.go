package ledger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func statOf(st *unix.Stat_t) stat {
	s := stat{perm: uint32(st.Mode) & 0o777, inode: uint64(st.Ino), size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFDIR:
		s.mode = modeDir
	case unix.S_IFLNK:
		s.mode, s.perm = modeLink, 0o777
	case unix.S_IFREG:
		s.mode = modeFile
		if st.Mode&0o100 != 0 {
			s.mode = modeExec
		}
	}
	return s
}

// listNames returns the names in a directory as the system lists them: in no order, and perhaps with
// some that went meanwhile.
var listNames = func(dir *os.File) ([]string, error) { return dir.Readdirnames(-1) }

// readDir returns the names in a directory, which is not followed if it is a link.
func readDir(path string) ([]file, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	names, err := listNames(dir)
	if err != nil {
		return nil, err
	}
	out := make([]file, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		switch err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case errors.Is(err, unix.ENOENT): // it went meanwhile
		case err != nil:
			return nil, &os.PathError{Op: "stat", Path: path + "/" + name, Err: err}
		default:
			out = append(out, file{name: name, stat: statOf(&st)})
		}
	}
	return out, nil
}

// fileStat returns the stat of an open file.
func fileStat(f *os.File) (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

// openFlags keep an open from following a link and from waiting for a pipe.
const openFlags = os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK

// linkStat returns the stat of what the path names itself.
func linkStat(path string) (stat, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return stat{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return statOf(&st), nil
}

// readIdx maps the index of a pack, which never changes.
func readIdx(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 { // which cannot be mapped
		return nil, nil
	}
	return unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
}

// freeSpace returns how many bytes can be written to the file system, and its size, 0 if that is not known.
func freeSpace(dir string) (free, size int64) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, 0
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize)
}
