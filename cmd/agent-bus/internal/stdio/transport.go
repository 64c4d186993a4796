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
	"context"
	"io"
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

	stop     chan struct{}
	stopOnce sync.Once
}

// Connect implements [mcp.Transport].
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	t.stop = make(chan struct{})
	c := &conn{
		Transport: t,
		lines:     make(chan line),
		closed:    make(chan struct{}),
		open:      make(map[jsonrpc.ID]*call),
		answered:  make(chan struct{}, 1),
	}
	go c.readLines()
	return c, nil
}

// Stop ends the connection as the end of the input does, and returns at once.
func (t *Transport) Stop() { t.stopOnce.Do(func() { close(t.stop) }) }
