//go:build ignore

// Command run changes the program in one place at a time and looks whether the simulation or the tests of the
// changed package notice:
//
//	go run cmd/internal/simulation/mutants/run.go [-only NAME,NAME]
//
// The changes are in table.txt. Each names a function, so that it is found wherever that stands in the file; one whose
// text is not there exactly once is an error. They are made in a copy of the module. The build leaves this file out, so that
// "go install ./cmd/..." installs programs for users only.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	only    = flag.String("only", "", "parts of the names of those to try, with commas between them")
	seeds   = flag.Int("seeds", 60, "new seeds for each, beside the traces that were kept")
	limit   = flag.Duration("limit", time.Minute, "how much time of processors its tests may take, as that of the machine is shared")
	check   = flag.Bool("check", false, "look whether each can be made, and run nothing")
	verbose = flag.Bool("v", false, "print what has noticed")
)

// A mutant is a change of a function.
type mutant struct{ name, file, function, test, old, new string }

// read reads the table. A mutant is a line "NAME FILE FUNCTION", with the name of a test of the package behind it where all its
// tests take long, a line that begins with "- " and one that begins with "+ ".
func read(path string) (all []mutant, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for n, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case strings.HasPrefix(line, "- ") && len(all) > 0:
			all[len(all)-1].old = line[2:]
		case strings.HasPrefix(line, "+") && len(all) > 0:
			all[len(all)-1].new = strings.TrimPrefix(line[1:], " ")
		case len(words) == 3 || len(words) == 4:
			all = append(all, mutant{name: words[0], file: words[1], function: words[2], test: strings.Join(words[3:], "")})
		default:
			return nil, fmt.Errorf("%s:%d: %q is no line of the table", path, n+1, line)
		}
	}
	return all, nil
}

// apply returns the text of the file below a directory, and that with the change. The function, a method with its type before
// its name, is found in the way that gofmt writes it.
func (m mutant) apply(top string) (text, changed []byte, err error) {
	if text, err = os.ReadFile(filepath.Join(top, m.file)); err != nil {
		return nil, nil, err
	}
	name := m.function
	if kind, method, ok := strings.Cut(m.function, "."); ok {
		name = `\(\w+ \*?` + kind + `(\[\w+\])?\) ` + method
	}
	at := regexp.MustCompile(`(?ms)^func ` + name + `[\[(].*?^}$`).FindIndex(text)
	if at == nil {
		return nil, nil, fmt.Errorf("%s: there is no function %s in %s", m.name, m.function, m.file)
	}
	body := string(text[at[0]:at[1]])
	if n := strings.Count(body, m.old); n != 1 {
		return nil, nil, fmt.Errorf("%s: %s in %s has %d times %q", m.name, m.function, m.file, n, m.old)
	}
	return text, slices.Concat(text[:at[0]], []byte(strings.Replace(body, m.old, m.new, 1)), text[at[1]:]), nil
}

func run() error {
	flag.Parse()
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	top := strings.TrimSpace(string(root))
	all, err := read(filepath.Join(top, "cmd/internal/simulation/mutants/table.txt"))
	if err != nil {
		return err
	}
	var problems error
	for _, m := range all {
		_, _, err := m.apply(top)
		problems = errors.Join(problems, err)
	}
	if problems != nil || *check {
		return problems
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command("cp", "-a", top+"/.", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, out)
	}
	tried, lived := 0, []string(nil)
	for _, m := range all {
		if !slices.ContainsFunc(strings.Split(*only, ","), func(part string) bool { return strings.Contains(m.name, part) }) {
			continue
		}
		by, used, err := try(dir, m)
		if err != nil {
			return err
		}
		if tried++; by == "" {
			lived = append(lived, m.name)
		}
		fmt.Printf("%-40s %6.1fs  %s\n", m.name, used.Seconds(), cmp.Or(by, "LIVES"))
	}
	fmt.Printf("killed %d of %d\n", tried-len(lived), tried)
	if len(lived) > 0 {
		return fmt.Errorf("these live: %s", strings.Join(lived, " "))
	}
	return nil
}

// try makes a change and returns what has noticed it, "" if nothing has, and the time of processors that the tests took.
func try(dir string, m mutant) (by string, used time.Duration, err error) {
	path := filepath.Join(dir, m.file)
	text, changed, err := m.apply(dir)
	if err == nil {
		err = os.WriteFile(path, changed, 0o644)
	}
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o644)) }()
	ctx, stop := context.WithTimeout(context.Background(), 10**limit)
	defer stop()
	for _, step := range [][]string{
		{"", "./" + filepath.Dir(m.file), "./cmd/internal/simulation", "-run", "^$"}, // to build is not counted
		{"its package's tests", "-short", "./" + filepath.Dir(m.file), "-run", m.test},
		{"the simulation, kept traces", "-short", "./cmd/internal/simulation", "-run", "TestFound"},
		{"the simulation, new seeds", "./cmd/internal/simulation", "-run", "TestSeeds", "-sim.seeds", fmt.Sprint(*seeds), "-sim.shorten=false"},
	} {
		cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-timeout", (2 * *limit).String()}, step[1:]...)...)
		cmd.Dir, cmd.WaitDelay = dir, time.Second
		out, failed := cmd.CombinedOutput()
		if step[0] != "" {
			used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		switch {
		case bytes.Contains(out, []byte("panic: test timed out")):
			return step[0] + " do not end", used, nil
		case used > *limit || ctx.Err() != nil:
			return "", used, nil
		case failed == nil:
			continue
		case bytes.Contains(out, []byte("[build failed]")):
			return "", used, fmt.Errorf("%s: %s", m.name, out)
		}
		if *verbose {
			fmt.Printf("%s\n", bytes.TrimSpace(out))
		}
		return step[0], used, nil
	}
	return "", used, nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
