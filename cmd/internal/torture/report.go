//go:build linux

package torture

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// A waiter is woken promptly, but for one in a hundred. One whose wake-up was lost waits to its end,
// which is some seconds later. A woken one makes its change and starts a guardian: where processes
// that do nothing are slow, it may take perProcess times as long as they do besides.
const (
	promptly   = time.Second
	atLatest   = 3 * time.Second
	perProcess = 4
)

// A report counts what an attack did and what was wrong after it.
type report struct {
	name    string
	started time.Time

	mu     sync.Mutex
	counts map[string]int // of points, which are states or calls tried, and of all else that was done
	bad    int
	first  string // the first thing that was wrong
	failed error  // what kept the attack from being made
	quiet  bool   // what is wrong is expected
}

func (r *report) count(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[what] += n
}

func (r *report) add(points, kills, acks int) {
	r.count("points", points)
	r.count("kills", kills)
	r.count("acknowledged", acks)
}

// reach runs try until it came to its point. No two runs of a command make quite
// the same calls: now and then Go writes to wake its own poller, or looks at a
// process that is just ending.
func (r *report) reach(what string, try func() (reached bool)) {
	for range 4 {
		if try() {
			return
		}
	}
	r.count("not reached", 1)
	r.say("not reached: %s", what)
}

// wrong notes what must not be. The first few are printed.
func (r *report) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if r.bad++; r.bad == 1 {
		r.first = text
	}
	if r.bad <= 10 && !r.quiet {
		fmt.Printf("  WRONG %s: %s\n", r.name, text)
	}
}

// caught reports whether something was wrong that was expected to be.
func (r *report) caught() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quiet && r.bad > 0
}

// check is wrong for an error that is not nil. It reports whether it was nil.
func (r *report) check(what string, err error) bool {
	if err != nil {
		r.wrong("%s: %v", what, err)
	}
	return err == nil
}

// able is check for an error of the attack itself, which is no fault of what is attacked.
func (r *report) able(what string, err error) bool {
	if err != nil && r.quiet {
		r.failed = fmt.Errorf("%s: %w", what, err)
		return false
	}
	return r.check(what, err)
}

// say prints something worth knowing.
func (r *report) say(format string, args ...any) {
	if !r.quiet {
		fmt.Printf("  %s: %s\n", r.name, fmt.Sprintf(format, args...))
	}
}

// skip notes that this machine cannot do an attack, or a part of it.
func (r *report) skip(why string) {
	if os.Getenv("CI") == "true" {
		r.bad++
	}
	fmt.Printf("  SKIPPED %s: %s\n", r.name, why)
}

func (r *report) print() {
	fmt.Printf("%-10s", r.name)
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		if n := r.counts[what]; n > 0 {
			fmt.Printf("  %s %d", what, n)
		}
	}
	fmt.Printf("  wrong %d  %.1f s\n", r.bad, time.Since(r.started).Seconds())
}

// judgeLateness prints how late the waiters were woken, and is wrong if that was
// not promptly. Killed and stopped processes are not among them.
func (r *report) judgeLateness(late []lateness) {
	if len(late) == 0 {
		r.wrong("nobody was woken")
		return
	}
	slices.SortFunc(late, func(a, b lateness) int { return cmp.Compare(a.took, b.took) })
	n := len(late)
	part := func(share float64) time.Duration { return late[int(share*float64(n-1))].took.Round(time.Millisecond) }
	r.say("%d were woken after %v (half of them), %v (99 of 100), %v (the last)", n, part(.5), part(.99), part(1))
	tardy := 0
	for _, d := range late {
		own := d.took - perProcess*d.bare
		if own > promptly {
			tardy++
		}
		if own > atLatest {
			w := d.wait
			r.wrong("%s was woken %v after event %d, in a wait of %v that ended with turn %d (0: in vain); a process that does nothing took %v",
				w.agent, d.took.Round(time.Millisecond), d.event, w.ended.Sub(w.began).Round(time.Millisecond), w.turn, d.bare.Round(time.Millisecond))
		}
	}
	if tardy > 1+n/100 {
		r.wrong("%d of %d were woken later than after %v", tardy, n, promptly)
	}
}
