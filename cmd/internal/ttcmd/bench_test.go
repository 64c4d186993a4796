package ttcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkCommand runs whole commands, as a shell does, in turn with a baseline of
// bare system calls, so that a busy machine is busy for both. It needs the
// programs, see "make bench": TT_BENCH_DIR is where they are.
func BenchmarkCommand(b *testing.B) {
	bin := os.Getenv("TT_BENCH_DIR")
	if bin == "" {
		b.Skip("TT_BENCH_DIR is not set; make bench sets it")
	}
	data, workspace, baseline := b.TempDir(), b.TempDir(), b.TempDir()
	env := append(os.Environ(), "TALKING_STICK_DATA_DIR="+data, "TT_HARNESS_AGENT_ID=bench:1")
	run := func(name string, args ...string) time.Duration {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Env, cmd.Dir = env, workspace
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatalf("%s %v: %v", name, args, err)
		}
		return time.Since(start)
	}
	run("tt", "join")
	run("baseline", "commit", baseline)
	for _, c := range []struct {
		name         string
		tt, baseline []string
	}{
		{"start", []string{"version"}, []string{"noop"}},
		{"read", []string{"state", "--json"}, []string{"read", baseline}},
		{"commit", []string{"msg", "send", "room", "hello"}, []string{"commit", baseline}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ours, bare []time.Duration
			for range b.N {
				ours = append(ours, run("tt", c.tt...))
				bare = append(bare, run("baseline", c.baseline...))
			}
			b.ReportMetric(float64(median(ours).Microseconds()), "tt-µs")
			b.ReportMetric(float64(median(bare).Microseconds()), "baseline-µs")
			b.ReportMetric(float64(median(ours))/float64(median(bare)), "tt/baseline")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
