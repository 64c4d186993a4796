//go:build unix

package console

import (
	"os"
	"syscall"
)

// endings are the signals that end the console. The library that draws it handles two of
// them only, and leaves the terminal as it is after the others.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
