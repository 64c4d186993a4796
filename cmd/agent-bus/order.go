package main

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An order makes the tool calls of a client run one after the other in the order in
// which they arrived, because the SDK runs them all at once. A call that begins to
// wait lets later calls go on.
type order struct {
	mu      sync.Mutex
	last    int
	ahead   []int         // the calls that have neither ended nor begun to wait, oldest first
	changed chan struct{} // closed when ahead has changed
}

// arrive adds a call and returns its number.
func (o *order) arrive() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	o.ahead = append(o.ahead, o.last)
	return o.last
}

// enter waits until no earlier call is ahead, or the context ends.
func (o *order) enter(ctx context.Context, n int) error {
	for {
		o.mu.Lock()
		if len(o.ahead) == 0 || o.ahead[0] >= n {
			o.mu.Unlock()
			return nil
		}
		if o.changed == nil {
			o.changed = make(chan struct{})
		}
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave lets later calls go on. It may be called more than once.
func (o *order) leave(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.ahead, n)
	if i < 0 {
		return
	}
	o.ahead = slices.Delete(o.ahead, i, i+1)
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// numberHeader carries a call's number from the connection to the tool, because HTTP
// headers are what the SDK passes on to tools. Standard input has none of its own.
const numberHeader = "Agent-Bus-Call"

// numberOf returns the number of a call, 0 if it has none.
func numberOf(request *mcp.CallToolRequest) int {
	if request.Extra == nil {
		return 0
	}
	n, _ := strconv.Atoi(request.Extra.Header.Get(numberHeader))
	return n
}

// An orderedTransport is a transport whose connections number the tool calls.
type orderedTransport struct {
	mcp.Transport
	order *order
}

// Connect implements [mcp.Transport].
func (t orderedTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &orderedConn{Connection: c, order: t.order, calls: make(map[jsonrpc.ID]int)}, nil
}

type orderedConn struct {
	mcp.Connection
	order *order

	mu    sync.Mutex
	calls map[jsonrpc.ID]int // the numbers of calls that have no answer yet
}

// Read implements [mcp.Connection].
func (c *orderedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if r, ok := msg.(*jsonrpc.Request); ok && err == nil && r.IsCall() && r.Method == "tools/call" {
		n := c.order.arrive()
		r.Extra = &mcp.RequestExtra{Header: http.Header{numberHeader: {strconv.Itoa(n)}}}
		c.mu.Lock()
		c.calls[r.ID] = n
		c.mu.Unlock()
	}
	return msg, err
}

// Write implements [mcp.Connection]. Every call gets an answer, also a call that
// never reached a tool, so every call leaves the order here at the latest.
func (c *orderedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		n, numbered := c.calls[r.ID]
		delete(c.calls, r.ID)
		c.mu.Unlock()
		if numbered {
			c.order.leave(n)
		}
	}
	return c.Connection.Write(ctx, msg)
}
