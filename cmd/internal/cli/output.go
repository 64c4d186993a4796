package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/journal/wire"
)

// Output writes the result of a command. Every method makes one write, so that a
// reader never sees half of a document or a line, and returns the error of that
// write. Main also reports an error that the command ignores.
type Output struct {
	to      io.Writer
	env     *Env
	json    bool
	failing bool            // whether errors are JSON: the mode that the caller asked for
	reads   bool            // nothing but the output is lost when its reader has gone, which has seen enough then
	err     error           // of the first failed write
	until   context.Context // when it has ended, a write does not wait for its reader; nil: every write waits

	name    string // of the program
	mu      sync.Mutex
	notices []string // that were not printed yet
	keeps   bool     // whether notices are kept
}

func newOutput(name string, env *Env, asJSON bool) *Output {
	return &Output{name: name, to: env.Stdout, env: env, json: asJSON, failing: asJSON, keeps: asJSON}
}

// TellNotices prints the notices that were kept, and those that come later at once. Until then they are kept
// where errors are JSON: if the command fails, its error has them, and is alone on standard error.
func (o *Output) TellNotices() {
	o.mu.Lock()
	o.keeps = false
	o.mu.Unlock()
	o.tell()
}

// tell keeps lines, or prints them with those that were kept. Nobody waits for the reader of another's line.
func (o *Output) tell(more ...string) {
	o.mu.Lock()
	lines, until := append(o.notices, more...), o.until
	if o.notices = nil; o.keeps {
		o.notices, lines = lines, nil
	}
	o.mu.Unlock()
	for _, line := range lines {
		t := errorText(o.env)
		t.Line("%s: warning: %s", o.name, Styled(line))
		_ = send(until, o.env.Stderr, []byte(t.String()))
	}
}

// Reads says that this call of the command is one as of a command that [Command.Reads].
func (o *Output) Reads() { o.reads = true }

// JSON reports whether the result is to be JSON.
func (o *Output) JSON() bool { return o.json }

// Result prints the result of a command. In JSON mode this is v as one document,
// indented on a terminal and on one line elsewhere; in text mode it is what text
// writes. text may be nil for a command that is JSONOnly.
func (o *Output) Result(v any, text func(t *Text)) error {
	if !o.json && text != nil {
		return o.Text(text)
	}
	return o.write(marshal(v, o.env.StdoutTTY))
}

// Text prints what text writes, also in JSON mode.
func (o *Output) Text(text func(t *Text)) error { return o.text(text, false) }

// text prints what text writes, where whole is true without breaking its lines.
func (o *Output) text(text func(t *Text), whole bool) error {
	t := newText(o.env)
	t.whole = whole
	text(t)
	return o.write([]byte(t.String()))
}

// WriteLine prints one item of a stream: v as a line of JSON, or in text mode what
// text writes. If text is nil, it prints JSON in both modes.
func (o *Output) WriteLine(v any, text func(t *Text)) error {
	o.reads = true
	o.TellNotices()
	if !o.json && text != nil {
		return o.text(text, true) // one line is one item
	}
	return o.write(marshal(v, false))
}

// Remark prints a line on standard error, also in JSON mode. [Output.Until] applies
// to it.
func (o *Output) Remark(line string) {
	// If standard error fails too, the error cannot be reported anywhere.
	t := errorText(o.env)
	t.Line("%s", Styled(line))
	_ = send(o.until, o.env.Stderr, []byte(t.String()))
}

// CanRemarkNow reports whether a line can be written to standard error now without waiting
// for its reader.
func (o *Output) CanRemarkNow() bool { return takesAtOnce(o.env.Stderr, 1) }

// ErrReaderStalled means that a write was abandoned, see [Output.Until]. A part of
// the data may have been written.
var ErrReaderStalled = errors.New("the reader of the output does not read")

// Until makes every later write end soon after ctx. A write that still waits for its
// reader then is abandoned with [ErrReaderStalled].
func (o *Output) Until(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until = ctx
}

// Print prints s unchanged, also in JSON mode. It is for text that the program itself
// contains, such as a shell script; nothing in s is escaped.
func (o *Output) Print(s string) error { return o.write([]byte(s)) }

// takesAtOnce reports whether size bytes can be written now without waiting for a reader. False may
// also mean that the system cannot tell.
func takesAtOnce(w io.Writer, size int) bool {
	file, ok := w.(*os.File)
	return ok && canWrite(file, size)
}

func (o *Output) write(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if err := send(o.until, o.to, data); errors.Is(err, ErrReaderStalled) {
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

// send writes data to w as [Output.Until] allows, which was called with until or, if that is nil, not. What its reader has room for is written at once. An
// abandoned write continues in its goroutine, which ends with the process.
func send(until context.Context, w io.Writer, data []byte) error {
	if until == nil || takesAtOnce(w, len(data)) {
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
	case <-until.Done():
	}
	// The write may be in progress and only slow. It is abandoned only if there is no
	// room for it, so that the speed of the machine does not matter.
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

// A lostError is the error of a result that could not be written.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the result could not be written: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// marshal returns v as one JSON document and a newline, see [wire.Append]. The characters <, >
// and & are not escaped, and all characters that a terminal would act on are.
func marshal(v any, indented bool) []byte {
	document := wire.Append(nil, v)
	if indented {
		var b bytes.Buffer
		_ = json.Indent(&b, document, "", "  ") // it is valid
		document = b.Bytes()
	}
	return EscapeJSON(append(document, '\n'))
}

// EscapeJSON writes the characters that must not reach a terminal as \u and their code
// in hexadecimal. In valid JSON they stand only inside strings, where this form
// means the same. Package encoding/json does it only for characters below the space.
func EscapeJSON(document []byte) []byte {
	if !slices.ContainsFunc(document, func(b byte) bool { return b >= 0x7f }) {
		return document
	}
	return []byte(escape(string(document), "\n", func(character string) (escaped string) {
		for _, unit := range utf16.Encode([]rune(character)) {
			escaped += fmt.Sprintf(`\u%04x`, unit)
		}
		return escaped
	}))
}

// quit ends the process with status. A shell leaves a loop on ^C only if the
// command in it was ended by SIGINT itself, not if it exits with 130. So a command
// that was interrupted at a terminal ends by the signal, after it has written its
// messages; the shell shows the status 130 for it as well.
func quit(env *Env, status int) {
	if status == 128+int(syscall.SIGINT) && (env.StdinTTY || env.StdoutTTY || env.StderrTTY) {
		signal.Reset(syscall.SIGINT)
		if syscall.Kill(os.Getpid(), syscall.SIGINT) == nil {
			time.Sleep(time.Second) // a deadline: the signal, which another thread may get, ends the process
		}
	}
	os.Exit(status)
}

// duplicate returns standard output or standard error under another descriptor.
// The Go runtime ends the process when a write to descriptor 1 or 2 meets a closed
// pipe, and the caller would not learn whether the command was carried out. On
// any other descriptor that write is an error. Ignoring SIGPIPE would have the
// same effect, but also for every process that is started from here.
func duplicate(file *os.File) *os.File {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return file // it is closed, or there are no descriptors left
	}
	return os.NewFile(uintptr(fd), file.Name())
}

// canWrite reports whether a write of size bytes to file would not wait for a
// reader. A pipe that is not full has room for a page.
func canWrite(file *os.File, size int) bool {
	const page = 4096
	if size > page {
		return false
	}
	poll := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n == 1 && poll[0].Revents&unix.POLLOUT != 0
}
