package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

// A reach says whether the servers answer. After a call that waited in vain, others fail at
// once for a while: a command makes several calls, and does not wait for each.
type reach struct {
	mu    sync.Mutex
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
func (r *reach) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.until, r.last = time.Time{}, time.Time{}, nil
}

// failed notes that a call began at a moment, and got no answer.
func (r *reach) failed(began time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		r.since = began
	}
	r.last = err
	if waited := time.Since(began); waited >= waitedInVain {
		r.until = time.Now().Add(min(2*waited, mostSilence))
	}
}

// silent returns the error of a call that is not tried, nil if it is.
func (r *reach) silent() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.until) {
		return r.last
	}
	return nil
}

// unreachable says since when the servers do not answer, unless the error says what else is wrong.
func (e *Engine) unreachable(err error) error {
	var coded *code.Error
	var away *engine.UnreachableError
	if errors.As(err, &coded) || errors.As(err, &away) {
		return err
	}
	e.reach.mu.Lock()
	defer e.reach.mu.Unlock()
	since := e.reach.since
	if since.IsZero() {
		since = time.Now()
	}
	return &engine.UnreachableError{Servers: strings.Split(e.servers, ","), Since: since, Err: err}
}

// Errors of JetStream that its package has no names for.
const (
	accountFull jetstream.ErrorCode = 10002 // the limit of the account, which tt-natsd sets when the disk is nearly full
	serverFull  jetstream.ErrorCode = 10023
	unavailable jetstream.ErrorCode = 10008 // there is no leader
	notLeader   jetstream.ErrorCode = 10009 // or another one
)

// refusal returns the number of the error by which a server has refused something, 0 for other errors.
func refusal(err error) jetstream.ErrorCode {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.ErrorCode
	}
	return 0
}

// isNobody reports whether nobody listens to a subject, which the server says at once.
func isNobody(err error) bool {
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse)
}

// hasAnswered reports whether a server has answered, be it by an error.
func hasAnswered(err error) bool {
	return err == nil || isNobody(err) || refusal(err) != 0 || errors.Is(err, jetstream.ErrStreamNotFound) ||
		errors.Is(err, jetstreamext.ErrBatchUnsupported)
}

// explain returns the error of a request that got no answer, or was refused.
func (e *Engine) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case refusal(err) == accountFull, refusal(err) == serverFull:
		return code.New(code.DiskFull, "the disk of the engine is full").
			WithHint("nothing was changed; free space where tt-natsd keeps its store").Because(err)
	case errors.Is(err, jetstream.ErrStreamNotFound), refusal(err) == jetstream.JSErrCodeStreamNotFound:
		err = errors.New("it has no streams for rooms; is it a tt-natsd?")
	}
	return e.unreachable(err)
}

// change is the key of contexts in which what has become of a change is waited for: also after an interrupt, and
// though a call was in vain.
type change struct{}

// A request that is not permitted gets no answer: the server says so apart from it, and
// names the subject. So the requests under way are known by their subjects.
type pending struct {
	subject string
	cancel  context.CancelCauseFunc
}

// permitted returns a context that ends when the server denies the subject, and when the engine
// is interrupted. done has to be called when the request is over.
func (e *Engine) permitted(ctx context.Context, subject string) (_ context.Context, done func()) {
	stop := func() bool { return true }
	ctx, cancel := context.WithCancelCause(ctx)
	if ctx.Value(change{}) == nil {
		stop = context.AfterFunc(e.over, func() { cancel(context.Canceled) })
	}
	p := &pending{subject, cancel}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending = append(e.pending, p)
	return ctx, func() {
		stop()
		cancel(nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.pending = slices.DeleteFunc(e.pending, func(q *pending) bool { return q == p })
	}
}

// asynchronous gets the errors that belong to no answer.
func (e *Engine) asynchronous(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case isAuthError(err): // a connection was refused, and is tried again
		e.refused = denied(err)
		for _, p := range e.pending {
			p.cancel(e.refused)
		}
	case errors.Is(err, nats.ErrPermissionViolation):
		what, rest, _ := strings.Cut(err.Error(), `"`)
		subject, _, _ := strings.Cut(rest, `"`)
		noAnswers := strings.Contains(what, "Subscription") && strings.HasPrefix(subject, nats.InboxPrefix)
		for _, p := range e.pending {
			if p.subject == subject || noAnswers {
				p.cancel(denied(err))
			}
		}
	}
}

// deniedLast returns an error if the last that the server said is that the subject is denied.
// When a flush is over it has said so, and asynchronous may not have been called yet.
func deniedLast(conn *nats.Conn, subject string) error {
	if err := conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+subject+`"`) {
		return denied(err)
	}
	return nil
}

func isAuthError(err error) bool {
	return slices.ContainsFunc([]error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired},
		func(target error) bool { return errors.Is(err, target) })
}

func denied(err error) error {
	return code.New(code.EngineDenied, "the engine refuses this user: %v", err).
		WithHint("look at the credentials in engines.json, and at the permissions of the server; nothing was changed").Because(err)
}

func isDenied(err error) bool { return code.Of(err) == code.EngineDenied }
