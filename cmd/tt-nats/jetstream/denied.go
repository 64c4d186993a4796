package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/code"
)

// A request that is not permitted gets no answer: the server says so apart from it, and
// names the subject. So the requests under way are known by their subjects.
type pending struct {
	subject string
	cancel  context.CancelCauseFunc
}

// permitted returns a context that ends when the server denies the subject, and when the engine
// is interrupted. done has to be called when the request is over.
func (e *Engine) permitted(ctx context.Context, subject string) (_ context.Context, done func(), err error) {
	stop := func() bool { return true }
	ctx, cancel := context.WithCancelCause(ctx)
	if ctx.Value(change{}) == nil {
		stop = context.AfterFunc(e.over, func() { cancel(context.Canceled) })
	}
	p := &pending{subject, cancel}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refused != nil {
		cancel(nil)
		return nil, nil, e.refused
	}
	e.pending = append(e.pending, p)
	return ctx, func() {
		stop()
		cancel(nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.pending = slices.DeleteFunc(e.pending, func(q *pending) bool { return q == p })
	}, nil
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

func isDenied(err error) bool {
	var coded *code.Error
	return errors.As(err, &coded) && coded.Code == code.EngineDenied
}

// cause returns why a context has ended if the server denied something, else the error.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); isDenied(why) {
		return why
	}
	return err
}
