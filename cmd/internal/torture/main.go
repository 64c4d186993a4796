//go:build linux

// Package torture tries to make tt lose or damage something. It kills tt, makes
// its system calls fail, stops it between two calls and cuts the power under it.
// It checks what is left with fsroom's own checker, with a second reader that
// shares no code with it, and against what tt had acknowledged; and that a fresh
// command works.
//
// It prints for each attack the points tried, kills, acknowledgements, seconds
// and the seed, and exits 1 if anything was wrong. What this machine cannot do
// is skipped with a message; where CI=true that is wrong as well.
package torture

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Main runs the attacks that the command line names, see run.go.
func Main() {
	if dir := os.Getenv(guardedVariable); dir != "" {
		os.Exit(guardedWork(dir))
	}
	long := flag.Bool("long", false, "every attack, with the numbers of a release")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of everything random")
	only := flag.String("only", "", "the attacks to run, separated by commas")
	flag.Parse()
	if err := run(*long, *seed, *only); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// An attack is one way to disturb tt.
type attack struct {
	name  string
	needs []string // programs; mount stands for root as well
	run   func(*env, *report)
	extra bool // runs only with -long or -only
}

func attacks() []attack {
	strace, disks := []string{"strace"}, []string{"mount", "mkfs.ext4"}
	return []attack{
		{"kill", strace, sweepKills, false},
		{"error", strace, sweepErrors, false},
		{"names", strace, syncedNames, false},
		{"between", strace, betweenCalls, false},
		{"random", nil, randomKills, false},
		{"powercut", disks, powerCuts, false},
		{"pages", append(disks, strace...), lostPages, false},
		{"wait", strace, waits, true},
		{"locks", nil, namedLocks, false},
		{"trees", []string{"git"}, turnsOfTrees, false},
		{"mutants", nil, mutants, false},
	}
}

func run(long bool, seed uint64, only string) error {
	e, err := newEnv(long, seed)
	if err != nil {
		return err
	}
	defer e.close()
	e.closeOnSignal()
	fmt.Printf("seed %d\n", seed)
	wrong := 0
	for _, a := range attacks() {
		if only == "" && a.extra && !long || only != "" && !strings.Contains(","+only+",", ","+a.name+",") {
			continue
		}
		r := &report{name: a.name, started: time.Now()}
		if why := missing(a.needs...); why != "" {
			r.skip(why)
		} else {
			a.run(e, r)
		}
		r.print()
		wrong += r.bad
	}
	if wrong > 0 {
		return fmt.Errorf("%d things were wrong; run again with -seed %d", wrong, seed)
	}
	return nil
}

// missing says which of the programs this machine cannot run, "" if it can run all.
func missing(programs ...string) string {
	for _, program := range programs {
		if program == "mount" && os.Geteuid() != 0 {
			return "not root, so nothing can be mounted"
		}
		if _, err := exec.LookPath(program); err != nil {
			return "there is no " + program
		}
	}
	return ""
}
