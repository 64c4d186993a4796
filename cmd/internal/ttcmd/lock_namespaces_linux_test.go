package ttcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Processes of another pid namespace cannot be looked up: their record locks alone say
// that they live.
func TestLockAcrossPIDNamespaces(t *testing.T) {
	const inside = "unshare --pid --fork --mount-proc "
	if out, err := exec.Command("sh", "-c", inside+"true").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 {
			t.Fatalf("no pid namespace: %v: %s", err, out)
		}
		t.Skipf("no pid namespace: %v: %s", err, out)
	}
	const hold = "tt lock run build --agent a:1 -- sh -c 'echo >held; exec cat'"
	for name, where := range map[string]struct{ holder, waiter string }{
		"the holder is in another one": {inside, ""},
		"the waiter is in another one": {"", inside},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScratch(t)
			holder := s.command("exec " + where.holder + hold)
			stdin, err := holder.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := holder.Start(); err != nil {
				t.Fatal(err)
			}
			for start := time.Now(); ; time.Sleep(lookAgain) {
				if _, err := os.Stat(filepath.Join(s.dir, "held")); err == nil {
					break
				}
				if time.Since(start) > patience {
					t.Fatal("the lock was not had")
				}
			}
			list := s.run(where.waiter + "tt lock list --json")
			if !strings.Contains(list, `"process":"unknown"`) {
				t.Errorf("listed as %s", list)
			}
			if out := s.run(where.waiter + "tt lock run --timeout 0 build -- echo wrong || echo status $?"); out != "status 75\n" {
				t.Errorf("got %s", out)
			}
			stdin.Close()
			if err := holder.Wait(); err != nil {
				t.Error(err)
			}
			if out := s.run(where.waiter + "tt lock run --timeout 1m build -- echo free"); out != "free\n" {
				t.Errorf("got %s", out)
			}
		})
	}
}
