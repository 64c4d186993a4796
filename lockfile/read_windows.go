package lockfile

import (
	"fmt"
	"io"
	"os"
)

// OpenRegular opens a regular file with os.O_ flags, creating it if they say so.
// What is no regular file is refused with a [*NotRegularError].
func OpenRegular(path string, flags int) (*os.File, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flags, 0o600)
}

// ReadRegular reads a regular file of at most limit bytes.
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return b, err
}
