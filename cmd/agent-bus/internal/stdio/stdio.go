// Package stdio is a transport for an MCP server: JSON-RPC messages, one per line,
// over two streams. The SDK's own transport ends the session at the first malformed
// line, and drops the answers to calls that are running when the input ends. This one
//
//   - answers a malformed line with a JSON-RPC error and goes on,
//   - skips a line that is too long,
//   - does not answer a call that the client has cancelled,
//   - takes the messages of a batch as if they had come one by one,
//   - reports the end of the input, so that waiting calls can return, and lets running
//     calls answer first,
//   - never closes the streams, which belong to the process.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxLine is the longest line in bytes, as in the SDK's own transport.
const MaxLine = 16 << 20

// A Transport connects a server to two streams, once.
type Transport struct {
	In  io.Reader
	Out io.Writer
	// Ending is called once, when the input has ended or Stop was called. Calls that
	// wait for something should return then.
	Ending func()
	// Patience is how long running calls may take to answer after that: so long may pass
	// without an answer.
	Patience time.Duration
	// Log is called with what went wrong on the streams, one line each time.
	Log func(format string, args ...any)
	// Arrived is called with each call, in the order in which they came. What it returns is
	// called when the call has its answer, or has none because it was cancelled.
	Arrived func(*jsonrpc.Request) (end func())

	stopping, closed context.Context
	stop, close      context.CancelFunc

	lines    chan line
	mu       sync.Mutex           // guards open, and writes
	open     map[jsonrpc.ID]*call // calls without an answer
	answered chan struct{}        // has room for one; something comes after each answer
}

// Connect implements [mcp.Transport]. The transport is its own connection.
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	t.stopping, t.stop = context.WithCancel(context.Background())
	t.closed, t.close = context.WithCancel(context.Background())
	t.lines, t.open, t.answered = make(chan line), make(map[jsonrpc.ID]*call), make(chan struct{}, 1)
	go t.readLines()
	return t, nil
}

// Stop ends the connection as the end of the input does, and returns at once.
func (t *Transport) Stop() { t.stop() }

// A call is a call without an answer.
type call struct {
	method    string
	end       func() // of [Transport.Arrived]
	cancelled bool   // the answer is not sent
}

// SessionID implements [mcp.Connection].
func (t *Transport) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (t *Transport) Close() error {
	t.close()
	return nil
}

// Read implements [mcp.Connection]. It returns io.EOF when the input has ended, also
// if it ended with an error, and after Stop.
func (t *Transport) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.closed.Done():
			return nil, io.EOF
		case <-t.stopping.Done():
			t.drain()
			return nil, io.EOF
		case l := <-t.lines:
			if l.err != nil && !errors.Is(l.err, errTooLong) {
				t.drain()
				return nil, io.EOF
			}
			if msg := t.accept(l); msg != nil {
				return msg, nil
			}
		}
	}
}

// drain waits until every call has been answered, or none was for as long as Patience. The
// server can write answers until Read returns io.EOF.
func (t *Transport) drain() {
	t.Ending()
	for t.isBusy() {
		select {
		case <-t.closed.Done():
			return
		case <-time.After(t.Patience):
			return
		case <-t.answered:
		}
	}
}

// isBusy reports whether a call has no answer.
func (t *Transport) isBusy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open) > 0
}

// Write implements [mcp.Connection].
func (t *Transport) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if response, ok := msg.(*jsonrpc.Response); ok && t.open[response.ID] != nil {
		answered := t.open[response.ID]
		delete(t.open, response.ID)
		answered.end()
		select {
		case t.answered <- struct{}{}:
		default:
		}
		if answered.cancelled {
			return nil
		}
		response.Error = coded(answered.method, response.Error)
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return t.send(data)
}

// send writes one line. The caller holds the lock.
func (t *Transport) send(data []byte) error {
	_, err := t.Out.Write(append(data, '\n'))
	return err
}

// A line is one line of the input, one message of a line that is a batch, or the error that
// was met instead. After an error other than errTooLong there are no more lines.
type line struct {
	data []byte
	err  error
}

var errTooLong = errors.New("line too long")

