package ledger

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// A stat is what the system says of a file. Windows has no time of a change of the file's
// record, so that of its content stands for it.
type stat struct {
	mode         uint32 // of git, 0 for what is neither file, link nor directory
	perm         uint32
	inode        uint64
	size         int64
	mtime, ctime int64 // nanoseconds
}

func statOf(info fs.FileInfo) stat {
	t := info.ModTime().UnixNano()
	s := stat{perm: 0o644, size: info.Size(), mtime: t, ctime: t}
	switch {
	case info.IsDir():
		s.mode = modeDir
	case info.Mode()&fs.ModeSymlink != 0:
		s.mode = modeLink
	case info.Mode().IsRegular():
		s.mode = modeFile
	}
	return s
}

// A dirStat is a name in a directory.
type dirStat struct {
	name string
	stat
}

func readDir(path string) ([]dirStat, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	out := make([]dirStat, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, dirStat{e.Name(), statOf(info)})
	}
	return out, nil
}

func fileStat(f *os.File) (stat, error) {
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

const openFlags = os.O_RDONLY

func linkStat(path string) (stat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// readIdx reads the index of a pack. It is not mapped: the user's gc could not remove it then.
func readIdx(path string) ([]byte, error) { return os.ReadFile(path) }

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func freeSpace(string) (free, size int64, ok bool) { return 0, 0, false }

func isNoSpace(err error) bool { return errors.Is(err, syscall.Errno(112)) } // ERROR_DISK_FULL
