//go:build linux

package reach

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	table "github.com/talking-stick/tt/identity/harness"
)

// steps try a column of the table each, one after the other, and return what stands in the cell.
var steps = []func(*world) string{
	(*world).toldAtStart, (*world).editRefused, (*world).shellRefused, (*world).called,
	(*world).afterEsc, (*world).afterError, (*world).anew, (*world).resumed, (*world).killed, (*world).twoWindows, (*world).uninstalled,
}

// TestTable tries what the table of docs/harness-authors.md says, and prints it. What it says
// besides times has to be as it stands there.
func TestTable(t *testing.T) {
	stated := page(t)
	lines := []string{header()}
	for _, h := range []harness{claude, codex, openCode, gemini, copilot, qwen} {
		t.Run(h.id, func(t *testing.T) {
			row := []string{"`" + h.id + "` " + h.version}
			defer func() { lines = append(lines, strings.Join(row, "|")) }()
			w := newWorld(t, h)
			for i, step := range steps {
				row = append(row, step(w))
				t.Logf("%s: %s", columns[i+1], row[i+1])
			}
			if got, want := timeless(strings.Join(row, "|")), timeless(stated[h.id]); got != want {
				t.Errorf("the page says\n%s\nbut it is\n%s", want, got)
			}
		})
	}
	t.Logf("\n%s", strings.Join(lines, "\n"))
}

func (w *world) toldAtStart() string {
	first := w.model.since(0)[0]
	if strings.Contains(first.newest, peer+" holds turn") {
		return "yes"
	}
	return "no"
}

// refused lets the model do something while another agent has the turn: the file that it would
// write is not there, and it is told why.
func (w *world) refused(act, file string) string {
	w.t.Helper()
	w.model.learn("do as you like", act+" [[say tried]]")
	n := w.model.count()
	w.enter("do as you like")
	r := w.answered(n, "<result")
	if _, err := os.Stat(file); err == nil {
		return "no"
	}
	if !strings.Contains(r.newest, peer) {
		w.t.Errorf("it is not told why, but %s", r.newest)
	}
	w.settle()
	return "yes"
}

func (w *world) editRefused() string {
	file := filepath.Join(w.dir, "edited")
	return w.refused("[[tool "+strings.Replace(w.h.edit, "FILE", file, 1)+"]]", file)
}

func (w *world) shellRefused() string {
	return w.refused("[[sh echo x > shelled]]", filepath.Join(w.dir, "shelled"))
}

// idle waits until the session is idle, and reports whether its model can be asked now.
func (w *world) idle() bool {
	w.t.Helper()
	if w.h.waits != "" {
		n := w.model.count()
		w.enter("wait to be called " + w.h.waits + " [[say waiting]]")
		w.answered(n, "<result")
		w.until(20*time.Second, func() bool { _, listening := w.reach(); return listening == "wait" })
		time.Sleep(2 * time.Second) // its turn ends
		return true
	}
	reach := ""
	for start := time.Now(); reach != "ready" && time.Since(start) < 15*time.Second; time.Sleep(100 * time.Millisecond) {
		if reach, _ = w.reach(); reach == "next_prompt" && w.h.listening == "" && time.Since(w.model.latest()) > 3*time.Second {
			break // the hook at the end of its turn has run
		}
	}
	if why := w.tt(peer, "why", w.agent); reach != "ready" && !strings.Contains(why, "next prompt") {
		w.t.Fatalf("%s is %s; %s", w.agent, reach, why)
	}
	return reach == "ready"
}

// whenCalled teaches the model what to do when the turn is its own.
func (w *world) whenCalled(act string) {
	if w.h.waits != "" {
		w.model.learn("You still hold the talking stick", act) // the command that has ended got the turn
	}
	w.model.learn(offered, act)
}

// given hands the turn to the idle session, whose model acts then, and returns what stands in the
// table for how soon it is called.
func (w *world) given(act string) string {
	w.t.Helper()
	ready := w.idle()
	w.whenCalled(act)
	n, start := w.model.count(), time.Now()
	w.tt(peer, "assign", w.agent, "--status", "secret status", "--next-action", "secret action")
	if !ready {
		w.submit("go on " + act)
		return "prompt"
	}
	r, _, ok := w.model.next(n, 30*time.Second)
	if !ok {
		reach, listening := w.reach()
		w.t.Fatalf("the model was not asked; the agent is %s by %q; shown is\n%s", reach, listening, tail(w.screen.screen()))
	}
	return fmt.Sprintf("%.1f s", r.at.Sub(start).Seconds())
}

