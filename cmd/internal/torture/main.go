//go:build linux

// Command torture tries to make tt lose or damage something: it kills it, makes
// its system calls fail, cuts the power under it, fills its disk, stops it while
// it has the lock, copies its files while it works and plants things in their
// place. It checks what is left by fsroom's own checker, by a second reader
// that shares no code with it, and by what tt had acknowledged; and that a
// fresh command works.
//
// It prints for each attack the points tried, kills, acknowledgements, seconds
// and the seed, and exits 1 if anything was wrong. What this machine cannot do
// is skipped, loudly; where CI=true that is wrong as well.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	all := flag.Bool("all", false, "every attack, and not only those that every change has to withstand")
	long := flag.Bool("long", false, "every attack, with the numbers of a release")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of everything random")
	only := flag.String("only", "", "the attacks to run, separated by commas")
	flag.Parse()
	if err := run(*all || *long || *only != "", *long, *seed, *only); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// An attack is one way to be cruel.
type attack struct {
	name string
	run  func(*rig, *report)
	more bool // left out unless it is asked for
}

func attacks() []attack {
	return []attack{
		{"kill", sweepKills, false},
		{"error", sweepErrors, false},
		{"signal", sweepSignals, true},
		{"names", syncedNames, false},
		{"between", betweenCalls, false},
		{"random", randomKills, false},
		{"powercut", powerCuts, false},
		{"pages", lostPages, false},
		{"wait", waiters, true},
		{"mutants", mutants, false},
	}
}

func run(all, long bool, seed uint64, only string) error {
	g, err := newRig(long, seed)
	if err != nil {
		return err
	}
	g.some = !all
	defer g.close()
	g.closeOnSignal()
	fmt.Printf("seed %d\n", seed)
	wrong := 0
	for _, a := range attacks() {
		if a.more && !all || only != "" && !strings.Contains(","+only+",", ","+a.name+",") {
			continue
		}
		r := &report{name: a.name, started: time.Now()}
		a.run(g, r)
		r.print()
		wrong += r.bad
	}
	if wrong > 0 {
		return fmt.Errorf("%d things were wrong; run again with -seed %d", wrong, seed)
	}
	return nil
}

// newRig builds tt and makes a directory for everything, in memory if possible.
func newRig(long bool, seed uint64) (*rig, error) {
	base, err := os.MkdirTemp("/dev/shm", "tt-torture-")
	if err != nil {
		if base, err = os.MkdirTemp("", "tt-torture-"); err != nil {
			return nil, err
		}
	}
	g := &rig{base: base, workspace: filepath.Join(base, "workspace"), long: long, seed: seed}
	g.stages = sync.OnceValue(g.stageAll)
	for _, dir := range []string{g.workspace, filepath.Join(base, "home")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if g.tt, err = g.build("tt"); err != nil {
		g.close()
	}
	return g, err
}
