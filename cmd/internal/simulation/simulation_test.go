package simulation

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	seeds   = flag.Int("sim.seeds", 0, "so many seeds, instead of those of a test")
	lasts   = flag.Duration("sim.for", 0, "go on with seeds for so long, whatever their number")
	from    = flag.Uint64("sim.from", 1, "the first of them")
	length  = flag.Int("sim.acts", 600, "acts of a run")
	traced  = flag.Bool("sim.trace", false, "print the trace of each run")
	short   = flag.Bool("sim.shorten", true, "make found traces as short as it goes")
	goOn    = flag.Bool("sim.all", false, "go on after something was found")
	without = flag.String("sim.without", "", "acts that do not happen, with commas between them")
	keep    = flag.String("sim.keep", "", "a directory for the first trace of each cause")
	file    = flag.String("sim.replay", "", "a file with a trace to run")
)

func TestMain(m *testing.M) {
	flag.Parse()
	c := make(chan os.Signal, 1) // the goroutine of package signal must not begin in a run
	signal.Notify(c, syscall.SIGUSR2)
	os.Exit(m.Run())
}

func TestReplay(t *testing.T) {
	if *file == "" {
		t.Skip("no trace")
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	o := replay(t, trace)
	if o.class != "" && *short {
		o = replay(t, shorten(t, o.acts, o.class))
	}
	t.Log("\n" + strings.Join(o.log, "\n"))
	if o.class != "" {
		t.Error(o.class)
	}
}

// The same seed gives the same trace, byte for byte.
func TestSameSeedSameTrace(t *testing.T) {
	n := max(*seeds, 3)
	if testing.Short() {
		n = 1
	}
	for seed := *from; seed < *from+uint64(n); seed++ {
		a := first(t, seed)
		b := simulate(t, newGenerator(seed, *length, nil).next)
		for i := range max(len(a.log), len(b.log)) {
			if i >= len(a.log) || i >= len(b.log) || a.log[i] != b.log[i] {
				t.Errorf("seed %d differs at line %d:\n%s\n---\n%s", seed, i, strings.Join(a.log[max(0, min(i, len(a.log))-15):min(len(a.log), i+3)], "\n"), strings.Join(b.log[max(0, min(i, len(b.log))-8):min(len(b.log), i+3)], "\n"))
				break
			}
		}
	}
}

// always is how many seeds run with all tests, few with the short ones.
const always, few = 5, 3

// firsts has what the first run of a seed came to, of so few seeds as run with all tests.
var firsts = map[uint64]*world{}

// first runs a seed, with all acts, unless another test has run it.
func first(t *testing.T, seed uint64) *world {
	o, ok := firsts[seed]
	if !ok {
		if o = simulate(t, newGenerator(seed, *length, nil).next); seed <= always {
			firsts[seed] = o
		}
	}
	return o
}

func TestSeeds(t *testing.T) {
	if *seeds == 0 && *lasts == 0 {
		if *seeds = always; testing.Short() {
			*seeds = few
		}
	}
	began, steps, found, counts := time.Now(), 0, map[string][]uint64{}, map[string]int{}
	seed := *from
	defer func() { t.Logf("seeds %d to %d", *from, seed-1) }()
	for ; seed < *from+uint64(*seeds) || time.Since(began) < *lasts; seed++ {
		var o *world
		if *without == "" {
			o = first(t, seed)
		} else {
			o = simulate(t, newGenerator(seed, *length, strings.Split(*without, ",")).next)
		}
		steps += o.steps
		for k, n := range o.counts {
			counts[k] += n
		}
		if *traced {
			t.Log(strings.Join(o.log, "\n"))
		}
		if o.class == "" {
			continue
		}
		why := o.class
		if *short {
			o = replay(t, shorten(t, o.acts, o.class))
			why = cmp.Or(o.class, "not the same twice: "+why)
		}
		found[why] = append(found[why], seed)
		if len(found[why]) > 1 {
			continue
		}
		fmt.Printf("seed %d: %s\n%s\n", seed, why, strings.Join(o.log, "\n"))
		if *keep != "" {
			var b strings.Builder
			fmt.Fprintf(&b, "# seed %d: %s\n# %s\n", seed, o.class, why)
			for _, a := range o.acts {
				fmt.Fprintln(&b, a)
			}
			if err := os.WriteFile(filepath.Join(*keep, fmt.Sprintf("seed-%d.txt", seed)), []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !*goOn {
			break
		}
	}
	t.Logf("%d steps in %v: %v", steps, time.Since(began).Round(time.Millisecond), counts)
	for class, list := range found {
		t.Errorf("%s: %d seeds, %v", class, len(list), list[:min(len(list), 8)])
	}
}
