package ledger

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

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

func readDir(path string) ([]file, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	out := make([]file, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, file{name: e.Name(), stat: statOf(info)})
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

func freeSpace(string) (free, size int64) { return 0, 0 }

func isNoSpace(err error) bool { return errors.Is(err, syscall.Errno(112)) } // ERROR_DISK_FULL

func closeIdx([]byte) {}
