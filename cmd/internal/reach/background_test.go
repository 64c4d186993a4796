//go:build linux

package reach

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var processID = regexp.MustCompile(`process +([0-9]+), alive`)

// TestClaudeBackground: a session that Claude Code runs in the background, below a daemon, has a process of its
// own. It is called, and gone when that has ended, while the daemon goes on.
func TestClaudeBackground(t *testing.T) {
	w := newWorld(t, claude)
	w.quit()
	w.session = unique("session-")
	n := w.model.count()
	args := append([]string{"--bg"}, w.h.args...)
	args = append(args, "--", w.session+" says hello [[sh tt join --json]] [[sh tt whoami --explain --text]]"+
		" [[sh env -u CLAUDE_PID tt whoami --explain --text]] [[say joined]]")
	cmd := exec.Command(w.program, args...)
	cmd.Dir, cmd.Env = w.dir, w.environ(w.h.env(w)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.named(w.answered(n, "agent_id", "workspace_root"))
	named := w.answered(n, "process  ", "CLAUDE_PID=")
	match := processID.FindStringSubmatch(named.newest)
	if match == nil {
		t.Fatalf("no process in %s", named.newest)
	}
	pid, _ := strconv.Atoi(match[1])
	w.settle()
	for _, r := range w.model.since(n) { // with the variable of its process, and without
		if match := processID.FindStringSubmatch(r.newest); match != nil {
			if line, _ := os.ReadFile("/proc/" + match[1] + "/cmdline"); strings.Contains(string(line), "daemon\x00run") {
				t.Errorf("the daemon is taken for the session: %s", r.newest)
			}
		}
	}
	within(t, "in the background", w.h.limit, w.handoffs(2)...)
	w.holding(sleeping(120, 0))
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	for start := time.Now(); !strings.Contains(w.tt(peer, "wait", "--json", "--timeout", "5s"), "takeover_available"); {
		if time.Since(start) > time.Minute {
			t.Fatalf("it counts as alive: %s", w.tt("", "why"))
		}
	}
}

// TestClaudeInstalledLater: a session that was open when the hooks were installed watches no file, and is called.
func TestClaudeInstalledLater(t *testing.T) {
	w := newWorld(t, claude)
	w.quit()
	w.tt("", "uninstall", w.h.id)
	w.start()
	w.tt("", "install", w.h.id, "--no-bus")
	for start, reach := time.Now(), ""; reach != "ready"; { // it takes up changed settings a moment later
		if time.Since(start) > time.Minute {
			t.Fatalf("it is %q; shown is\n%s", reach, tail(w.screen.screen()))
		}
		w.submit("go on [[say going on]]")
		for asked := time.Now(); reach != "ready" && time.Since(asked) < 3*time.Second; time.Sleep(100 * time.Millisecond) {
			reach, _ = w.reach()
		}
	}
	if _, listening := w.reach(); listening != "claude-hook" {
		t.Errorf("it listens by %q", listening)
	}
	within(t, "installed later", w.h.limit, w.handoffs(2)...)
}
