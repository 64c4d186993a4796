// Package stdio is a transport for an MCP server: JSON-RPC messages, one per line,
// over two streams. The SDK's own transport ends the session at the first malformed
// line, and drops the answers to calls that are running when the input ends. This one
//
//   - answers a malformed line with a JSON-RPC error and goes on,
//   - skips a line that is too long,
//   - does not answer a call that the client has cancelled,
//   - accepts batches in every protocol version and answers them with one array,
//   - reports the end of the input, so that waiting calls can return, and lets running
//     calls answer first,
//   - never closes the streams, which belong to the process.
package stdio

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
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
	// Log is called with what went wrong on the streams, one line each time. It may be
	// nil.
	Log func(format string, args ...any)

	stop     chan struct{}
	stopOnce sync.Once
	initOnce sync.Once
	writes   atomic.Bool // a message is being written
}

func (t *Transport) init() { t.initOnce.Do(func() { t.stop = make(chan struct{}) }) }

// Connect implements [mcp.Transport].
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	t.init()
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
func (t *Transport) Stop() {
	t.init()
	t.stopOnce.Do(func() { close(t.stop) })
}

// AwaitStall returns when the connection has been writing for d without a pause,
// which means that nobody reads, or when the context ends.
func (t *Transport) AwaitStall(ctx context.Context, d time.Duration) {
	const looks = 5
	ticks := time.NewTicker(d / looks)
	defer ticks.Stop()
	for writing := 0; writing < looks; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if writing++; !t.writes.Load() {
			writing = 0
		}
	}
}
