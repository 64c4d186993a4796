package ttcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The built programs stay small and start fast. TT_BENCH_DIR is where they are,
// beside the baseline that tt is measured against; "make guards" sets it.
func TestSizeAndStart(t *testing.T) {
	bin := os.Getenv("TT_BENCH_DIR")
	if bin == "" {
		t.Skip("TT_BENCH_DIR is not set; make guards sets it")
	}
	const most = 5 << 20
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
	// The fastest of many starts is what a program takes; all others were disturbed.
	const starts, atMost = 200, 3.0
	tt, baseline := time.Hour, time.Hour
	for range starts {
		baseline = min(baseline, start(t, filepath.Join(bin, "baseline"), "noop"))
		tt = min(tt, start(t, filepath.Join(bin, "tt"), "version"))
	}
	t.Logf("tt: %d bytes, %v to start and end; baseline: %v; %.1f times", info.Size(), tt, baseline, float64(tt)/float64(baseline))
	if float64(tt) > atMost*float64(baseline) {
		t.Errorf("tt takes %v to start and end, %.1f times the baseline's %v; it may take %.0f times", tt, float64(tt)/float64(baseline), baseline, atMost)
	}
}

func start(t *testing.T, program string, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"GOMAXPROCS=1"}
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return time.Since(began)
}
