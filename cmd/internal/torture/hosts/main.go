//go:build linux

// Package hosts tries to make hosts that share rooms lose or damage something, or do a thing
// twice. It runs tt-natsd and tt-nats on machines that are network namespaces, kills and
// stops the servers, cuts machines off, cuts the power, and kills the commands of agents that take
// turns meanwhile. Then it compares the mirrors of all hosts with each other, with what was
// acknowledged, and with a record that the agents keep beside tt.
//
// It needs root, and changes nothing outside its own namespaces. It prints for each attack
// what was done and how much of that was wrong, and exits 1 if anything was. What this machine
// cannot do is skipped with a message; where CI=true that is wrong as well.
package hosts

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Main runs the attacks that the command line names, see run.go.
func Main() {
	size := normal
	flag.Func("size", "short, normal or long", size.set)
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of everything random")
	only := flag.String("only", "", "the attacks to run, separated by commas")
	flag.Parse()
	if err := run(size, *seed, *only); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// A size says how much is tried.
type size int

const (
	short  size = iota // about a minute
	normal             // some minutes
	long               // half an hour
)

func (s *size) set(name string) error {
	i := slices.Index([]string{"short", "normal", "long"}, name)
	if i < 0 {
		return errors.New("it is short, normal or long")
	}
	*s = size(i)
	return nil
}

// An attack is one way to disturb hosts.
type attack struct {
	name  string
	needs []string // programs
	run   func(*env, *report)
	from  size // the smallest size that has it
}

func attacks() []attack {
	return []attack{
		{"one-server", nil, oneServer, normal},
		{"cluster", nil, cluster, long},
		{"takeovers", nil, takeovers, short},
		{"clocks", nil, clocks, normal},
		{"copies", nil, copies, normal},
		{"powercut", []string{"mount", "umount", "mkfs.ext4"}, powerCuts, short},
		{"mutants", []string{"mount", "umount", "mkfs.ext4", "fsfreeze"}, mutants, short},
	}
}

func run(size size, seed uint64, only string) error {
	if os.Geteuid() != 0 {
		return skipAll("not root, so there are no network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return skipAll("there is no program ip")
	}
	e, err := newEnv(size, seed)
	if err != nil {
		return err
	}
	defer e.close()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-caught
		e.close()
		os.Exit(130)
	}()
	fmt.Printf("seed %d\n", seed)
	wrong := 0
	for _, a := range attacks() {
		if only == "" && a.from > size || only != "" && !strings.Contains(","+only+",", ","+a.name+",") {
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

func skipAll(why string) error {
	fmt.Println("SKIPPED:", why)
	if os.Getenv("CI") == "true" {
		return errors.New(why)
	}
	return nil
}

// missing says which of the programs this machine does not have, "" if it has all.
func missing(programs ...string) string {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return "there is no " + program
		}
	}
	return ""
}
