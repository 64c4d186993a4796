package stdio

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A conn is the connection of a [Transport].
type conn struct {
	*Transport
	lines     chan line
	queue     []jsonrpc.Message // read but not delivered; only Read uses it
	closed    chan struct{}
	closeOnce sync.Once

	mu   sync.Mutex           // guards the fields below, and writes
	open map[jsonrpc.ID]*call // calls without an answer
	idle chan struct{}        // closed when open is empty; nil unless drain waits

	answered chan struct{} // has room for one; something comes after each answer
}

// A call is a call without an answer.
type call struct {
	batch     *batch // the batch that the call is part of, nil for none
	method    string
	cancelled bool // the answer is not sent
}

// SessionID implements [mcp.Connection].
func (c *conn) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (c *conn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// Read implements [mcp.Connection]. It returns io.EOF when the input has ended, also
// if it ended with an error, and after Stop.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case <-c.stop:
			c.drain()
			return nil, io.EOF
		case l := <-c.lines:
			if l.err != nil && !errors.Is(l.err, errTooLong) {
				c.drain()
				return nil, io.EOF
			}
			c.accept(l)
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// drain waits until every call has been answered, or none was for as long as Patience. The
// server can write answers until Read returns io.EOF.
func (c *conn) drain() {
	if c.Ending != nil {
		c.Ending()
	}
	c.mu.Lock()
	c.idle = make(chan struct{})
	idle := c.idle
	c.settle()
	c.mu.Unlock()
	timer := time.NewTimer(c.Patience)
	defer timer.Stop()
	for {
		select {
		case <-idle:
			return
		case <-c.closed:
			return
		case <-timer.C:
			return
		case <-c.answered:
			timer.Reset(c.Patience)
		}
	}
}

// settle tells drain of an answer, and ends its wait if no call is open. The caller holds
// the lock.
func (c *conn) settle() {
	select {
	case c.answered <- struct{}{}:
	default:
	}
	if c.idle != nil && len(c.open) == 0 {
		close(c.idle)
		c.idle = nil
	}
}

// Write implements [mcp.Connection].
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	response, ok := msg.(*jsonrpc.Response)
	var answered *call
	if ok {
		defer c.settle()
		answered = c.open[response.ID]
		delete(c.open, response.ID)
	}
	if answered != nil {
		response.Error = coded(answered.method, response.Error)
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if answered != nil && answered.cancelled {
		data = nil
	}
	if answered != nil && answered.batch != nil {
		data = answered.batch.answered(data)
	}
	if data == nil {
		return nil
	}
	return c.send(data)
}

// send writes one line. The caller holds the lock.
func (c *conn) send(data []byte) error {
	c.writes.Store(true)
	defer c.writes.Store(false)
	_, err := c.Out.Write(append(data, '\n'))
	return err
}
