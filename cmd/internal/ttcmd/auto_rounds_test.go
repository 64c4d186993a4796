package ttcmd

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var autoRounds = flag.Int("rounds", 1, "how often each session of TestSessionsThatKnowNothing has something to do")

// An unaware is a session of Claude Code whose model never runs tt: only its hooks do.
type unaware struct {
	*rig
	id     string
	home   string
	again  bool // it tries a refused tool again before it ends its turn
	called chan error
	waits  int // how often it ended its turn since it was refused
}

// hook runs a hook of the session and returns what it printed.
func (s *unaware) hook(kind string, fields map[string]any) string {
	out, err := s.start(kind, fields).Output()
	if err != nil {
		s.t.Errorf("%s: tt hook %s: %v", s.id, kind, err)
	}
	return string(out)
}

func (s *unaware) start(kind string, fields map[string]any) *exec.Cmd {
	cmd := s.command("", "hook", kind, "--harness", "claude-code")
	cmd.Env = []string{"HOME=" + s.home, "USER=tester", "PATH=" + os.Getenv("PATH"), "TALKING_STICK_LEDGER=off", "TALKING_STICK_DATA_DIR=" + s.data, "TALKING_STICK_CLAIM_TTL=20m", "TT_HOOK_LOG=" + s.log(),
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=" + s.id}
	payload := map[string]any{"session_id": s.id, "cwd": s.workspace}
	for name, value := range fields {
		payload[name] = value
	}
	data, err := json.Marshal(payload)
	if err != nil {
		s.t.Error(err)
	}
	cmd.Stdin = bytes.NewReader(data)
	return cmd
}

// log returns the file in which hooks write what went wrong.
func (s *unaware) log() string { return filepath.Join(s.home, "hooks.log") }

// edit asks whether a file may be written, and then adds a line to it as a model does: it
// writes what it has read and the line.
func (s *unaware) edit(name, line string) bool {
	path := filepath.Join(s.workspace, name)
	out := s.hook("edit", map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": map[string]any{"file_path": path}})
	if strings.Contains(out, `"deny"`) {
		return false
	}
	old, err := os.ReadFile(path)
	if err == nil || os.IsNotExist(err) {
		err = os.WriteFile(path, append(old, line+"\n"...), 0o600)
	}
	if err != nil {
		s.t.Error(err)
	}
	return true
}

// stop ends the turn of the model, and listens. It reports whether it has been called instead.
func (s *unaware) stop() bool {
	for active, reason := false, "block"; strings.Contains(reason, "block"); active = true {
		reason = s.hook("stop", map[string]any{"hook_event_name": "Stop", "stop_hook_active": active})
		if strings.Contains(reason, "is reserved for you") || strings.Contains(reason, "is offered to you") {
			return true // a model that ended its turn all the same would be called no more
		}
	}
	select {
	case <-s.called: // while it was at work
		s.called = nil
	default:
	}
	if s.called == nil {
		called, listen := make(chan error, 1), s.start("listen", map[string]any{"hook_event_name": "Stop"})
		if err := listen.Start(); err != nil {
			s.t.Error(err)
		}
		s.t.Cleanup(func() { _ = listen.Process.Kill() })
		go func() { called <- listen.Wait() }()
		s.called = called
	}
	return false
}

// pair writes the same line to two files. When the first one is refused, it waits to be called.
func (s *unaware) pair(line string) {
	for tries := 1; !s.edit("a", line); tries++ {
		if s.again && tries%3 != 0 {
			continue
		}
		if s.waits++; s.stop() {
			continue
		}
		const patience = 2 * time.Minute
		select {
		case err := <-s.called:
			if s.called = nil; err == nil || err.Error() != "exit status 2" {
				s.t.Errorf("%s was refused, and instead of being called: %v", s.id, err)
			}
		case <-time.After(patience):
			s.t.Errorf("%s was refused and never called", s.id)
			return
		}
	}
	if !s.edit("b", line) {
		s.t.Errorf("%s was refused between two files", s.id)
	}
}

// TestSessionsThatKnowNothing has several sessions write pairs of files at the same time,
// where nothing that their models do has to do with turns.
func TestSessionsThatKnowNothing(t *testing.T) {
	t.Parallel()
	for _, sessions := range []int{2, 4} {
		for _, again := range []bool{false, true} {
			if testing.Short() && again != (sessions == 4) {
				continue
			}
			t.Run(fmt.Sprintf("%d,again=%v", sessions, again), func(t *testing.T) {
				t.Parallel()
				testSessions(t, sessions, again)
			})
		}
	}
}

func testSessions(t *testing.T, sessions int, again bool) {
	pairs := 4
	if testing.Short() {
		pairs = 2
	}
	r, home := newRig(t), t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	install := r.command("", "install", "claude-code", "--no-bus")
	install.Env = append(install.Env, "HOME="+home)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var all []*unaware
	var wg sync.WaitGroup
	for i := range sessions {
		s := &unaware{rig: r, id: fmt.Sprintf("S%d", i), home: home, again: again}
		s.hook("session-start", map[string]any{"hook_event_name": "SessionStart"})
		all = append(all, s)
	}
	for _, s := range all {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := 0; round < *autoRounds && !t.Failed(); round++ {
				s.hook("context", map[string]any{"hook_event_name": "UserPromptSubmit"})
				for pair := range pairs {
					s.pair(fmt.Sprintf("%s %d %d", s.id, round, pair))
				}
				s.stop()
			}
			s.hook("session-end", map[string]any{"hook_event_name": "SessionEnd"})
		}()
	}
	wg.Wait()
	waits := 0
	for _, s := range all {
		waits += s.waits
	}
	a, _ := os.ReadFile(filepath.Join(r.workspace, "a"))
	b, _ := os.ReadFile(filepath.Join(r.workspace, "b"))
	if lines := bytes.Count(a, []byte("\n")); lines != sessions**autoRounds*pairs || !bytes.Equal(a, b) {
		log, _ := os.ReadFile(all[0].log())
		t.Errorf("%d lines, want %d; the first file:\n%s\nthe second:\n%s\nlog of the hooks:\n%s", lines, sessions**autoRounds*pairs, a, b, log)
	}
	t.Logf("%d sessions, %d rounds: %d times refused and called", sessions, *autoRounds, waits)
}
