package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// tooLong bounds what must happen at once, on a machine however busy. The waits
// it is about would take the 50 seconds that they are asked for.
const tooLong = 2 * time.Minute

// A raw is a server process to which a test speaks line by line.
type raw struct {
	testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan map[string]any
	stderr bytes.Buffer
}

// raw starts a server that nobody has spoken to.
func (s *stage) raw() *raw {
	s.Helper()
	r := &raw{TB: s.TB, cmd: s.command(), lines: make(chan map[string]any, 100)}
	r.cmd.Stderr = &r.stderr
	stdin, err := r.cmd.StdinPipe()
	stdout, err2 := r.cmd.StdoutPipe()
	if err := errors.Join(err, err2, r.cmd.Start()); err != nil {
		s.Fatal(err)
	}
	r.stdin = stdin
	s.Cleanup(func() { _ = r.cmd.Process.Kill() })
	go r.read(stdout)
	return r
}

func (r *raw) read(stdout io.Reader) {
	defer close(r.lines)
	scanner := bufio.NewScanner(stdout)
	scanner.Buffer(nil, 32<<20)
	for scanner.Scan() {
		var message map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &message); err != nil {
			r.Errorf("on standard output: %.200s", scanner.Text())
		}
		r.lines <- message
	}
}

func (r *raw) send(lines ...string) {
	r.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(r.stdin, line+"\n"); err != nil {
			r.Fatalf("send: %v", err)
		}
	}
}

// next is the next line that the server says.
func (r *raw) next() map[string]any {
	r.Helper()
	select {
	case message, ok := <-r.lines:
		if !ok {
			r.Fatalf("the server has ended: %s", r.stderr.String())
		}
		return message
	case <-time.After(tooLong):
		r.Fatalf("no answer")
	}
	return nil
}

// hello is the handshake of the legacy era.
func (r *raw) hello() {
	r.Helper()
	r.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	if r.next()["result"] == nil {
		r.Fatal("no handshake")
	}
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call sends a tool call, whose answer comes with next.
func (r *raw) call(id, tool, args string) {
	r.Helper()
	r.send(callLine(id, tool, args))
}

func callLine(id, tool, args string) string {
	return f(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

// result calls a tool and returns its structured content.
func (r *raw) result(tool, args string) map[string]any {
	r.Helper()
	r.call(`"r"`, tool, args)
	message := r.next()
	result, ok := message["result"].(map[string]any)
	if !ok {
		r.Fatalf("%s: %v", tool, message)
	}
	return result["structuredContent"].(map[string]any)
}

// ends waits for the end of the process and returns its exit status, and what
// it said after all that was read.
func (r *raw) ends() (status int, said []map[string]any) {
	r.Helper()
	timer := time.AfterFunc(tooLong, func() { _ = r.cmd.Process.Kill() })
	defer timer.Stop()
	for message := range r.lines {
		said = append(said, message)
	}
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode(), said
}

// quiet checks that nothing is in the log but what has all the words.
func (r *raw) quiet(words ...string) {
	r.Helper()
	for line := range strings.Lines(r.stderr.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				r.Errorf("in the log: %s", line)
			}
		}
		if len(words) == 0 {
			r.Errorf("in the log: %s", line)
		}
	}
}
