package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Sync leaves out what only fsync would write, the time stamps; the length is
// included, since the data could not be read without it. An interrupted call
// has not failed and is made again; a failed one never is, see [Log.Append].
func (f osFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
