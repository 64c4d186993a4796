package fsroom

import (
	"fmt"
	"io"
	"os"
)

// readFile reads a regular file of ours, at most limit bytes of it.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not a regular file of a sensible size", path)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
