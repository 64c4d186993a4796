package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// Output is where a command puts its result. Every method makes one write, so that
// a reader of the other end never sees half of a document or a line, and returns
// the error of that write; Main also finds one that a command forgets.
type Output struct {
	to      io.Writer
	env     *Env
	json    bool
	failing bool            // whether errors are JSON: what the caller asked for
	streams bool            // the result is a stream: a reader that closes it has seen enough
	err     error           // the first failed write
	until   context.Context // when it has ended, a write does not wait for its reader; nil: it always does
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

// WriteLine prints one item of a stream: v as a line of JSON, or in text mode what text
// writes. text may be nil for one that is JSON in every mode.
func (o *Output) WriteLine(v any, text func(t *Text)) error {
	o.streams = true
	if !o.json && text != nil {
		return o.Text(text)
	}
	line, err := marshal(v, false)
	if err != nil {
		return err
	}
	return o.write(line)
}

// Remark prints one line of the program's own on standard error, whatever the
// mode, under the rule of [Output.Until].
func (o *Output) Remark(line string) {
	// There is nobody left to tell when standard error fails too.
	_ = o.send(o.env.Stderr, []byte(line+"\n"))
}

// ErrReaderStalled says that a write was given up, see [Output.Until]. Some of it
// may have been written.
var ErrReaderStalled = errors.New("the reader of the output does not read")

// Until makes every write from now on end soon after ctx: one that is kept waiting
// by a reader that does not read is given up with [ErrReaderStalled].
func (o *Output) Until(ctx context.Context) { o.until = ctx }

// Print prints s as it is, whatever the mode. It is for text of the program's own,
// such as a shell script; nothing in s is made visible.
func (o *Output) Print(s string) error { return o.write([]byte(s)) }

// CanWriteNow reports whether a result of some bytes can be written now without
// waiting for its reader. False may also mean that this cannot be told.
func (o *Output) CanWriteNow(size int) bool {
	return takesAtOnce(o.to, size)
}

func takesAtOnce(w io.Writer, size int) bool {
	file, ok := w.(*os.File)
	return ok && canWrite(file, size)
}

func (o *Output) write(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if err := o.send(o.to, data); errors.Is(err, ErrReaderStalled) {
		return err
	} else if err != nil {
		lost := &lostError{err}
		if o.err == nil {
			o.err = lost
		}
		return lost
	}
	return nil
}

// send writes data to w as [Output.Until] allows. The write that is given up goes on
// in its goroutine, which ends with the process.
func (o *Output) send(w io.Writer, data []byte) error {
	if o.until == nil {
		_, err := w.Write(data)
		return err
	}
	written := make(chan error, 1)
	go func() {
		_, err := w.Write(data)
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-o.until.Done():
	}
	// The write may be under way and only late. It is given up when there is no room
	// for it: how fast this machine is must not decide.
	const lookAgain = 10 * time.Millisecond
	for {
		select {
		case err := <-written:
			return err
		case <-time.After(lookAgain):
		}
		if !takesAtOnce(w, 1) {
			return ErrReaderStalled
		}
	}
}

// A lostError says that a result could not be written.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the result could not be written: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }
