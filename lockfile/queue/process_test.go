package queue

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// counterVariable makes the test binary a process that counts, in the directory of a
// queue.
const counterVariable = "QUEUE_TEST_COUNTER"

func TestMain(m *testing.M) {
	dir := os.Getenv(counterVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := works[os.Getenv(workVariable)](dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// workVariable says which of works it does.
const workVariable = "QUEUE_TEST_WORK"

var works = map[string]func(dir string) error{"": count}

const rounds = 15

// count adds 1 to the number in a file, under the lock, which a second process would undo.
func count(dir string) error {
	q := &Queue{Dir: dir, Processes: table{}}
	file := filepath.Join(dir, "count")
	for range rounds {
		h, err := q.Acquire(context.Background(), mine(), Options{
			Patience: -1, Again: time.Hour, // only the kernel wakes it
			Look: func(*Ticket, []*Entry) error { return nil },
		})
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(text))
		if err == nil {
			err = os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600)
		}
		if err != nil {
			return err
		}
		h.Release()
	}
	return nil
}

// Several processes wait for each other, each woken by the end of the one before it.
func TestProcessesCountUnderTheLock(t *testing.T) {
	const processes = 5
	dir := t.TempDir()
	plant(t, &Queue{Dir: dir}, "count", "0")
	var all []*exec.Cmd
	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), counterVariable+"="+dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "count"))
	if want := strconv.Itoa(processes * rounds); err != nil || string(text) != want {
		t.Errorf("counted %q, %v; want %s", text, err, want)
	}
}
