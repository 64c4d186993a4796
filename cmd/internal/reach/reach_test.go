//go:build linux

package reach

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// report prints a row of the table of measured times.
func report(t *testing.T, what string, times ...time.Duration) {
	load, _ := os.ReadFile("/proc/loadavg")
	what += ", load " + strings.Fields(string(load))[0]
	if n := len(times); n >= 20 {
		sorted := slices.Sorted(slices.Values(times))
		at := func(i int) time.Duration { return sorted[i].Round(time.Millisecond) }
		t.Logf("| %s, %d times | p50 %s | p99 %s | slowest %s |", what, n, at(n/2), at((n-1)*99/100), at(n-1))
		return
	}
	text := make([]string, len(times))
	for i, d := range times {
		text[i] = fmt.Sprint(d.Round(time.Millisecond))
	}
	t.Logf("| %s | %s |", what, strings.Join(text, ", "))
}

// within reports times, and fails if the shortest is longer than limit: the machine may
// be busy with other things now and then.
func within(t *testing.T, what string, limit time.Duration, times ...time.Duration) {
	t.Helper()
	report(t, what, times...)
	if d := slices.Min(times); d > limit {
		t.Errorf("%s: the model was asked after %s, want at most %s", what, d, limit)
	}
}

// handoffs returns the times of n handoffs.
func (w *world) handoffs(n int) (times []time.Duration) {
	w.t.Helper()
	for range n {
		times = append(times, w.handoff(30*time.Second))
	}
	return times
}

// once fails unless a text stands in exactly one of the requests from number n on.
func (w *world) once(n int, body string) {
	w.t.Helper()
	if _, _, ok := w.model.next(n, 90*time.Second, body); !ok {
		w.t.Fatalf("the model was not shown %q; shown is\n%s", body, tail(w.screen.screen()))
	}
	w.settle()
	count := 0
	for _, r := range w.model.since(n) {
		count += strings.Count(r.newest, body)
	}
	if count != 1 {
		w.t.Errorf("%q stands in the requests %d times", body, count)
	}
}

// A told is the wake of an agent for a turn.
var told = regexp.MustCompile(`turn ([0-9]+) in \S+ ` + regexp.QuoteMeta(offered))

// alone hands the turn to the only idle session, which releases it to the other agent: what
// a handoff costs.
func (w *world) alone() {
	w.t.Helper()
	w.model.learn(offered, "[[sh tt wait --json]] [[sh tt release --status done --next-action next --json]] [[say released]]")
	defer w.model.learn(offered, habits[offered])
	n := w.model.count()
	w.handoffs(4)
	w.budget(n, 4)
}

// wakes hands the turn to each of two idle sessions by turns: the model of each is asked
// soon, once, and not that of the other. It returns the second, which is idle.
func (w *world) wakes() *world {
	w.t.Helper()
	w.alone()
	second := *w
	second.start()
	second.settle()
	both := []*world{w, &second}
	if _, listening := w.reach(); !slices.Contains(strings.Fields(w.h.listening), listening) {
		w.t.Errorf("it listens by %q, want %q", listening, w.h.listening)
	}
	wakes, err := strconv.Atoi(os.Getenv("TT_REACH_WAKES"))
	if err != nil {
		wakes = 6
	}
	n := w.model.count()
	var times []time.Duration
	for i := range wakes {
		times = append(times, both[i%2].handoff(30*time.Second))
	}
	within(w.t, "idle", w.h.limit, times...)
	w.budget(n, wakes)
	turns, twice := map[string]int{}, 0
	for _, r := range w.model.since(n) {
		for _, turn := range told.FindAllStringSubmatch(r.newest, -1) {
			if turns[turn[1]]++; turns[turn[1]] == 2 {
				twice++
				w.t.Errorf("%s was told twice: %s", turn[0], r.newest)
			}
		}
	}
	w.t.Logf("| %d wakes | never shown %d | told twice %d |", wakes, wakes-len(turns), twice)
	if len(turns) != wakes {
		w.t.Errorf("%d of %d turns were told", len(turns), wakes)
	}
	return &second
}

