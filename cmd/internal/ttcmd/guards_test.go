package ttcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"
)

// The built programs stay small and start fast. TT_BENCH_DIR is where they are,
// beside the empty program that tt is measured against; "make guards" sets it.
func TestSizeAndStart(t *testing.T) {
	bin := os.Getenv("TT_BENCH_DIR")
	if bin == "" {
		t.Skip("TT_BENCH_DIR is not set; make guards sets it")
	}
	const most = 9 << 20
	info, err := os.Stat(filepath.Join(bin, "tt"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("tt has %d bytes, %d more than it may have", info.Size(), info.Size()-most)
	}
	if runtime.GOOS != "linux" {
		return
	}
	// One table that is made by a call is enough for the compiler to make all of them at each start.
	cmd := exec.Command(filepath.Join(bin, "tt"), "version")
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	trace, err := cmd.CombinedOutput()
	if made := regexp.MustCompile(`init \S+/internal/ttcmd .* [1-9]\d* allocs`).Find(trace); made != nil || err != nil {
		t.Errorf("tables of commands are made before main: %s, %v", made, err)
	}
	// The fastest of many starts is what a program takes; all others were disturbed.
	const starts, atMost = 500, 2.5 // 1.5 to 1.9 on a machine that does nothing else
	tt, empty := time.Hour, time.Hour
	for range starts {
		empty = min(empty, start(t, filepath.Join(bin, "empty")))
		tt = min(tt, start(t, filepath.Join(bin, "tt"), "version"))
	}
	ratio := float64(tt) / float64(empty)
	t.Logf("tt: %d bytes, %v to start and end; an empty program: %v; %.2f times", info.Size(), tt, empty, ratio)
	if ratio > atMost {
		t.Errorf("tt takes %v to start and end, %.2f times the %v of an empty program; it may take %.1f times", tt, ratio, empty, atMost)
	}
}

// A command under a free lock takes less than twice as long as under flock(1), which knows
// of no queue and of no holder. On a busy machine its threads make it more.
func TestFreeLockBesideFlock(t *testing.T) {
	bin := os.Getenv("TT_BENCH_DIR")
	if bin == "" {
		t.Skip("TT_BENCH_DIR is not set; make guards sets it")
	}
	for _, tool := range []string{"flock", "true"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	const runs, atMost = 200, 3.0
	t.Setenv("TALKING_STICK_DATA_DIR", t.TempDir())
	file, flock, tt := filepath.Join(t.TempDir(), "lock"), time.Hour, time.Hour
	for range runs {
		flock = min(flock, startIn(t, os.Environ(), "flock", file, "true"))
		tt = min(tt, startIn(t, os.Environ(), filepath.Join(bin, "tt"), "lock", "run", "free", "--", "true"))
	}
	t.Logf("tt lock run: %v; flock: %v; %.1f times", tt, flock, float64(tt)/float64(flock))
	if float64(tt) > atMost*float64(flock) {
		t.Errorf("tt lock run takes %v, %.1f times flock's %v", tt, float64(tt)/float64(flock), flock)
	}
}

func start(t *testing.T, program string, args ...string) time.Duration {
	t.Helper()
	return startIn(t, []string{"GOMAXPROCS=1"}, program, args...)
}

func startIn(t *testing.T, env []string, program string, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return time.Since(began)
}
