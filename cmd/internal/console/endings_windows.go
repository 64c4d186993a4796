package console

import (
	"os"
	"syscall"
)

// endings are the signals that end the console.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM}

// onResize does nothing: there is no signal for it.
func onResize(func()) (stop func()) { return func() {} }
