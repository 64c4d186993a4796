package fsroom_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
)

// BenchmarkWake is from the beginning of a change to the look of the one whose
// turn it makes it, in one process: a durable change and a notification. With others
// waiting it is the same, because no other waiter is woken.
func BenchmarkWake(b *testing.B) {
	for _, others := range []int{0, 100} {
		b.Run(fmt.Sprint(others, "-others"), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "data")
			r := fsroom.At(openStore(b, dir, fsroom.Options{BlindPoll: time.Hour}), wakeRules, "demo")
			change(b, r, join("a"))
			for i := range others {
				waitAs(b, r, fmt.Sprint("other", i))
			}
			looks := waitAs(b, r, "z")
			var total time.Duration
			for b.Loop() {
				started := time.Now()
				change(b, r, turnOn("a"))
				total += (<-looks).Sub(started)
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/wake")
		})
	}
}

// waitAs waits as an agent until the benchmark ends. When it returns, the agent
// is watching; then it tells when it looks.
func waitAs(b *testing.B, r *room, id string) <-chan time.Time {
	b.Helper()
	looks := make(chan time.Time, 1)
	a := r.Agent(id)
	release, err := a.Hold("waiting")
	if err == nil {
		err = a.EnsureWakeFile()
	}
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.AwaitAs(ctx, id, func(*snapshot) (bool, fsroom.Sleep, error) {
			select {
			case looks <- time.Now():
			case <-ctx.Done():
			}
			return false, fsroom.Sleep{}, nil
		})
	}()
	b.Cleanup(func() { cancel(); <-done; release() })
	for range 2 { // the first look, and the one with a watcher
		<-looks
	}
	return looks
}

// BenchmarkWriters is eight processes that change one room as fast as they can:
// what one change takes them all, and the longest that one had to wait for the
// lock.
func BenchmarkWriters(b *testing.B) {
	const writers = 8
	dir := filepath.Join(b.TempDir(), "data")
	r := fsroom.At(openStore(b, dir, fsroom.Options{}), tallyRules, "demo")
	change(b, r, join("a"))
	var all []*process
	started := time.Now()
	for range writers {
		all = append(all, start(b, "queue", dir, strconv.Itoa(b.N)))
	}
	var longest time.Duration
	for _, p := range all {
		for _, line := range p.rest() {
			ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			longest = max(longest, time.Duration(ns))
		}
		p.done()
	}
	b.ReportMetric(float64(time.Since(started).Nanoseconds())/float64(writers*b.N), "ns/change")
	b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
	b.ReportMetric(0, "ns/op")
}

// queueForLock makes so many changes and prints the longest wait for the lock,
// in nanoseconds.
func queueForLock(r *room, args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var asked time.Time
	var longest time.Duration
	dir := filepath.Dir(filepath.Dir(r.Dir()))
	s, err := fsroom.Open(dir, fsroom.Options{Patience: patience, Fault: func(step fsroom.Step) error {
		switch step {
		case fsroom.StepLock:
			asked = time.Now()
		case fsroom.StepLoad:
			longest = max(longest, time.Since(asked))
		}
		return nil
	}})
	if err != nil {
		return err
	}
	timed := fsroom.At(s, tallyRules, r.Name())
	for range n {
		if _, _, err := timed.Update(context.Background(), say("a", "hello")); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(os.Stdout, longest.Nanoseconds())
	return err
}
