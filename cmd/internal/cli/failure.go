package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/fsroom/code"
)

// The exit statuses of every command.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
)

// Exit returns an error that ends the program with status and prints nothing. It is
// for a command whose status is part of its result. Exit(0) is nil.
func Exit(status int) error {
	if status == statusDone {
		return nil
	}
	return exitError(status)
}

type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Fail returns err as an error that ends the program with status, after it was printed
// as every error.
func Fail(status int, err error) error { return &failWith{status, err} }

type failWith struct {
	status int
	error
}

func (e *failWith) Unwrap() error { return e.error }

// finish prints err, unless it comes from [Exit], and returns the exit status.
func (p *Program) finish(call *Invocation, err error) int {
	out := call.Out
	var exit exitError
	if err == nil || errors.As(err, &exit) {
		if out.err == nil || out.reads && ReaderGone(out.err) {
			out.TellNotices()
			return int(exit)
		}
		err = out.err
	}
	if isLost(err) && out.reads && ReaderGone(err) {
		return statusDone
	}
	failure := asFailure(err)
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.notices != nil {
		failure.With("warnings", out.notices)
	}
	// If standard error fails too, the error cannot be reported anywhere.
	_, _ = io.WriteString(call.Env.Stderr, p.describe(failure, call.Env, out.failing, call.Verbose))
	var with *failWith
	switch {
	case errors.As(err, &with):
		return with.status
	case failure.Code == code.Usage:
		return statusUsage
	}
	return statusFailed
}

func isLost(err error) bool {
	var lost *lostError
	return errors.As(err, &lost)
}

// ReaderGone reports whether err means that the reader of the output has gone.
func ReaderGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// asFailure returns err as an error with a code.
func asFailure(err error) *code.Error {
	var known *code.Error
	switch {
	case errors.As(err, &known):
		return known
	case isLost(err):
		return code.New(code.Internal, "%s", err).Because(err).
			WithHint("what the command did stands; only its output is lost")
	}
	return code.New(code.Internal, "%s", err).Because(err)
}

func (p *Program) describe(e *code.Error, env *Env, asJSON, verbose bool) string {
	if asJSON {
		return failureJSON(e)
	}
	t := errorText(env)
	if stack, ok := e.Details["stack"].(string); ok {
		t.Block("", stack)
	}
	t.Line("%s: %s (%s)", p.Name, e.Message, Styled(e.Code))
	if verbose && e.Err != nil {
		t.Line("cause: %s", e.Err)
	}
	if e.Hint != "" {
		t.Line("hint: %s", e.Hint)
	}
	return t.String()
}

// failureJSON returns e as one JSON object: code, message and hint, then the details.
// It leaves out a detail that cannot be written as JSON.
func failureJSON(e *code.Error) string {
	var b strings.Builder
	b.WriteString(`{"error":` + JSONLine(string(e.Code)) + `,"message":` + JSONLine(e.Message))
	if e.Hint != "" {
		b.WriteString(`,"hint":` + JSONLine(e.Hint))
	}
	for _, key := range slices.Sorted(maps.Keys(e.Details)) {
		if key == "error" || key == "message" || key == "hint" {
			continue
		}
		if value := JSONLine(e.Details[key]); value != "" {
			b.WriteString("," + JSONLine(key) + ":" + value)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// JSONLine returns v as JSON on one line, "" if that is impossible.
func JSONLine(v any) string { return strings.TrimSuffix(string(marshal(v, false)), "\n") }

// Warn prints a warning for people on standard error. In JSON mode it prints nothing:
// there the result contains the warning.
func (c *Invocation) Warn(format string, args ...any) {
	if c.JSON {
		return
	}
	c.Notice(fmt.Sprintf(format, args...))
}

// Notice prints one line of warning on standard error, also in JSON mode. It is for
// what the result does not contain. Where errors are JSON it is kept, see [Output.TellNotices].
func (c *Invocation) Notice(line string) {
	c.Out.tell(Line(line))
}
