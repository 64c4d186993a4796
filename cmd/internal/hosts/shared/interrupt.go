package shared

import (
	"context"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
)

// lastWords is how long the engine is waited for once the command was interrupted: enough
// for one that is there.
const lastWords = 50 * time.Millisecond

// An interruptible is an engine of a command that a signal may end. After that the engine
// is not waited for, except for a change that is under way: whether it was made has to be
// found out.
type interruptible struct {
	engine.Engine
	over <-chan struct{}
}

// Interrupt implements [hosts.Sharing].
func (s *sharing) Interrupt() {
	s.interrupt.Do(func() { time.AfterFunc(lastWords, func() { close(s.over) }) })
}

// while calls do and returns its error, or at once that of a canceled context when the
// command is over. What do returns later is lost.
func (i *interruptible) while(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	select {
	case err := <-done:
		cancel()
		return err
	case <-i.over:
		cancel()
		return context.Canceled
	}
}

// ask is [interruptible.while] for a question with an answer.
func ask[T any](i *interruptible, ctx context.Context, question func(context.Context) (T, error)) (T, error) {
	var late, answer T
	err := i.while(ctx, func(ctx context.Context) (err error) {
		answer, err = question(ctx)
		return err
	})
	if err == context.Canceled { // answer may be written still
		return late, err
	}
	return answer, err
}

func (i *interruptible) Info(ctx context.Context) (engine.Info, error) {
	return ask(i, ctx, i.Engine.Info)
}

func (i *interruptible) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	return i.reading(ctx, func(ctx context.Context, unlessLeft func(do func() error) error) error {
		return i.Engine.Read(ctx, room, from, func(e engine.Entry) error { return unlessLeft(func() error { return fn(e) }) })
	})
}

func (i *interruptible) ReadAll(ctx context.Context, prefix string, fn func(room string, e engine.Entry) error) error {
	return i.reading(ctx, func(ctx context.Context, unlessLeft func(do func() error) error) error {
		return i.Engine.ReadAll(ctx, prefix, func(room string, e engine.Entry) error { return unlessLeft(func() error { return fn(room, e) }) })
	})
}

// reading calls read, which calls unlessLeft with what is done with each entry: nothing is,
// once reading has returned.
func (i *interruptible) reading(ctx context.Context, read func(ctx context.Context, unlessLeft func(do func() error) error) error) error {
	var mu sync.Mutex
	left := false
	err := i.while(ctx, func(ctx context.Context) error {
		return read(ctx, func(do func() error) error {
			mu.Lock()
			defer mu.Unlock()
			if left {
				return context.Canceled
			}
			return do()
		})
	})
	mu.Lock()
	defer mu.Unlock()
	left = true
	return err
}

func (i *interruptible) Confirm(ctx context.Context, room string, at engine.Revision) error {
	return i.while(ctx, func(ctx context.Context) error { return i.Engine.Confirm(ctx, room, at) })
}

func (i *interruptible) Rooms(ctx context.Context, prefix string) (map[string]int, error) {
	return ask(i, ctx, func(ctx context.Context) (map[string]int, error) { return i.Engine.Rooms(ctx, prefix) })
}

func (i *interruptible) Publish(ctx context.Context, room, agent string, record []byte, keep time.Duration) error {
	return i.while(ctx, func(ctx context.Context) error { return i.Engine.Publish(ctx, room, agent, record, keep) })
}

func (i *interruptible) Records(ctx context.Context, room string, agents ...string) (map[string]engine.Record, error) {
	return ask(i, ctx, func(ctx context.Context) (map[string]engine.Record, error) {
		return i.Engine.Records(ctx, room, agents...)
	})
}

func (i *interruptible) AllRecords(ctx context.Context, prefix string) (map[string]map[string]engine.Record, error) {
	return ask(i, ctx, func(ctx context.Context) (map[string]map[string]engine.Record, error) {
		return i.Engine.AllRecords(ctx, prefix)
	})
}

func (i *interruptible) Announced(ctx context.Context, room, agent, what string) (engine.Presence, error) {
	return ask(i, ctx, func(ctx context.Context) (engine.Presence, error) { return i.Engine.Announced(ctx, room, agent, what) })
}

func (i *interruptible) Announce(ctx context.Context, room, agent, what string, again func()) (func(), error) {
	return i.subscribe(ctx, func(ctx context.Context) (func(), error) { return i.Engine.Announce(ctx, room, agent, what, again) })
}

func (i *interruptible) Watch(ctx context.Context, room string, notify func(*engine.Next)) (func(), error) {
	return i.subscribe(ctx, func(ctx context.Context) (func(), error) { return i.Engine.Watch(ctx, room, notify) })
}

func (i *interruptible) Notified(ctx context.Context, room string, fn func(agent string)) (func(), error) {
	return i.subscribe(ctx, func(ctx context.Context) (func(), error) { return i.Engine.Notified(ctx, room, fn) })
}

// subscribe is ask with the context itself, which a subscription may use until it ends.
func (i *interruptible) subscribe(ctx context.Context, to func(context.Context) (func(), error)) (func(), error) {
	return ask(i, ctx, func(context.Context) (func(), error) { return to(ctx) })
}

func (i *interruptible) Notify(room string, agents ...string) {
	_ = i.while(context.Background(), func(context.Context) error {
		i.Engine.Notify(room, agents...)
		return nil
	})
}

func (i *interruptible) Close() error {
	return i.while(context.Background(), func(context.Context) error { return i.Engine.Close() })
}

// Probe implements [engine.Prober], for an engine that does.
func (i *interruptible) Probe(ctx context.Context) error {
	p, ok := i.Engine.(engine.Prober)
	if !ok {
		return nil
	}
	return i.while(ctx, p.Probe)
}

// Repair implements [engine.Restorer], for an engine that does.
func (i *interruptible) Repair() {
	if r, ok := i.Engine.(engine.Restorer); ok {
		r.Repair()
	}
}

// Reopen implements [engine.Restorer], for an engine that does.
func (i *interruptible) Reopen(ctx context.Context) error {
	r, ok := i.Engine.(engine.Restorer)
	if !ok {
		return nil
	}
	return i.while(ctx, r.Reopen)
}
