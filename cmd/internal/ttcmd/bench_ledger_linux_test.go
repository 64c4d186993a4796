package ttcmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkLedger is what recording what turns change costs: whole commands with the ledger and
// without it, in turn, in a repository of 5000 files of which each turn changes three, and in a
// directory with one file, where there are five times as many turns.
func BenchmarkLedger(b *testing.B) {
	s := newBenchStage(b)
	for _, c := range []struct{ files, times int }{{1, 5}, {5000, 1}} {
		b.Run(fmt.Sprint("files-", c.files), func(b *testing.B) {
			r := s.newRoom(b)
			r.fill(b, s, c.files)
			took := map[string][]time.Duration{}
			for i := range 2 * (b.N*c.times + 1) { // the first of each stores the tree
				mode := []string{"on", "off"}[i%2]
				run := func(what string, args ...string) {
					cmd := r.as("one:1", args...)
					cmd.Env = append(cmd.Env, "TALKING_STICK_LEDGER="+mode)
					start := time.Now()
					s.run(cmd)
					if i > 1 {
						took[what+mode] = append(took[what+mode], time.Since(start))
					}
				}
				run("version ", "version")
				run("wait ", "wait")
				if mode == "on" {
					r.untilRecorded(b)
				}
				for f := range min(3, c.files) {
					r.write(b, fmt.Sprint(f), i)
				}
				time.Sleep(30 * time.Millisecond) // what was written is older than the clock's tick
				run("release ", "release", "--status", "s", "--next-action", "n")
			}
			for _, what := range []string{"version ", "wait ", "release "} {
				on, off := took[what+"on"], took[what+"off"]
				for name, part := range map[string]int{"p50": 50, "p95": 95} {
					at := func(d []time.Duration) float64 {
						slices.Sort(d)
						return float64(d[len(d)*part/100].Microseconds())
					}
					b.ReportMetric(at(off), what[:len(what)-1]+"-off-"+name+"-µs")
					b.ReportMetric(at(on)-at(off), what[:len(what)-1]+"-more-"+name+"-µs")
					b.ReportMetric(at(on)/at(off), what[:len(what)-1]+"-on/off-"+name)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// fill makes the files of the room; with many of them it is a repository.
func (r *benchRoom) fill(b *testing.B, s *benchStage, files int) {
	for i := range files {
		r.write(b, fmt.Sprint(i), i)
	}
	if files == 1 {
		return
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}, {"repack", "-adq"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.workspace
		s.run(cmd)
	}
}

func (r *benchRoom) write(b *testing.B, name string, content int) {
	dir := filepath.Join(r.workspace, "d"+name[:min(2, len(name))])
	text := bytes.Repeat(fmt.Appendln(nil, "a line of", name, content), 250)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		b.Fatal(err)
	}
}

// untilRecorded waits until the beginning of the turn is.
func (r *benchRoom) untilRecorded(b *testing.B) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		stores, _ := filepath.Glob(filepath.Join(r.data, "trees", "*", "snapshots.jsonl"))
		for _, path := range stores {
			lines, _ := os.ReadFile(path)
			last := bytes.TrimSpace(lines)
			if bytes.Contains(last[bytes.LastIndexByte(last, '\n')+1:], []byte(`"why":"start"`)) {
				return
			}
		}
	}
	b.Fatal("the beginning of the turn was not recorded")
}
