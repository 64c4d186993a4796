//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// quit ends the process with status. A shell leaves a loop on ^C only if the
// command in it was ended by SIGINT itself, not if it exits with 130. So a command
// that was interrupted at a terminal ends by the signal, after it has said what it
// had to say; the shell shows the status 130 for it as well.
func quit(env *Env, status int) {
	if status == 128+int(syscall.SIGINT) && (env.StdinTTY || env.StdoutTTY || env.StderrTTY) {
		signal.Reset(syscall.SIGINT)
		if syscall.Kill(os.Getpid(), syscall.SIGINT) == nil {
			time.Sleep(time.Second) // the signal ends the process meanwhile
		}
	}
	os.Exit(status)
}
