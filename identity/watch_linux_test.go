package identity

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestWatchExitOfAKilledChild(t *testing.T) {
	c := startChild(t)
	ended, stop, err := WatchExit(c.process)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	select {
	case <-ended:
		t.Fatal("closed while the child lives")
	default:
	}
	c.Process.Kill() // not yet waited for: a zombie has ended
	waitFor(t, "the watch of a killed child", ended)
}

func TestWatchExitOfOneThatEndedBefore(t *testing.T) {
	c := startChild(t)
	c.end()
	ended, stop, err := WatchExit(c.process)
	if err != nil {
		t.Fatal(err)
	}
	assertClosed(t, ended)
	stop()
	stop()
}

func TestWatchExitOfAnotherMachine(t *testing.T) {
	p := System().Self()
	p.Host = "elsewhere"
	for _, p := range []Process{p, {}, {PID: os.Getpid()}} {
		if _, _, err := WatchExit(p); err == nil {
			t.Errorf("%+v is watched", p)
		}
	}
}

func TestStoppedWatchIsNotClosed(t *testing.T) {
	c := startChild(t)
	ended, stop, err := WatchExit(c.process)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	select {
	case <-ended:
		t.Error("closed by stop")
	default:
	}
}

func TestWatchLeavesNothing(t *testing.T) {
	c := startChild(t)
	goroutines, handles := runtime.NumGoroutine(), pidfds(t)
	var stops []func()
	for range 50 {
		_, stop, err := WatchExit(c.process)
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, stop)
	}
	if pidfds(t) != handles+50 {
		t.Logf("%d pidfds for 50 watches: this system has none, the watches poll", pidfds(t)-handles)
	}
	for _, stop := range stops {
		stop()
		stop()
	}
	if n := pidfds(t); n != handles {
		t.Errorf("%d pidfds are left", n-handles)
	}
	settle(t, goroutines)
}

// settle waits for goroutines whose last act is already done to be counted out.
func settle(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > want; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), want)
		}
	}
}

// pidfds counts the pidfds that this process holds.
func pidfds(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		link, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.Contains(link, "pidfd") {
			n++
		}
	}
	return n
}

func TestWatchesParkNoThreads(t *testing.T) {
	c := startChild(t)
	before := threads(t)
	for range 100 {
		_, stop, err := WatchExit(c.process)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	if n := threads(t) - before; n > 50 {
		t.Errorf("100 watches cost %d threads", n)
	}
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

func TestWatchByPolling(t *testing.T) {
	c := startChild(t)
	goroutines := runtime.NumGoroutine()
	_, stopEarly, err := watchByPolling(System(), c.process, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	stopEarly()
	settle(t, goroutines)
	ended, stop, err := watchByPolling(System(), c.process, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	c.end()
	waitFor(t, "polling for a killed child", ended)
	stop()
	again, _, err := watchByPolling(System(), c.process, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	assertClosed(t, again)
}

// A doubtful table says Unknown until it is told the truth.
type doubtfulTable struct {
	Table
	answers chan Verdict
}

func (t doubtfulTable) Verdict(Process) Verdict { return <-t.answers }

func TestPollingOutlastsDoubt(t *testing.T) {
	answers := make(chan Verdict)
	go func() {
		for _, v := range []Verdict{Alive, Unknown, Alive, Unknown, Gone} {
			answers <- v
		}
	}()
	ended, stop, err := watchByPolling(doubtfulTable{answers: answers}, Process{}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	waitFor(t, "polling", ended)
	if len(answers) != 0 {
		t.Error(errors.New("ended before it was told"))
	}
}