// draft is idle while somebody has begun to type.
func (w *world) draft() {
	w.t.Helper()
	w.screen.keys("a draft that nobody sends")
	time.Sleep(500 * time.Millisecond)
	within(w.t, "during a draft", w.h.limit, w.handoffs(3)...)
	for range 25 {
		w.screen.keys("\x7f")
	}
	time.Sleep(500 * time.Millisecond)
}

// sleeping is a command that takes some seconds and ends with a status. Harnesses refuse sleep.
func sleeping(seconds, status int) string {
	return fmt.Sprintf("[[sh python3 -c \"import time; time.sleep(%d); exit(%d)\"]]", seconds, status)
}

// works types a prompt that keeps the model busy with tools.
func (w *world) works(prompt string) {
	w.t.Helper()
	n := w.model.count()
	w.enter(prompt)
	w.answered(n, prompt)
	if w.h.holds || w.h.waits != "" || w.h.listening == "" { // nothing listens during a turn
		return
	}
	w.until(20*time.Second, func() bool { reach, _ := w.reach(); return reach == "busy" })
}

// interruptHolder lets the user end a turn of a model that has the stick: it is not asked to go
// on.
func (w *world) interruptHolder() {
	w.t.Helper()
	w.model.learn(offered, "[[sh tt wait --json]] "+sleeping(60, 0)+" [[say late]]")
	n := w.model.count()
	w.tt(peer, "assign", w.agent, "--status", "s", "--next-action", "n")
	w.answered(n, "your_turn")
	w.model.learn(offered, habits[offered])
	n = w.model.count()
	w.escape()
	w.settle()
	time.Sleep(5 * time.Second) // nothing tells that nothing happens
	if now := w.model.count(); now != n {
		w.t.Errorf("its model was asked %d times after Esc: %v", now-n, w.model.since(n))
	}
	w.enter("end it [[sh tt assign peer:1 --status s --next-action n]] [[say ended]]")
	w.takeTurn()
	w.settle()
}

// escape ends the turn of the model whose tool has just begun. A program that is busy may not
// take the first key.
func (w *world) escape() {
	time.Sleep(2 * time.Second) // the tool has begun
	mark := len(w.screen.screen())
	for range 4 {
		for range max(1, w.h.escapes) {
			w.screen.keys("\x1b")
			time.Sleep(300 * time.Millisecond) // what comes at once is another key, what comes late another first one
		}
		for start := time.Now(); time.Since(start) < 5*time.Second; time.Sleep(100 * time.Millisecond) {
			if reach, _ := w.reach(); reach != "busy" && strings.Contains(w.screen.screen()[mark:], w.h.stopped) {
				return
			}
		}
	}
}

// jobs starts jobs that end while the model is idle: it is asked.
func (w *world) jobs() {
	w.t.Helper()
	var times []time.Duration
	for i := range 5 {
		n, ended := w.model.count(), filepath.Join(w.data, fmt.Sprint("ended", i))
		w.enter(fmt.Sprintf("begin [[sh tt job run slow -- python3 -c \"import time; time.sleep(6); open('%s', 'w')\"]] [[say begun]]", ended))
		w.answered(n, "<result")
		w.once(n, "job of yours has ended")
		r, _, _ := w.model.next(n, 0, "job of yours has ended")
		info, err := os.Stat(ended)
		must(w.t, err)
		times = append(times, r.at.Sub(info.ModTime()))
	}
	within(w.t, "after the end of a job", 2*time.Second, times...)
}

// struggle sends a message to a model whose tools fail: it comes with one of them.
func (w *world) struggle() {
	w.t.Helper()
	n := w.model.count()
	w.works("try " + sleeping(4, 1) + " [[sh false]] [[say tried]]")
	w.tt(peer, "msg", "send", w.agent, "fifth-body")
	w.once(n, "fifth-body")
	if r, _, _ := w.model.next(n, 0, "fifth-body"); !strings.Contains(r.newest, "<result:") {
		w.t.Errorf("it came without a tool: %s", r.newest)
	}
}

