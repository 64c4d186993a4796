package ttcmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/lockfile"
	"golang.org/x/sys/unix"
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

// serveMain is "serve N SOCKET READY FILE…": a server with the locks of the files, to whose socket N programs are connected, the first
// of them as a window of Codex would be. It makes the file READY then.
func serveMain() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	socket, err := net.Listen("unix", os.Args[2])
	if err != nil {
		fail(err)
	}
	var kept []any
	n, _ := strconv.Atoi(os.Args[1])
	for range n {
		client, err := net.Dial("unix", os.Args[2])
		if err != nil {
			fail(err)
		}
		server, err := socket.Accept()
		if err != nil {
			fail(err)
		}
		kept = append(kept, client, server)
	}
	for _, path := range os.Args[4:] {
		lock, err := lockfile.Lock(context.Background(), path)
		if err != nil {
			fail(err)
		}
		kept = append(kept, lock)
	}
	window := exec.Command("sh", "-c", "read line")
	window.Args[0] = "codex"
	end, err := window.StdinPipe()
	if err == nil {
		err = window.Start()
	}
	if err == nil {
		err = os.WriteFile(os.Args[3], []byte("serves\n"), 0o600)
	}
	if err != nil {
		fail(err)
	}
	<-stop
	end.Close()
	_ = window.Wait()
	runtime.KeepAlive(kept)
}

// brimMain is "brim COMMAND…": becomes the command, with an environment so large
// that the command can start no process with longer arguments than its own.
func brimMain() {
	const room = 128 << 10 // Linux: a quarter of the stack, but never less than this
	limit := syscall.Rlimit{Cur: 4 * room, Max: 4 * room}
	if err := syscall.Setrlimit(syscall.RLIMIT_STACK, &limit); err != nil {
		fail(err)
	}
	path, err := exec.LookPath(os.Args[1])
	if err != nil {
		fail(err)
	}
	args, env := os.Args[1:], os.Environ()
	left := room
	for _, text := range slices.Concat([]string{path}, args, env) {
		const pointer = 8
		left -= len(text) + 1 + pointer
	}
	for ; left > 0; left -= 8 {
		err = syscall.Exec(path, args, append(env, "PAD="+strings.Repeat("x", left)))
		if err != syscall.E2BIG {
			fail(err)
		}
	}
}

// unreadMain is "unread [-stderr] SIGNAL COMMAND…": runs the command with standard
// output, and with -stderr standard error too, going to a pipe that nobody reads,
// sends it the signal when the pipe is full, and ends as the command does.
func unreadMain() {
	flags := flag.NewFlagSet("unread", flag.ExitOnError)
	both := flags.Bool("stderr", false, "")
	_ = flags.Parse(os.Args[1:])
	args := flags.Args()
	reader, writer, err := os.Pipe()
	if err != nil {
		fail(err)
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = writer, os.Stderr
	if *both {
		cmd.Stderr = writer
	}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	room := []unix.PollFd{{Fd: int32(writer.Fd()), Events: unix.POLLOUT}}
	for start := time.Now(); ; time.Sleep(lookAgain) {
		if n, err := unix.Poll(room, 0); err != nil || n == 0 {
			break
		}
		if time.Since(start) > patience/4 {
			fail(errors.New("the pipe does not fill"))
		}
	}
	if err := cmd.Process.Signal(signals[args[0]]); err != nil {
		fail(err)
	}
	status := statusOf(cmd)
	reader.Close()
	os.Exit(status)
}

// statusOf waits for the command, but not for ever, and returns its exit status as
// a shell does.
func statusOf(cmd *exec.Cmd) int {
	tired := time.AfterFunc(patience/4, func() {
		fmt.Fprintln(os.Stderr, "the command does not end")
		_ = cmd.Process.Kill()
	})
	defer tired.Stop()
	_ = cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
