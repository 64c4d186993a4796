package member

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeRange marks all files from first on as to be closed on exec. A kernel older
// than 5.11 cannot.
func closeRange(first uint) error {
	return unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
