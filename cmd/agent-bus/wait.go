package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
)

// progressEvery is how often a waiting call sends a progress notification.
const progressEvery = 2 * time.Second

// errTimeUp ends a wait: its time is up, or the server is about to stop.
var errTimeUp = errors.New("time is up")

// until waits until over reports true for the topic of the call, for the seconds asked for but at
// most [tools.MaxWaitSeconds]. It returns nil also when the time is up or the server is
// about to stop: the caller looks at the topic again. An error means that the topic
// could not be read, or that the client has cancelled the call.
func (c *call) until(ctx context.Context, asked int, over func(*topic.State) bool) error {
	seconds := min(asked, tools.MaxWaitSeconds)
	if seconds == 0 {
		return nil
	}
	c.order.leave(c.request.Extra)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	timeUp := func() { end(errTimeUp) }
	defer time.AfterFunc(time.Duration(seconds)*time.Second, timeUp).Stop()
	defer context.AfterFunc(c.shutdownCtx, timeUp)()
	defer c.reportProgress(ctx, seconds)()
	err := questions.Await(ctx, c.topic, over)
	if err == errTimeUp {
		return nil
	}
	return err
}

// reportProgress sends progress notifications while the call waits, if the client has
// asked for them. None is sent after the function returned has returned, so that none
// comes after the result.
func (c *call) reportProgress(ctx context.Context, total int) (stop func()) {
	token := c.request.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticks := time.NewTicker(progressEvery)
		defer ticks.Stop()
		for waited := progressEvery; ; waited += progressEvery {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			// If this cannot be sent, the result cannot either, and the SDK notices that.
			_ = c.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: waited.Seconds(), Total: float64(total), Message: "waiting",
			})
		}
	}()
	return func() { cancel(); <-done }
}

// An order makes the tool calls of a client run one after the other in the order in
// which they arrived, because the SDK runs them all at once. A call that begins to
// wait lets later calls go on.
type order struct {
	ahead   []*place   // the calls that have neither ended nor begun to wait, oldest first
	changed *sync.Cond // ahead has changed, which its lock guards
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
	o.changed.L.Lock()
	defer o.changed.L.Unlock()
	o.ahead = append(o.ahead, p)
	return func() { o.leave(p) }
}

// enter waits until no earlier call is ahead, or the context ends.
func (o *order) enter(ctx context.Context, p *place) error {
	defer context.AfterFunc(ctx, func() { o.leave(nil) })() // which has no place, and wakes those that wait
	o.changed.L.Lock()
	defer o.changed.L.Unlock()
	for slices.Index(o.ahead, p) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o.changed.Wait()
	}
	return nil
}

// leave lets later calls go on. It may be called more than once.
func (o *order) leave(p *place) {
	o.changed.L.Lock()
	defer o.changed.L.Unlock()
	o.ahead = slices.DeleteFunc(o.ahead, func(other *place) bool { return other == p })
	o.changed.Broadcast()
}
