package listen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
)

// patience is how long a program that wakes an agent may take. Codex without its
// background server takes up to ten seconds.
var patience = 30 * time.Second

// run runs a program to its end, and returns what it has printed.
func run(ctx context.Context, program *exec.Cmd) (output string, err error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out bytes.Buffer
	program.Stdout, program.Stderr = &out, &out
	ended := make(chan error, 1)
	if err := program.Start(); err != nil {
		return "", err
	}
	program.WaitDelay = time.Second // a process that it leaves behind may have the pipe
	go func() { ended <- program.Wait() }()
	select {
	case err := <-ended:
		return out.String(), err
	case <-limited.Done():
		_ = program.Process.Kill() // what it has started may have its output open
		if err := ctx.Err(); err != nil {
			return "", err // the listener ends
		}
		return "", fmt.Errorf("%s was ended after %s", filepath.Base(program.Path), patience)
	}
}

// Command returns a transport that runs a command of the user's shell. The text is in the
// variable TT_TEXT, the path of the room in TT_ROOM and the class in TT_CLASS: what others
// chose is never part of the command.
func Command(line string) Transport {
	return Transport{How: hearing.ByExec, Deliver: func(ctx context.Context, w Wake) error {
		program := exec.Command("sh", "-c", line)
		program.Env = append(os.Environ(), "TT_TEXT="+w.Text, "TT_ROOM="+w.Path, "TT_CLASS="+w.Class)
		output, err := run(ctx, program)
		return failure(err, output)
	}}
}

// failure adds the last line of what a program printed to its error.
func failure(err error, output string) error {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if last := lines[len(lines)-1]; err != nil && last != "" {
		return fmt.Errorf("%w: %.200s", err, last)
	}
	return err
}

// CodexQueue returns a transport that puts the text into the queue of a thread of Codex.
// program is the path of codex, and home its configuration directory.
func CodexQueue(program, home, thread string) Transport {
	lock, seen := filepath.Join(home, "thread-writer-locks", thread+".lock"), false
	return Transport{
		How: hearing.ByQueue,
		Unattended: func() bool {
			holder, held := lockfile.FindHolder(lock)
			return held && onlyServes("/proc", holder.PID, filepath.Base(program))
		},
		Deliver: func(ctx context.Context, w Wake) error {
			output, err := run(ctx, exec.Command(program, "queue", "--thread", thread, "--message", w.Text))
			if err == nil {
				return nil
			}
			err = failure(err, output)
			for _, final := range []string{"no rollout found", "readonly database", "unrecognized subcommand"} {
				if strings.Contains(output, final) {
					return fmt.Errorf("%w: %w", ErrDeaf, err)
				}
			}
			if errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%w: %w", ErrDeaf, err)
			}
			return err
		},
		// The process that has a thread loaded has a lock on this file. That is nowhere
		// documented, so only a lock that was there and is free again counts.
		Gone: func() bool {
			_, held := lockfile.FindHolder(lock)
			seen = seen || held
			return seen && !held
		},
	}
}

// onlyServes reports whether a process is the server of a program and nothing else of the
// program runs, which could be a window. It knows that only where there is a directory of
// processes as on Linux.
func onlyServes(proc string, pid int, program string) bool {
	serves := false
	files, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "cmdline"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		args := strings.Split(string(text), "\x00")
		server := slices.Contains(args, harness.Queued().ServerArg)
		switch {
		case filepath.Base(args[0]) != program:
		case !server:
			return false
		case filepath.Base(filepath.Dir(file)) == strconv.Itoa(pid):
			serves = true
		}
	}
	return serves
}
