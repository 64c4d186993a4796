//go:build linux

// Package torture tries to make tt lose or damage something, or do a thing twice.
//
// On one host it kills tt, makes its system calls fail, and cuts the power under it. Where hosts share rooms, which are
// network namespaces here, it kills and stops the servers, cuts machines off and cuts the power, while agents take turns. It checks what is
// left with fsroom's own checker, with readers that share no code with it, and against what was
// acknowledged; and that a fresh command works. What needs no real signals, disks and networks is the simulation's.
//
// It changes nothing outside its own files and namespaces. It prints for each attack what was
// done, how much of that was wrong, and the seed, and exits 1 if anything was. What this machine
// cannot do is skipped with a message; where CI=true that is wrong as well.
package torture

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Main runs the attacks that the command line names, see run.go.
func Main() {
	size := short
	flag.Func("size", "short, normal or long: every attack, with the numbers of a release", func(name string) error {
		if size = slices.Index([]string{"short", "normal", "long"}, name); size < 0 {
			return errors.New("it is short, normal or long")
		}
		return nil
	})
	hosts := flag.Bool("hosts", false, "attack hosts that share rooms")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of everything random")
	only := flag.String("only", "", "the attacks to run, separated by commas")
	flag.Parse()
	if err := run(*hosts, size, *seed, *only); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// A size says how much is tried.
const (
	short = iota
	normal
	long // for a release
)

// attacks are the ways to disturb tt.
var attacks = []struct {
	name  string
	hosts bool     // that share rooms
	needs []string // programs; mount and ip stand for root as well
	run   func(*env, *report)
}{
	{"kill", false, []string{"strace"}, sweepKills},
	{"error", false, []string{"strace"}, sweepErrors},
	{"powercut", false, []string{"mount", "mkfs.ext4"}, powerCuts},
	{"takeovers", true, []string{"ip"}, takeovers},
	{"powercut", true, []string{"ip", "mount", "mkfs.ext4"}, serverCuts},
}

func run(hosts bool, size int, seed uint64, only string) error {
	e, err := newEnv(hosts, size, seed)
	if err != nil {
		return err
	}
	defer remove(e.base)
	fmt.Printf("seed %d\n", seed)
	wrong := 0
	for _, a := range attacks {
		if a.hosts != hosts || only != "" && !strings.Contains(","+only+",", ","+a.name+",") {
			continue
		}
		r := &report{name: a.name, started: time.Now(), counts: map[string]int{}}
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
		if (program == "mount" || program == "ip") && os.Geteuid() != 0 {
			return "not root, so nothing can be mounted, and there are no network namespaces"
		}
		if _, err := exec.LookPath(program); err != nil {
			return "there is no " + program
		}
	}
	return ""
}
