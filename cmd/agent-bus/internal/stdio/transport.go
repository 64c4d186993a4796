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

// A Transport connects a server to two streams. It is good for one connection.
type Transport struct {
	In  io.Reader
	Out io.Writer
	// Ending is called once, when the input has ended or Stop was called. Calls
	// that wait for something should return then: nobody waits with them.
	Ending func()
	// Patience is how long calls under way may take to answer after that.
	Patience time.Duration
	// Log is told what went wrong on the wire, one line each time.
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
	}
	go c.readLines()
	return c, nil
}

// Stop ends the connection as the end of the input does. It does not wait.
func (t *Transport) Stop() {
	t.init()
	t.stopOnce.Do(func() { close(t.stop) })
}

// AwaitStall returns when one write, or several without a pause between them,
// have lasted for d: nobody reads. It returns when the context ends, too.
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
