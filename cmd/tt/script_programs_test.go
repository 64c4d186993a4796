//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/lockfile"
)

// The programs that scripts run besides tt.

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// grokMain is a harness: "grok COMMAND…" runs a command as its child and ends.
// With -stay it then lives on until it is interrupted; with -plain it does not
// tell the command, which can see it only among its ancestors.
func grokMain() {
	flags := flag.NewFlagSet("grok", flag.ExitOnError)
	stay, plain := flags.Bool("stay", false, ""), flags.Bool("plain", false, "")
	_ = flags.Parse(os.Args[1:])
	args := flags.Args()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	cmd := exec.Command(args[0], args[1:]...)
	if !*plain {
		cmd.Env = append(os.Environ(), "GROK_AGENT=1")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fail(err)
	}
	if *stay {
		<-stop
	}
}

// holdlockMain is "holdlock FILE READY": holds the lock and makes the file READY
// when it has it.
func holdlockMain() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	if _, err := lockfile.Lock(context.Background(), os.Args[1]); err != nil {
		fail(err)
	}
	if err := os.WriteFile(os.Args[2], []byte("locked\n"), 0o600); err != nil {
		fail(err)
	}
	<-stop
}

// brimMain is "brim COMMAND…": becomes the command, with an environment so large
// that the command can start no process with longer arguments than its own.
func brimMain() {
	const least = 128 << 10 // what Linux allows however small the stack may become
	limit := syscall.Rlimit{Cur: 4 * least, Max: 4 * least}
	if err := syscall.Setrlimit(syscall.RLIMIT_STACK, &limit); err != nil {
		fail(err)
	}
	path, err := exec.LookPath(os.Args[1])
	if err != nil {
		fail(err)
	}
	for n := 2 * least; n > 0; n -= 8 {
		half := strings.Repeat("x", n/2)
		err = syscall.Exec(path, os.Args[1:], append(os.Environ(), "PAD1="+half, "PAD2="+half))
		if err != syscall.E2BIG {
			fail(err)
		}
	}
}
