//go:build linux

package reach

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A worker is a model that writes pairs of files and knows nothing of turns.
type worker struct {
	todo, done    int // writes
	tries         int
	waits         int // how often it has ended its turn since it was refused
	waiting, open bool
	calls         int
}

var (
	pairsWanted = regexp.MustCompile(`write ([0-9]+) pairs`)
	refusal     = regexp.MustCompile(`talking stick`)
)

// TestAuto has sessions whose models know nothing of turns write pairs of files at the same
// time. They end their turn when they are refused, or try again first, and are called.
func TestAuto(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("TT_REACH_ROUNDS"))
	if rounds == 0 {
		t.Skip("TT_REACH_ROUNDS is not given")
	}
	for name, hs := range map[string][]harness{
		"claude,claude": {claude, claude}, "claude,codex": {claude, codex}, "gemini,opencode": {gemini, openCode},
		"four": {claude, codex, claude, codex}, "each": {claude, codex, gemini, openCode},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,again=%v", name, again), func(t *testing.T) {
				unaware(t, hs, again, rounds)
			})
		}
	}
}

func unaware(t *testing.T, hs []harness, again bool, rounds int) {
	const pairs = 4
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	model := newStandIn(t, nil)
	var mu sync.Mutex
	workers := map[string]*worker{}
	model.script = func(session, text, result string) action {
		mu.Lock()
		defer mu.Unlock()
		x := workers[session]
		if x == nil {
			return action{text: "who"}
		}
		if found := pairsWanted.FindStringSubmatch(text); found != nil && !x.open && x.done == x.todo {
			n, _ := strconv.Atoi(found[1])
			x.todo += 2 * n
		}
		switch {
		case x.open && result == "": // the same again
		case x.open && refusal.MatchString(result):
			x.open = false
			if x.done%2 == 1 {
				t.Errorf("%s was refused between two files: %s", session, result)
			}
			if x.tries++; !again || x.tries%3 == 0 {
				x.waits, x.waiting = x.waits+1, true
				return action{text: "refused"}
			}
		case x.open:
			if x.open = false; !strings.Contains(result, "written") {
				t.Errorf("%s did not write: %s", session, result)
			}
			x.done++
		case x.waiting:
			x.waiting = false
			x.calls++
		}
		if x.done >= x.todo {
			return action{text: "done"}
		}
		x.open = true
		file, mine := "ab"[x.done%2:x.done%2+1], "../"+session // Gemini CLI runs no $(…)
		return action{input: map[string]any{
			"description": "write",
			"command":     fmt.Sprintf("cat %s > %s; sleep 0.3; echo %s %d >> %s; cat %s > %s; echo written", file, mine, session, x.done/2, mine, mine, file),
		}}
	}
	var worlds []*world
	for i, h := range hs {
		w := &world{t: t, h: h, program: programOf(t, h), home: root + "/home", data: root + "/data", dir: root + "/w", bin: root + "/bin", model: model}
		w.session = fmt.Sprintf("session-%d", i+1)
		workers[w.session] = &worker{}
		worlds = append(worlds, w)
	}
	w := worlds[0]
	for _, dir := range []string{w.home, w.dir, w.bin} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	must(t, exec.Command("git", "init", "-q", w.dir).Run())
	must(t, os.WriteFile(w.dir+"/a", []byte("start\n"), 0o600))
	must(t, os.WriteFile(w.dir+"/b", []byte("start\n"), 0o600))
	if out, err := exec.Command("go", "build", "-o", w.bin+"/", "github.com/talking-stick/tt/cmd/tt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	installed := map[string]bool{}
	for _, w := range worlds {
		if installed[w.h.id] {
			continue
		}
		installed[w.h.id] = true
		files := w.h.files(w)
		files[".profile"] = "PATH=" + w.bin + ":$PATH\n"
		for name, text := range files {
			path := filepath.Join(w.home, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, []byte(text), 0o600))
		}
		w.tt("", append([]string{"install", w.h.id, "--no-bus"}, w.h.install...)...)
	}
	t.Cleanup(func() { w.kill(func(string) bool { return true }) })
	approved := map[string]bool{}
	for _, w := range worlds {
		name, args := w.command()
		w.screen = startTerminal(t, w.dir, w.environ(append(w.h.env(w), "TALKING_STICK_IDLE_TTL=2s")...), name, args...)
		if w.h.before != nil && !approved[w.h.id] {
			w.h.before(w)
		}
		approved[w.h.id] = true
		w.screen.await(0, 8*time.Minute, w.h.ready)
		time.Sleep(2 * time.Second)
		w.prompt("hello") // Codex begins its session with the first line
	}
	finished := func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, x := range workers {
			if x.done < x.todo || x.todo == 0 || x.open {
				return false
			}
		}
		return true
	}
	start := time.Now()
	for round := range rounds {
		mu.Lock()
		for _, x := range workers {
			if x.done != x.todo {
				t.Errorf("round %d: %+v", round, x)
			}
		}
		want := 2 * pairs * (round + 1)
		mu.Unlock()
		var typed sync.WaitGroup
		for _, w := range worlds {
			typed.Go(func() { w.prompt(fmt.Sprintf("please write %d pairs", pairs)) })
		}
		typed.Wait()
		for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
			mu.Lock()
			ready := true
			for _, x := range workers {
				ready = ready && x.done >= want
			}
			mu.Unlock()
			if ready && finished() {
				break
			}
			if time.Since(begun) > 3*time.Minute {
				for name, x := range workers {
					t.Errorf("round %d, %s: %+v", round, name, *x)
				}
				for _, w := range worlds {
					t.Logf("%s shows\n%s", w.session, tail(w.screen.screen()))
				}
				t.Fatal("not every session is done")
			}
		}
		for time.Since(model.latest()) < 4*time.Second { // the turns of the models end
			time.Sleep(200 * time.Millisecond)
		}
	}
	a, _ := os.ReadFile(w.dir + "/a")
	b, _ := os.ReadFile(w.dir + "/b")
	lines := bytes.Count(a, []byte("\n")) - 1
	if lines != len(hs)*rounds*pairs || !bytes.Equal(a, b) {
		t.Errorf("%d lines, want %d; the same: %v", lines, len(hs)*rounds*pairs, bytes.Equal(a, b))
	}
	journals, err := filepath.Glob(w.data + "/rooms/*/journal.jsonl")
	must(t, err)
	turns := 0
	for _, path := range journals {
		log, err := os.ReadFile(path)
		must(t, err)
		turns += bytes.Count(log, []byte(`"event_type":"release"`))
		if n := bytes.Count(log, []byte(`"event_type":"takeover"`)); n > 0 {
			t.Errorf("%d turns of sessions that work were taken over", n)
		}
	}
	waits, calls := 0, 0
	for _, x := range workers {
		waits, calls = waits+x.waits, calls+x.calls
	}
	t.Logf("%d rounds: %d of %d pairs, the same in both files: %v; refused %d, called %d; %d turns, none taken over; %s", rounds, lines, len(hs)*rounds*pairs, bytes.Equal(a, b), waits, calls, turns, time.Since(start).Round(time.Second))
}

// prompt types a line as the user of a session that need not be a member, which names it, and
// waits until its model is asked.
func (w *world) prompt(line string) {
	w.t.Helper()
	n := w.model.count()
	asked := func() bool {
		return slices.ContainsFunc(w.model.since(n), func(r request) bool { return r.session == w.session && strings.Contains(r.newest, line) })
	}
	if w.h.holds {
		w.screen.keys("\x1b")
		time.Sleep(time.Second)
	}
	w.screen.enter(w.session + " " + line)
	for begun := time.Now(); !asked(); time.Sleep(100 * time.Millisecond) {
		switch took := time.Since(begun); {
		case took > time.Minute:
			w.t.Errorf("the model of %s was not asked; shown is\n%s", w.session, tail(w.screen.screen()))
			return
		case took > 5*time.Second && took%(3*time.Second) < 100*time.Millisecond:
			w.screen.keys("\r") // a program that is busy takes the first one for a part of the line
		}
	}
}
