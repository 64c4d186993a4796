package shared

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest"
	"github.com/talking-stick/tt/fsroom/engine/memory"
)

func opened(t *testing.T, e engine.Engine) (*sharing, engine.Engine) {
	t.Helper()
	s := With(func(*hosts.Service) (engine.Engine, error) { return e, nil }).(*sharing)
	e, err := s.open(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, e
}

func TestConformanceOfAnInterruptibleEngine(t *testing.T) {
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		e := memory.New("test", time.Now)
		return func() engine.Engine {
			_, i := opened(t, e)
			return i
		}
	})
}

// A silent engine never answers, until the test ends.
type silent struct {
	engine.Engine
	ended chan struct{}
}

func (s silent) hang() error { <-s.ended; return errors.New("ended") }

func (s silent) Info(context.Context) (engine.Info, error) { return engine.Info{}, s.hang() }
func (s silent) Read(context.Context, string, engine.Revision, func(engine.Entry) error) error {
	return s.hang()
}
func (s silent) Confirm(context.Context, string, engine.Revision) error { return s.hang() }
func (s silent) Rooms(context.Context, string) (map[string]int, error)  { return nil, s.hang() }
func (s silent) Publish(context.Context, string, string, []byte, time.Duration) error {
	return s.hang()
}
func (s silent) Records(context.Context, string, ...string) (map[string]engine.Record, error) {
	return nil, s.hang()
}
func (s silent) Announced(context.Context, string, string, string) (engine.Presence, error) {
	return engine.Present, s.hang()
}
func (s silent) Announce(context.Context, string, string, string, func()) (func(), error) {
	return nil, s.hang()
}
func (s silent) Watch(context.Context, string, func(*engine.Next)) (func(), error) {
	return nil, s.hang()
}
func (s silent) Notified(context.Context, string, func(string)) (func(), error) {
	return nil, s.hang()
}
func (s silent) Notify(string, ...string) { _ = s.hang() }
func (s silent) Close() error             { return s.hang() }

// An interrupt ends all that waits for an engine, also what begins after it.
func TestInterrupt(t *testing.T) {
	e := silent{ended: make(chan struct{})}
	defer close(e.ended)
	s, i := opened(t, e)
	ctx := context.Background()
	errOf := func(_ any, err error) error { return err }
	calls := map[string]func() error{
		"Info":      func() error { return errOf(i.Info(ctx)) },
		"Read":      func() error { return i.Read(ctx, "r", 0, nil) },
		"Confirm":   func() error { return i.Confirm(ctx, "r", 0) },
		"Rooms":     func() error { return errOf(i.Rooms(ctx, "")) },
		"Publish":   func() error { return i.Publish(ctx, "r", "a", nil, 0) },
		"Records":   func() error { return errOf(i.Records(ctx, "r")) },
		"Announced": func() error { return errOf(i.Announced(ctx, "r", "a", "w")) },
		"Announce":  func() error { return errOf(i.Announce(ctx, "r", "a", "w", func() {})) },
		"Watch":     func() error { return errOf(i.Watch(ctx, "r", nil)) },
		"Notified":  func() error { return errOf(i.Notified(ctx, "r", nil)) },
		"Notify":    func() error { i.Notify("r"); return context.Canceled },
		"Close":     func() error { return i.Close() },
	}
	began, ended := make(chan string), make(chan error)
	for name, call := range calls {
		go func() { began <- name; ended <- call() }()
	}
	for range calls {
		<-began
	}
	s.Interrupt()
	s.Interrupt()
	for range calls {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s afterwards: %v", name, err)
		}
	}
}

// A change that is under way is waited for, and an engine that answers is heard a moment longer.
func TestInterruptLeavesChangesAlone(t *testing.T) {
	e := memory.New("one", time.Now)
	s, i := opened(t, e)
	s.Interrupt()
	<-s.over
	if _, err := i.Append(context.Background(), "rooms.r", 0, engine.Entry{Lines: []byte("x\n")}, 0); err != nil {
		t.Error(err)
	}
}
