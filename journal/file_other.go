//go:build !unix

package journal

import "os"

// openFile opens a regular file with the given os.O_ flags. There is no
// O_NOFOLLOW here, so the look comes before the open.
func openFile(path string, flags int) (File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path, info)
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return regular(path, f)
}

// Truncate goes by the name: a handle opened for appending may not set the
// length on Windows.
func (f osFile) Truncate(size int64) error { return os.Truncate(f.Name(), size) }
