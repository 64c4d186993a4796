package console

import (
	"os"
	"os/signal"
	"syscall"
)

// endings are the signals that end the console.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// onResize calls changed when the terminal may have another size, until stop is called.
func onResize(changed func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for range signals {
			changed()
		}
	}()
	return func() { signal.Stop(signals) }
}
