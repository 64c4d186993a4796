package main

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
)

// progressEvery is how often a waiting call sends a progress notification.
const progressEvery = 2 * time.Second

var (
	errTimeUp   = errors.New("time is up")
	errStopping = errors.New("the server is stopping")
)

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
	ctx, timeUp := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTimeUp)
	defer timeUp()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(c.shutdownCtx, func() { end(errStopping) })()
	defer c.reportProgress(ctx, seconds)()
	err := questions.Await(ctx, c.topic, over)
	if err == errTimeUp || err == errStopping {
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
