package jetstream

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

// A reach says whether the servers answer. After a call that waited in vain, others fail at
// once for a while: a command makes several calls, and does not wait for each.
type reach struct {
	since time.Time // of the first call in vain since the last answer; zero: they answer
	until time.Time // calls fail at once until then
	last  error
}

const (
	// waitedInVain is how long a call has waited at least that lets others fail at once,
	// for twice as long: a connection that is refused costs nothing.
	waitedInVain = 100 * time.Millisecond
	// mostSilence bounds for how long they do.
	mostSilence = 4 * time.Second
)

// answered notes that a server has answered.
func (e *Engine) answered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reach = reach{}
}

// inVain notes that a call began at a moment, and got no answer.
func (e *Engine) inVain(began time.Time, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reach.failed(began, err)
}

func (r *reach) failed(began time.Time, err error) {
	if r.since.IsZero() {
		r.since = began
	}
	r.last = err
	if waited := time.Since(began); waited >= waitedInVain {
		r.until = time.Now().Add(min(2*waited, mostSilence))
	}
}

// silent returns the error of a call that is not tried, nil if it is. e.mu is locked.
func (e *Engine) silent() error {
	if !time.Now().Before(e.reach.until) {
		return nil
	}
	var coded *code.Error
	var away *engine.UnreachableError
	if last := e.reach.last; errors.As(last, &coded) || errors.As(last, &away) {
		return last
	}
	return e.unreachable(e.reach.last)
}

// unreachable says since when the servers do not answer. e.mu is locked.
func (e *Engine) unreachable(err error) error {
	since := e.reach.since
	if since.IsZero() {
		since = time.Now()
	}
	return &engine.UnreachableError{Servers: strings.Split(e.servers, ","), Since: since, Err: err}
}

// judge notes what a request that began at a moment says of the servers.
func (e *Engine) judge(ctx context.Context, began time.Time, err error) {
	switch {
	case err == nil, errors.Is(err, nats.ErrNoResponders):
		e.answered()
	case errors.Is(ctx.Err(), context.Canceled): // by the caller
	default:
		e.inVain(began, err)
	}
}
