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

// arrived adds the call if it is one of a tool, and gives it its number. end is called when
// the call is over, at the latest: also a call that never reached a tool leaves the order.
func (o *order) arrived(r *jsonrpc.Request) (end func()) {
	if r.Method != "tools/call" {
		return func() {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	n := o.last
	o.ahead = append(o.ahead, n)
	r.Extra = &mcp.RequestExtra{Header: http.Header{numberHeader: {strconv.Itoa(n)}}}
	return func() { o.leave(n) }
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
