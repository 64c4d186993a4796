package lockfile

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Tests with several processes run this binary again with its part in a variable.
const partVariable = "LOCKFILE_TEST_PART"

func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		if err := play(part, os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(part string, args []string) error {
	switch part {
	case "lock": // holds the lock until its input ends
		return untilInputEnds(func() (func() error, error) { return Lock(context.Background(), args[0]) })
	case "hold":
		return untilInputEnds(func() (func() error, error) {
			release, err := Hold(args[0])
			return func() error { release(); return nil }, err
		})
	case "count":
		return count(args[0], args[1])
	case "loop":
		return loop(args[0])
	case "replace":
		return replaceMany(args[0], args[1])
	}
	return fmt.Errorf("no part %q", part)
}

func untilInputEnds(take func() (func() error, error)) error {
	give, err := take()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return give()
}

const countRounds = 50

// count adds one to the number in file, under the lock, a few times.
func count(lock, file string) error {
	fmt.Println("ready")
	for range countRounds {
		unlock, err := Lock(context.Background(), lock)
		if err != nil {
			return err
		}
		if err := addOne(file); err != nil {
			return err
		}
		if err := unlock(); err != nil {
			return err
		}
	}
	return nil
}

func addOne(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600)
}

// loop locks and unlocks until its input ends.
func loop(path string) error {
	over := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(over) }()
	fmt.Println("ready")
	for {
		unlock, err := Lock(context.Background(), path)
		if err != nil {
			return err
		}
		if err := unlock(); err != nil {
			return err
		}
		select {
		case <-over:
			return nil
		default:
		}
	}
}

const (
	replaceRounds = 300
	replaceSize   = 1 << 16
)

// uniform is content in which a mix of two versions shows.
func uniform(i int) []byte {
	return []byte(strings.Repeat(string(rune('a'+i%26)), replaceSize+i%26))
}

func replaceMany(path, tempDir string) error {
	fmt.Println("ready")
	for i := range replaceRounds {
		if err := Replace(path, uniform(i), tempDir); err != nil {
			return err
		}
	}
	return nil
}

// A process is another run of this binary that has said it is ready.
type process struct {
	*exec.Cmd
	input  io.Closer
	output *bufio.Reader
}

func start(t *testing.T, part string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	// Under the race detector a process sleeps for a second before it exits.
	cmd.Env = append(os.Environ(), partVariable+"="+part, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	check(t, err)
	output, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	p := &process{cmd, input, bufio.NewReader(output)}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := p.output.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s said %q, %v", part, line, err)
	}
	return p
}

// end closes the process's input and waits for it to finish well.
func (p *process) end(t *testing.T) {
	t.Helper()
	check(t, p.input.Close())
	p.wait(t)
}

func (p *process) wait(t *testing.T) {
	t.Helper()
	rest, _ := io.ReadAll(p.output)
	if err := p.Wait(); err != nil {
		t.Fatalf("%v: %v %s", p.Args, err, rest)
	}
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	check(t, p.Process.Kill())
	_ = p.Wait() // "signal: killed"
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inTemp(t testing.TB, name string) string { return filepath.Join(t.TempDir(), name) }

// free fails the test unless the lock at path can be had at once.
func free(t *testing.T, path string) {
	t.Helper()
	unlock, err := Lock(past(t), path)
	check(t, err)
	check(t, unlock())
}
