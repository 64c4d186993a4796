package console

import (
	"bytes"
	"context"
	"encoding/json"
	"github.com/talking-stick/tt/fsroom/code"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/second"
)

// A command is one run of tt. The console changes nothing in any other way.
type command struct {
	argv  []string // without the program
	stdin string
}

// A result is what a command has answered.
type result struct {
	stdout []byte
	stderr []byte
	err    error // nil: it exited with 0
}

// A runner runs a command of tt.
type runner func(command) result

// slowest is how long a command may take. The longest that it waits by itself is 5 s,
// for a lock.
const slowest = 30 * time.Second

// runTT returns the runner that starts the program.
func runTT(p *cli.Program, program string) runner {
	return func(c command) result {
		ctx, cancel := context.WithTimeout(context.Background(), slowest)
		defer cancel()
		cmd := second.Command(ctx, p, program, c.argv...)
		cmd.Env = append(cmd.Env, "TT_HARNESS_EXPORT=")
		cmd.Stdin = strings.NewReader(c.stdin)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.WaitDelay = time.Second // what it leaves running does not hold us up
		err := cmd.Run()
		return result{out.Bytes(), errs.Bytes(), err}
	}
}

// refusal returns the message of a command that failed, with its hint.
func (r result) refusal() string {
	lines := bytes.Split(bytes.TrimSpace(r.stderr), []byte("\n"))
	var e struct{ Error, Message, Hint string }
	if json.Unmarshal(lines[len(lines)-1], &e) == nil && e.Message != "" {
		if e.Hint != "" {
			return e.Message + " · " + e.Hint
		}
		return e.Message
	}
	if last := strings.TrimSpace(string(lines[len(lines)-1])); last != "" {
		return last
	}
	return "tt could not be run: " + r.err.Error()
}

// line returns the command as one would type it.
func (c command) line() string {
	words := []string{"tt"}
	for _, arg := range c.argv {
		if arg != "--json" {
			words = append(words, code.ShellWord(arg))
		}
	}
	return strings.Join(words, " ")
}
