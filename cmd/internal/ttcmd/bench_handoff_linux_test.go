package ttcmd

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkHandoff is from the start of a release to the line of the next agent's
// wait, with nobody else waiting and with a hundred, beside a durable change that
// wakes one process and nothing else.
func BenchmarkHandoff(b *testing.B) {
	s := newBenchStage(b)
	b.Run("baseline", func(b *testing.B) {
		dir := b.TempDir()
		s.run(s.baseline("commit", dir))
		s.report(b, func() time.Duration {
			waiter := s.start(b, s.baseline("await", dir))
			waiter.line(b)
			return s.until(b, waiter, s.baseline("commit", dir))
		})
	})
	for _, others := range []int{0, 100} {
		b.Run(fmt.Sprint("tt-", others, "-others"), func(b *testing.B) {
			r := s.newRoom(b)
			owner, next := "one:1", "two:2"
			s.run(r.as(owner, "try"))
			defer func() { s.run(r.as(owner, "leave")) }() // and with it the last guardian
			for i := range others {
				watching(b, s.start(b, r.as(fmt.Sprint("other:", i), "wait", "--timeout", "1h", "--json")))
			}
			s.report(b, func() time.Duration {
				waiter := s.start(b, r.as(next, "wait", "--timeout", "1h", "--json"))
				watching(b, waiter)
				took := s.until(b, waiter, r.as(owner, "assign", next, "--status", "s", "--next-action", "n"))
				owner, next = next, owner
				return took
			})
		})
	}
}

// BenchmarkEight is what one durable command takes when eight send at once.
func BenchmarkEight(b *testing.B) {
	s := newBenchStage(b)
	const writers = 8
	atOnce := func(b *testing.B, command func(i int) *exec.Cmd) {
		started := time.Now()
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				for range b.N {
					if err := command(i).Run(); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
		b.ReportMetric(float64(time.Since(started).Microseconds())/float64(writers*b.N), "µs/command")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("baseline", func(b *testing.B) {
		dir := b.TempDir()
		atOnce(b, func(int) *exec.Cmd { return s.baseline("commit", dir) })
	})
	b.Run("tt", func(b *testing.B) {
		r := s.newRoom(b)
		for i := range writers {
			s.run(r.as(fmt.Sprint("writer:", i), "join"))
		}
		atOnce(b, func(i int) *exec.Cmd { return r.as(fmt.Sprint("writer:", i), "msg", "send", "room", "hello") })
	})
}

// A benchStage has the programs of "make bench".
type benchStage struct {
	b   *testing.B
	bin string
}

func newBenchStage(b *testing.B) *benchStage {
	b.Helper()
	bin := os.Getenv("TT_BENCH_DIR")
	if bin == "" {
		b.Skip("TT_BENCH_DIR is not set; make bench sets it")
	}
	return &benchStage{b: b, bin: bin}
}

func (s *benchStage) baseline(args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(s.bin, "baseline"), args...)
}

func (s *benchStage) run(cmd *exec.Cmd) {
	s.b.Helper()
	if err := cmd.Run(); err != nil {
		s.b.Fatalf("%v: %v", cmd.Args, err)
	}
}

// report runs a measurement b.N times and reports the median and the worst.
func (s *benchStage) report(b *testing.B, measure func() time.Duration) {
	var all []time.Duration
	for range b.N {
		all = append(all, measure())
	}
	b.ReportMetric(float64(median(all).Microseconds()), "µs")
	b.ReportMetric(float64(all[len(all)-1].Microseconds()), "worst-µs")
	b.ReportMetric(0, "ns/op")
}

// A benchWaiter is a process that prints a line when it has what it waits for.
type benchWaiter struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func (s *benchStage) start(b *testing.B, cmd *exec.Cmd) *benchWaiter {
	b.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &benchWaiter{cmd: cmd, out: bufio.NewReader(out)}
}

func (w *benchWaiter) line(b *testing.B) {
	b.Helper()
	if _, err := w.out.ReadString('\n'); err != nil {
		b.Fatal(err)
	}
}

// until is from the start of cmd to the next line of the waiter.
func (s *benchStage) until(b *testing.B, w *benchWaiter, cmd *exec.Cmd) time.Duration {
	b.Helper()
	started := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w.line(b)
	took := time.Since(started)
	if err := cmd.Wait(); err != nil {
		b.Fatalf("%v: %v", cmd.Args, err)
	}
	return took
}

// watching returns once the process watches a directory.
func watching(b *testing.B, w *benchWaiter) {
	b.Helper()
	infos := fmt.Sprintf("/proc/%d/fdinfo/*", w.cmd.Process.Pid)
	for {
		files, _ := filepath.Glob(infos)
		for _, file := range files {
			if info, _ := os.ReadFile(file); strings.Contains(string(info), "inotify wd:") {
				return
			}
		}
		if len(files) == 0 {
			b.Fatalf("%v has ended", w.cmd.Args)
		}
	}
}

// A benchRoom is a workspace with its own data directory.
type benchRoom struct{ bin, data, workspace string }

func (s *benchStage) newRoom(b *testing.B) *benchRoom {
	b.Helper()
	return &benchRoom{bin: s.bin, data: b.TempDir(), workspace: b.TempDir()}
}

func (r *benchRoom) as(agent string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(r.bin, "tt"), args...)
	cmd.Env = append(os.Environ(), "TALKING_STICK_DATA_DIR="+r.data, "TT_HARNESS_AGENT_ID="+agent)
	cmd.Dir = r.workspace
	return cmd
}