// rests releases a turn that neither of two idle sessions needs: soon nobody is woken for it.
func (w *world) rests() {
	w.t.Helper()
	const quiet, most = 25 * time.Second, 30
	w.model.learn(offered, "[[sh tt wait --json]] [[sh tt release --status done --next-action next --json]] [[say released]]")
	defer w.model.learn(offered, habits[offered])
	n := w.model.count()
	w.tt(peer, "release", "--status", "s", "--next-action", "n")
	count, since := n, time.Now()
	for time.Since(since) < quiet {
		time.Sleep(200 * time.Millisecond)
		if now := w.model.count(); now != count {
			count, since = now, time.Now()
		}
		if count-n > most {
			w.t.Fatalf("the model was asked %d times for one turn that nobody needs", count-n)
		}
	}
	w.t.Logf("| two idle sessions, one release | %d calls, then none for %s |", count-n, quiet)
	w.takeTurn()
}

// TestWakes wakes each harness as often as TT_REACH_WAKES says, and does no more.
func TestWakes(t *testing.T) {
	if os.Getenv("TT_REACH_WAKES") == "" {
		t.Skip("TT_REACH_WAKES does not say how often")
	}
	for _, h := range []harness{claude, codex, openCode, gemini} {
		t.Run(h.id, func(t *testing.T) { newWorld(t, h).wakes() })
	}
}

func TestClaude(t *testing.T) {
	w := newWorld(t, claude)
	second := w.wakes()
	w.rests()
	second.leaves()
	w.jobs()
	w.talk()
	w.interject()
	w.draft()
	n := w.model.count()
	w.enter("go away [[sh cd sub && pwd]] [[say moved]]")
	w.answered(n, "/sub")
	w.settle()
	within(t, "after cd", w.h.limit, w.handoffs(3)...)
	w.struggle()
	w.interruptHolder()
}

func TestCodex(t *testing.T) {
	w := newWorld(t, codex)
	second := w.wakes()
	w.rests()
	second.screen.kill()
	w.jobs()
	w.talk()
	w.interject()
	w.draft()
	w.struggle()
	w.leaves()
}

// TestCodexAlone: without the server that outlives the terminal it looks into its queue every
// 10 s.
func TestCodexAlone(t *testing.T) {
	h := codex
	h.args = []string{"--no-daemon"}
	w := newWorld(t, h)
	if why := w.tt(peer, "why", w.agent); !strings.Contains(why, "told within 10s") {
		t.Errorf("tt why says %s", why)
	}
	within(t, "idle", 11*time.Second, w.handoffs(6)...)
	w.struggle()
	w.stopped()
}

// stopped lets the user end a turn in a harness that takes up nothing before the next
// prompt: what is new comes with that, once, and others are told so.
func (w *world) stopped() {
	w.t.Helper()
	w.works("think " + sleeping(60, 0) + " [[say late]]")
	w.escape()
	w.until(10*time.Second, func() bool { reach, _ := w.reach(); return reach == "next_prompt" })
	w.atPrompt("sixth-body")
}

// atPrompt sends a message that comes with the next prompt, once, and others are told so.
func (w *world) atPrompt(body string) {
	w.t.Helper()
	n := w.model.count()
	if why := w.tt(peer, "why", w.agent); !strings.Contains(why, "next prompt") {
		w.t.Errorf("tt why says %s", why)
	}
	w.tt(peer, "msg", "send", w.agent, body)
	w.submit("go on [[say going on]]")
	w.once(n, body)
}

// dropped lets the user press Esc while a hook holds the end of a turn: what the hook says
// next is lost, and said again with the next prompt.
func (w *world) dropped() {
	w.t.Helper()
	w.settle()
	w.screen.keys("\x1b")
	time.Sleep(time.Second)
	n := w.model.count()
	if why := w.tt(peer, "why", w.agent); !strings.Contains(why, "next prompt") {
		w.t.Errorf("tt why says %s", why)
	}
	if sent := w.tt(peer, "msg", "send", w.agent, "eighth-body"); !strings.Contains(sent, "if its user has pressed Esc") {
		w.t.Errorf("tt msg send says %s", sent)
	}
	w.until(10*time.Second, func() bool { reach, _ := w.reach(); return reach == "next_prompt" })
	w.submit("go on again [[say going on]]")
	w.once(n, "eighth-body")
}

// leaves closes the window of a harness: its agent is not woken, even where a server goes on.
func (w *world) leaves() {
	w.t.Helper()
	w.quit()
	start, n := time.Now(), w.model.count()
	w.tt(peer, "msg", "send", w.agent, "seventh-body")
	w.until(40*time.Second, func() bool { reach, _ := w.reach(); return reach == "next_prompt" || reach == "none" })
	report(w.t, fmt.Sprintf("nothing listens any more after %q", w.h.exit), time.Since(start))
	if now := w.model.count(); now != n {
		w.t.Errorf("its model was asked %d times", now-n)
	}
}

func TestOpenCode(t *testing.T) {
	w := newWorld(t, openCode)
	second := w.wakes()
	w.rests()
	second.leaves()
	w.jobs()
	w.talk()
	w.interject()
	w.draft()
	w.struggle()
	w.interruptHolder()
}

func TestGemini(t *testing.T) {
	w := newWorld(t, gemini)
	second := w.wakes()
	w.rests()
	second.leaves()
	w.talk()
}

// TestGeminiTurns: what its user does between turns, and turns that do not end as usual.
func TestGeminiTurns(t *testing.T) {
	w := newWorld(t, gemini)
	w.stopped()
	w.dropped()
	w.jobs()
	w.interject()
	w.struggle()
}

// join makes the model of the session join once more.
func (w *world) join() {
	w.t.Helper()
	n := w.model.count()
	w.submit(w.session + " says hello again [[sh tt join --json]] [[say joined]]")
	r := w.answered(n, "agent_id", "workspace_root")
	w.named(r)
	w.settle()
}

func (w *world) answered(n int, words ...string) request {
	w.t.Helper()
	r, _, ok := w.model.next(max(n, 0), 40*time.Second, words...)
	if !ok {
		w.t.Fatalf("the model was not asked %q; shown is\n%s", words, tail(w.screen.screen()))
	}
	return r
}

// budget logs what the handoffs since request n have cost, and fails if that is more than
// 600 tokens or two calls of the model each. The call that ends a turn would be there
// without them.
func (w *world) budget(n, handoffs int) {
	w.t.Helper()
	calls, size := 0, 0
	for _, r := range w.model.since(n) {
		calls++
		size += r.bytes + len(r.answer)
	}
	w.t.Logf("%d calls and %d bytes for %d handoffs", calls, size, handoffs)
	if calls > 3*handoffs+1 { // Gemini CLI asks now and then who is to speak next
		w.t.Errorf("%d calls for %d handoffs", calls, handoffs)
	}
	if tokens := size / 4; tokens > 600*handoffs {
		w.t.Errorf("some %d tokens for %d handoffs", tokens, handoffs)
	}
}

// talk sends messages to an idle model, and two at once.
func (w *world) talk() {
	w.t.Helper()
	n := w.model.count()
	w.tt(peer, "msg", "send", w.agent, "first-body")
	w.once(n, "first-body")
	n = w.model.count()
	w.tt(peer, "msg", "send", w.agent, "second-body")
	w.tt(peer, "msg", "send", w.agent, "third-body")
	w.once(n, "second-body")
	w.once(n, "third-body")
}

// interject sends a message to a model that is in a turn.
func (w *world) interject() {
	w.t.Helper()
	n := w.model.count()
	w.works("work " + sleeping(3, 0) + " [[sh true]] [[say done]]")
	w.tt(peer, "msg", "send", w.agent, "fourth-body")
	w.once(n, "fourth-body")
}

// TestLongTool sends a message during a tool that takes longer than news waits: the model is told
// once.
func TestLongTool(t *testing.T) {
	for _, h := range []harness{claude, openCode} {
		t.Run(h.id, func(t *testing.T) {
			w := newWorld(t, h)
			n := w.model.count()
			w.works("work " + sleeping(70, 0) + " [[sh true]] [[say done]]")
			w.tt(peer, "msg", "send", w.agent, "tenth-body")
			w.once(n, "tenth-body")
			w.once(n, "1 message for you")
		})
	}
}
