package ttcmd

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWaitWithoutAReader: a wait whose answer nobody takes, because the pipe is
// full, does not keep the room locked. When it is taken, it is whole.
func TestWaitWithoutAReader(t *testing.T) {
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	tt, data, workspace := filepath.Join(bin, "tt"), t.TempDir(), t.TempDir()
	as := func(agent string, args ...string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		t.Cleanup(cancel)
		cmd := exec.CommandContext(ctx, tt)
		cmd.Args = append([]string{"tt"}, args...)
		cmd.Env = append(os.Environ(), "TALKING_STICK_DATA_DIR="+data, "TT_HARNESS_AGENT_ID="+agent)
		cmd.Dir = workspace
		return cmd
	}
	run := func(agent string, args ...string) {
		t.Helper()
		if out, err := as(agent, args...).CombinedOutput(); err != nil {
			t.Fatalf("tt %v: %v %s", args, err, out)
		}
	}
	run("a:1", "join")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	filled := fill(t, writer)
	wait := as("a:1", "wait", "--json")
	wait.Stdout = writer
	if err := wait.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	for owned := false; !owned; { // it is granted, and cannot say so
		out, err := as("b:1", "state", "--json").Output()
		if err != nil {
			t.Fatal(err)
		}
		owned = bytes.Contains(out, []byte(`"owner":"a:1"`))
	}
	run("b:1", "join") // takes the lock
	answer := make([]byte, filled+4096)
	n := 0
	for {
		m, err := reader.Read(answer[n:])
		n += m
		if err != nil {
			break
		}
	}
	if err := wait.Wait(); err != nil || !strings.HasPrefix(string(answer[filled:n]), `{"status":"your_turn"`) {
		t.Errorf("%v: %q", err, answer[filled:n])
	}
	run("a:1", "leave")
}

// fill writes to a pipe until it takes no more, and returns how much it took.
func fill(t *testing.T, w *os.File) int {
	t.Helper()
	fd := int(w.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	filled := 0
	for block := make([]byte, 4096); ; {
		n, err := syscall.Write(fd, block)
		if err == syscall.EAGAIN {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		filled += n
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	return filled
}
