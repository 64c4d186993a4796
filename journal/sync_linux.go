package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Sync uses fdatasync, which does not write the time stamps but does write the length. An
// interrupted call is repeated, because it has not failed; a failed one is not, see
// [Log.Append].
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
