package jobs

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeRange marks all files from first on as to be closed on exec. A kernel older
// than 5.11 cannot.
func closeRange(first int) error {
	return unix.CloseRange(uint(first), math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
