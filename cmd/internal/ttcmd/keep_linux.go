package ttcmd

import (
	"math"

	"golang.org/x/sys/unix"
)

// keepFrom keeps all files from the nth on. A kernel older than 5.11 cannot.
func keepFrom(n uint) error { return unix.CloseRange(n, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }
