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

// Queue returns a transport that puts the text into the queue of a session. program is the path of
// the harness, and locks the directory in which it has a lock for each session that it runs.
func Queue(program, locks, session string) Transport {
	lock, seen := lockOf(locks, session), false
	return Transport{
		How: hearing.ByQueue,
		Unattended: func() bool {
			holder, held := lockfile.FindHolder(lock)
			if !held {
				return false
			}
			n, serves := connections("/proc", holder.PID)
			return serves && n == 0
		},
		Deliver: func(ctx context.Context, w Wake) error {
			output, err := run(ctx, exec.Command(program, "queue", "--thread", session, "--message", w.Text))
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
		// The process that has a session loaded has a lock on this file. That is nowhere
		// documented, so only a lock that was there and is free again counts.
		Gone: func() bool {
			_, held := lockfile.FindHolder(lock)
			seen = seen || held
			return seen && !held
		},
	}
}

// lockOf returns the file on which the process that runs a session has a lock.
func lockOf(locks, session string) string { return filepath.Join(locks, session+".lock") }

// connections returns how many programs are connected to the socket of a server. serves is false if
// it has none, as one that talks with its parent, or if that is not known: only Linux tells.
func connections(proc string, pid int) (n int, serves bool) {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	sockets, _ := os.ReadFile(filepath.Join(dir, "net", "unix"))
	own := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(dir, "fd", "*"))
	for _, file := range files {
		target, _ := os.Readlink(file)
		own[target] = true
	}
	for line := range strings.Lines(string(sockets)) { // Num RefCount Protocol Flags Type St Inode Path
		f := strings.Fields(line)
		if len(f) < 8 || !own["socket:["+f[6]+"]"] {
			continue
		}
		serves = serves || f[3] == "00010000" // it accepts connections
		if f[5] == "03" {                     // connected
			n++
		}
	}
	return n, serves
}

// InOneWindow returns a function that reports whether a session is open in the server of h that runs
// the given one, if that has one window.
func InOneWindow(h *harness.Harness, locks, session string) (isOpen func(session string) bool, ok bool) {
	server, ok := lockfile.FindHolder(lockOf(locks, session))
	if !ok || !hasOneWindow("/proc", server.PID, h) {
		return nil, false
	}
	return func(session string) bool {
		holder, ok := lockfile.FindHolder(lockOf(locks, session))
		return ok && holder.PID == server.PID
	}, true
}

// hasOneWindow reports whether a process is a server of h with one window, which shows one session
// at a time. Another program that is connected to it, such as an editor, may show several.
func hasOneWindow(proc string, pid int, h *harness.Harness) bool {
	if n, _ := connections(proc, pid); n != 1 {
		return false
	}
	files, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "cmdline"))
	return slices.ContainsFunc(files, func(file string) bool {
		text, _ := os.ReadFile(file)
		args := strings.Split(string(text), "\x00")
		return filepath.Base(args[0]) == h.Program && !slices.Contains(args, h.ServerArg)
	})
}
