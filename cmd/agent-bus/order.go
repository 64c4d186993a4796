package main

import (
	"context"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An order makes the tool calls of a client run one after the other in the order in
// which they arrived, because the SDK runs them all at once. A call that begins to
// wait lets later calls go on.
type order struct {
	mu      sync.Mutex
	ahead   []*place      // of the calls that have neither ended nor begun to wait, oldest first
	changed chan struct{} // closed when ahead has changed
}

// A place is that of a call in the order. It is the extra part of the call, because the SDK
// passes that on to the tool.
type place = mcp.RequestExtra

// arrived adds the call if it is one of a tool. end is called when the call is over, at the
// latest: also a call that never reached a tool leaves the order.
func (o *order) arrived(r *jsonrpc.Request) (end func()) {
	if r.Method != "tools/call" {
		return func() {}
	}
	p := &place{}
	r.Extra = p
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ahead = append(o.ahead, p)
	return func() { o.leave(p) }
}

// enter waits until no earlier call is ahead, or the context ends.
func (o *order) enter(ctx context.Context, p *place) error {
	for {
		o.mu.Lock()
		if slices.Index(o.ahead, p) <= 0 {
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
func (o *order) leave(p *place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.ahead, p)
	if i < 0 {
		return
	}
	o.ahead = slices.Delete(o.ahead, i, i+1)
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}