// readLines sends the lines of the input to t.lines until the input ends. It may
// outlive the connection, because a read from standard input cannot be interrupted.
func (t *Transport) readLines() {
	r := bufio.NewReaderSize(t.In, 64<<10)
	for {
		data, err := readLine(r)
		if err == nil && len(data) == 0 {
			continue
		}
		var messages []json.RawMessage
		if err != nil || data[0] != '[' || json.Unmarshal(data, &messages) != nil || len(messages) == 0 {
			messages = []json.RawMessage{data}
		}
		for _, message := range messages {
			select {
			case t.lines <- line{message, err}:
			case <-t.closed.Done():
				return
			}
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// readLine returns the next line without white space around it. The input may
// end without a newline.
func readLine(r *bufio.Reader) ([]byte, error) {
	var whole []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(whole)+len(part) > MaxLine; !tooLong {
			whole = append(whole, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(whole)) > 0, err == nil:
			return bytes.TrimSpace(whole), nil
		}
		return nil, err
	}
}

// accept returns the message of a line. If there is none that can be delivered, it returns
// nil, and answers unless it must not.
func (t *Transport) accept(l line) jsonrpc.Message {
	msg, problem := t.decode(l)
	if problem == nil && msg != nil {
		problem = t.register(msg, l.data)
	}
	if problem != nil {
		t.refuse(rawID(l.data), problem)
		return nil
	}
	return msg
}

// decode returns the message of a line, or why it is none, or neither if that must not be
// answered.
func (t *Transport) decode(l line) (jsonrpc.Message, *jsonrpc.Error) {
	if l.err != nil {
		return nil, invalid("the line is longer than %d bytes and was skipped", MaxLine)
	}
	if !json.Valid(l.data) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError,
			Message: "the line is not JSON; each line has to be one whole JSON-RPC message"}
	}
	msg, err := jsonrpc.DecodeMessage(l.data)
	if err == nil {
		return msg, nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(l.data, &members) == nil && (members["result"] != nil || members["error"] != nil) {
		// A malformed answer. Answering it could make both sides answer errors for ever.
		t.Log("ignored an answer: %v", err)
		return nil, nil
	}
	return nil, invalid("the line is no JSON-RPC 2.0 message: %v", err)
}

func invalid(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// unansweredMethod is the method of a call that runs as long as the connection lasts, so
// nothing waits for its answer.
const unansweredMethod = "subscriptions/listen"

// register records a call as open, or an open call as cancelled. It returns why a
// message must not be delivered, because the server would never answer it.
func (t *Transport) register(msg jsonrpc.Message, data []byte) *jsonrpc.Error {
	if r, ok := msg.(*jsonrpc.Response); ok && r.Result == nil && r.Error == nil {
		return invalid("the message has neither a method nor a result")
	}
	r, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok:
	case !r.IsCall() && string(rawID(data)) == "null":
		return invalid("the id of a call must not be null")
	case r.IsCall() && !echoed(rawID(data)):
		return invalid("the id of a call must be a string or a whole number below 2^53")
	case r.Method == "notifications/cancelled":
		t.cancel(r.Params)
	case r.IsCall() && r.Method != unansweredMethod:
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.open[r.ID] != nil {
			return invalid("a call with this id is still under way")
		}
		t.open[r.ID] = &call{method: r.Method, end: t.Arrived(r)}
	}
	return nil
}

// cancel records that the client does not want the answer to a call.
func (t *Transport) cancel(params json.RawMessage) {
	var p struct {
		RequestID any `json:"requestId"`
	}
	_ = json.Unmarshal(params, &p) // no call has the id that is missing then
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if open := t.open[id]; open != nil {
		open.cancelled = true
	}
}

// rawID returns the id of a message that may be malformed, nil if it has no id that
// can be sent back.
func rawID(data []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &m) != nil || len(m.ID) == 0 || m.ID[0] == '{' || m.ID[0] == '[' {
		return nil
	}
	return m.ID
}

// echoed reports whether the SDK answers a call under the id it was given, which it keeps
// as an int64 made from a float64.
func echoed(id json.RawMessage) bool {
	var number float64
	return json.Unmarshal(id, &number) != nil || number == math.Trunc(number) && math.Abs(number) < 1<<53
}

// coded returns the error of a call with a code of JSON-RPC. The SDK gives none to a
// call of the wrong form, and names its own types.
func coded(method string, err error) error {
	var known *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case strings.HasPrefix(err.Error(), "handling '"):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the params of " + method +
			" are not of the form that the protocol asks for"}
	}
	return invalid("%v", err)
}

// refuse answers a line that has no message to deliver. The SDK's own type omits an id that is
// null, which JSON-RPC requires here.
func (t *Transport) refuse(id json.RawMessage, problem *jsonrpc.Error) {
	t.Log("%s", problem.Message)
	t.mu.Lock()
	defer t.mu.Unlock()
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // null if it is not known
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, problem})
	if err == nil {
		err = t.send(data)
	}
	if err != nil {
		t.Log("could not answer: %v", err)
	}
}
