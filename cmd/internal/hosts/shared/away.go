package shared

import (
	"context"
	"errors"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
)

// away is the engine of a command that sees the mirrors alone: it cannot be reached, so
// such a command shows what this host knew last, and changes nothing.
type away struct{}

var errAway = errors.New("this command does not ask the engine")

func (away) Info(context.Context) (engine.Info, error) { return engine.Info{}, errAway }

func (away) Read(context.Context, string, engine.Revision, func(engine.Entry) error) error {
	return errAway
}

func (away) Append(context.Context, string, engine.Revision, engine.Entry, time.Duration) (engine.Entry, error) {
	return engine.Entry{}, errAway
}

func (away) Confirm(context.Context, string, engine.Revision) error { return errAway }

func (away) Watch(context.Context, string, func()) (func(), error) { return nil, errAway }

func (away) Rooms(context.Context, string) ([]string, error) { return nil, errAway }

func (away) Publish(context.Context, string, string, []byte, time.Duration) error { return errAway }

func (away) Records(context.Context, string) (map[string]engine.Record, error) { return nil, errAway }

func (away) Announce(context.Context, string, string, string) (func(), error) { return nil, errAway }

func (away) Announced(context.Context, string, string, string) (engine.Presence, error) {
	return engine.Unknown, errAway
}

func (away) Notify(string, ...string) {}

func (away) Notified(context.Context, string, func(string)) (func(), error) { return nil, errAway }

func (away) Close() error { return nil }
