package front

import (
	"io"
	"os"
)

// Output is where a command puts its result. Every method makes one write, so that
// a reader of the other end never sees half of a document or a line, and returns
// the error of that write; Main also finds one that a command forgets.
type Output struct {
	to      io.Writer
	env     *Env
	json    bool
	failing bool  // whether errors are JSON: what the caller asked for
	streams bool  // the result is a stream: a reader that closes it has seen enough
	err     error // the first failed write
}

func newOutput(env *Env, asJSON bool) *Output {
	return &Output{to: env.Stdout, env: env, json: asJSON, failing: asJSON}
}

// JSON reports whether the result is to be JSON.
func (o *Output) JSON() bool { return o.json }

// Result prints the result of a command: v as one JSON document, indented on a
// terminal and else on one line, or in text mode what text writes. text may be nil
// for a command that is JSONOnly.
func (o *Output) Result(v any, text func(t *Text)) error {
	if !o.json && text != nil {
		return o.Text(text)
	}
	document, err := marshal(v, o.env.StdoutTTY)
	if err != nil {
		return err
	}
	return o.write(document)
}

// Text prints what text writes, whatever the mode.
func (o *Output) Text(text func(t *Text)) error {
	t := newText(o.env)
	text(t)
	return o.write([]byte(t.String()))
}

// Item prints one line of a stream of JSON Lines, whatever the mode.
func (o *Output) Item(v any) error {
	o.streams = true
	line, err := marshal(v, false)
	if err != nil {
		return err
	}
	return o.write(line)
}

// Print prints s as it is, whatever the mode. It is for text of the program's own,
// such as a shell script; nothing in s is made visible.
func (o *Output) Print(s string) error { return o.write([]byte(s)) }

// TakesAtOnce reports whether a result of some bytes can be written now without
// waiting for its reader. False may also mean that this cannot be told.
func (o *Output) TakesAtOnce(size int) bool {
	file, ok := o.to.(*os.File)
	return ok && takes(file, size)
}

func (o *Output) write(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if _, err := o.to.Write(data); err != nil {
		lost := &lostError{err}
		if o.err == nil {
			o.err = lost
		}
		return lost
	}
	return nil
}

// A lostError says that a result could not be written.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the result could not be written: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }
