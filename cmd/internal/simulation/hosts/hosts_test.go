package hosts

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var (
	seeds = flag.Int("sim.seeds", 10, "how many seeds to run; with the short tests 3 at most")
	from  = flag.Uint64("sim.from", 1, "the first of them")
	trace = flag.Bool("sim.trace", false, "print what happens")
)

// Nothing that several hosts are promised is broken by cuts, kills, boots and answers that are lost.
func TestSeeds(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 3)
	}
	for i := range n {
		seed := *from + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			finding, log := simulate(t, seed, 400)
			if finding != "" {
				t.Errorf("%s\n%s", finding, strings.Join(log, "\n"))
			} else if *trace {
				t.Log(strings.Join(log, "\n"))
			}
		})
	}
}
