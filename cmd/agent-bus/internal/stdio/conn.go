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
	closed    chan struct{}
	closeOnce sync.Once

	mu   sync.Mutex           // guards open, and writes
	open map[jsonrpc.ID]*call // calls without an answer

	answered chan struct{} // has room for one; something comes after each answer
}

// A call is a call without an answer.
type call struct {
	method    string
	end       func() // of [Transport.Arrived]
	cancelled bool   // the answer is not sent
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
	for {
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
			if msg := c.accept(l); msg != nil {
				return msg, nil
			}
		}
	}
}

// drain waits until every call has been answered, or none was for as long as Patience. The
// server can write answers until Read returns io.EOF.
func (c *conn) drain() {
	c.Ending()
	for c.isBusy() {
		select {
		case <-c.closed:
			return
		case <-time.After(c.Patience):
			return
		case <-c.answered:
		}
	}
}

// isBusy reports whether a call has no answer.
func (c *conn) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// Write implements [mcp.Connection].
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if response, ok := msg.(*jsonrpc.Response); ok && c.open[response.ID] != nil {
		answered := c.open[response.ID]
		delete(c.open, response.ID)
		answered.end()
		select {
		case c.answered <- struct{}{}:
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
	return c.send(data)
}

// send writes one line. The caller holds the lock.
func (c *conn) send(data []byte) error {
	_, err := c.Out.Write(append(data, '\n'))
	return err
}