const handBack = "[[sh tt wait --json]] [[sh tt assign peer:1 --status done --next-action next --json]] [[say released]]"

// called gives the turn to the session, which hands it back.
func (w *world) called() string {
	w.t.Helper()
	how := w.given(handBack)
	w.takeTurn()
	w.settle()
	return how
}

// afterEsc lets the user end a turn of the model while a tool runs.
func (w *world) afterEsc() string {
	w.works("think " + sleeping(60, 0) + " [[say late]]")
	w.escape()
	return w.called()
}

// afterError lets a turn of the model end with an error of its service.
func (w *world) afterError() string {
	n := w.model.count()
	w.enter("break [[fail now]]")
	w.answered(n, "break")
	time.Sleep(2 * time.Second)
	return w.called()
}

// anew begins another session in the window.
func (w *world) anew() string {
	old := *w
	if w.h.waits != "" {
		w.idle()
	}
	w.enter(w.h.anew)
	time.Sleep(3 * time.Second)
	w.session = unique("session-")
	w.join()
	reach, listening := old.reach()
	w.t.Logf("the session before: %s by %q; %s", reach, listening, w.tt(peer, "why", old.agent))
	n, how := w.model.count(), w.called()
	if w.agent == old.agent {
		return how
	}
	if slices.ContainsFunc(w.model.since(n), func(r request) bool { return r.session == old.session }) {
		w.t.Errorf("the session before was called, too")
	}
	if reach == "ready" || reach == "waiting" || listening != "" {
		how += ", old too"
	}
	return how
}

func (w *world) resumed() string {
	w.quit()
	w.start(w.h.resume...)
	return w.called()
}

// holding gives the turn to the session, which keeps it, and then acts.
func (w *world) holding(act string) {
	w.t.Helper()
	n := w.model.count()
	w.given("[[sh tt wait --json]] " + act)
	w.answered(n, "your_turn")
}

// killed ends the program without a word in the middle of its turn: nobody is told that it hears,
// and the turn goes to the next.
func (w *world) killed() string {
	w.holding(sleeping(120, 0))
	w.kill(func(program string) bool { return !strings.HasPrefix(program, w.bin) })
	<-w.screen.done
	w.until(90*time.Second, func() bool { reach, _ := w.reach(); return reach != "ready" && reach != "busy" })
	for start := time.Now(); !strings.Contains(w.tt(peer, "wait", "--json", "--timeout", "5s"), "takeover_available"); {
		if time.Since(start) > 3*time.Minute {
			w.t.Logf("nobody can take over: %s", w.tt("", "why"))
			w.tt("", "take", "--reason", "killed", "--operator-requested")
			w.tt("", "assign", peer, "--status", "killed", "--next-action", "go on")
			w.takeTurn()
			return "no"
		}
	}
	w.tt(peer, "take", "--reason", "killed")
	w.whenCalled("[[sh tt join --json]] [[say joined]]") // the resumed model reads again what it was called for
	return "yes"
}

// twoWindows opens the session in a second window while the first has the turn.
func (w *world) twoWindows() string {
	w.start(w.h.resume...)
	w.holding("[[say mine]]")
	w.until(time.Minute, func() bool { return time.Since(w.model.latest()) > 3*time.Second })
	second := *w
	second.start(w.h.resume...)
	defer second.screen.kill()
	w.until(time.Minute, func() bool { return time.Since(w.model.latest()) > 3*time.Second })
	file := filepath.Join(w.dir, "second")
	n := w.model.count()
	second.enter("do it [[sh echo x > second]] [[say tried]]")
	r := w.answered(n, "<result")
	if _, err := os.Stat(file); err == nil {
		return cmp.Or(w.h.second, "no")
	}
	if !strings.Contains(r.newest, "talking stick") {
		w.t.Errorf("it is not told why, but %s", r.newest)
	}
	return "yes"
}

// uninstalled removes what was installed.
func (w *world) uninstalled() string {
	w.screen.kill()
	w.tt("", "uninstall", w.h.id)
	row := table.Get(table.ID(w.h.id))
	text, _ := os.ReadFile(filepath.Join(w.home, row.ConfigDir.Base, row.ConfigDir.Sub, row.Hooks.File))
	if strings.Contains(string(text), "--harness") {
		return "no"
	}
	return "yes"
}
