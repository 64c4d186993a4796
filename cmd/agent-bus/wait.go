package main

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
)

// progressEvery is how often a waiting call says that it is alive.
const progressEvery = 2 * time.Second

var (
	errTimeUp   = errors.New("time is up")
	errStopping = errors.New("the server is stopping")
)

// until waits until over is true of the topic, but no longer than the call may
// wait of the seconds that were asked for. It returns nil in either case, and when
// the server is about to stop: the caller looks how things stand. An error means
// that they could not be looked at, or that the client has given up.
func (c *call) until(ctx context.Context, r *topics.Room, asked int, over func(*topic.State) bool) error {
	seconds := min(asked, tools.MaxWaitSeconds)
	if seconds == 0 {
		return nil
	}
	c.startsWaiting()
	ctx, timeUp := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTimeUp)
	defer timeUp()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(c.life, func() { end(errStopping) })()
	defer c.reportProgress(ctx, seconds)()
	err := r.Await(ctx, func(s *topics.Snapshot) (bool, fsroom.Sleep, error) {
		return over(s.State), fsroom.Sleep{}, nil
	})
	if err == errTimeUp || err == errStopping {
		return nil
	}
	return err
}

// reportProgress tells the client every now and then that the call still waits,
// if the client wants to know. The function returned ends it; after that nothing
// more is said, so that no report comes after the result.
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
			// If it cannot be sent, the result cannot either, which the SDK notices.
			_ = c.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: waited.Seconds(), Total: float64(total), Message: "waiting",
			})
		}
	}()
	return func() { cancel(); <-done }
}
