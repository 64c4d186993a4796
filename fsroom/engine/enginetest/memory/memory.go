// Package memory is an engine in the memory of one process, for tests. It can do what a
// network and servers do: drop an answer, deliver notifications late and twice, lose
// entries, be away.
package memory

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

// ErrAway is the error while the engine cannot be reached.
var ErrAway = errors.New("no answer")

// A Fault is what happens to one call of Append.
type Fault int

// The faults.
const (
	None        Fault = iota
	Refused           // it does not reach the engine, and the caller knows
	AnswerLost        // the entry is committed, the caller does not know
	LostInDoubt       // the entry is not committed, the caller does not know
)

// An Engine is a set of rooms as a client reaches it. Its zero value is not usable; see [New].
type Engine struct {
	*state
	before func() error
}

type state struct {
	mu        sync.Mutex
	id        string
	now       func() time.Time
	away      bool
	fault     func() Fault
	rooms     map[string]*room
	lacking   map[string]bool // the hosts that have more than it
	opened    time.Time       // what hosts had until then is given up
	repairing bool
	delivery  chan func()
	done      chan struct{}
}

type room struct {
	entries   []stored
	records   map[string]engine.Record
	watchers  map[int]func()
	notified  map[int]func(string)
	announced map[int]announcement
	next      int
}

type stored struct {
	engine.Entry
	expires time.Time // zero: never
}

// New returns an empty engine with the clock.
func New(id string, now func() time.Time) *Engine {
	e := &Engine{state: &state{
		id: id, now: now, rooms: make(map[string]*room), lacking: make(map[string]bool),
		fault: func() Fault { return None }, delivery: make(chan func(), 1<<10), done: make(chan struct{}),
	}, before: func() error { return nil }}
	go e.deliver()
	return e
}

// Through returns the engine for a client that calls before each time that it asks it or is told something. An error
// means that nothing gets through.
func (e *Engine) Through(before func() error) *Engine { return &Engine{e.state, before} }

// deliver calls watchers in a goroutine of its own, each twice: a notification says that
// something may have changed, and no more.
func (e *Engine) deliver() {
	for {
		select {
		case fn := <-e.delivery:
			fn()
			fn()
		case <-e.done:
			return
		}
	}
}

// SetFault sets the function that is asked before each Append.
func (e *Engine) SetFault(f func() Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fault = f
}

// SetAway makes the engine unreachable, or reachable again, which watchers are told.
func (e *Engine) SetAway(away bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.away = away
	if !away {
		for _, r := range e.rooms {
			e.notify(r)
			for _, a := range r.announced {
				e.tell(a.again)
			}
		}
	}
}

// LoseRecords removes what is known of agents, as a server does that is killed.
func (e *Engine) LoseRecords(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.room(name).records)
}

// Lose removes the last entries of a room, as a restore from an old backup does.
func (e *Engine) Lose(name string, entries int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.room(name)
	r.entries = r.entries[:len(r.entries)-entries]
}

// Entries returns how many entries a room has.
func (e *Engine) Entries(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.room(name).entries)
}

func (e *Engine) room(name string) *room {
	r := e.rooms[name]
	if r == nil {
		r = &room{records: make(map[string]engine.Record), watchers: make(map[int]func()),
			notified: make(map[int]func(string)), announced: make(map[int]announcement)}
		e.rooms[name] = r
	}
	return r
}

func (e *Engine) notify(r *room) {
	for _, fn := range r.watchers {
		e.tell(fn)
	}
}

// tell has fn called, unless too much is to be told already.
func (e *Engine) tell(fn func()) {
	select {
	case e.delivery <- fn:
	default:
	}
}

// ask asks the engine for something, unless it is away.
func ask[T any](ctx context.Context, e *Engine, what func() (T, error)) (none T, err error) {
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	if err := e.before(); err != nil {
		return none, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.away {
		return none, ErrAway
	}
	return what()
}

// do tells the engine something, unless it is away.
func (e *Engine) do(ctx context.Context, what func() error) error {
	_, err := ask(ctx, e, func() (struct{}, error) { return struct{}{}, what() })
	return err
}

// Info implements [engine.Engine].
func (e *Engine) Info(ctx context.Context) (engine.Info, error) {
	return ask(ctx, e, func() (engine.Info, error) {
		return engine.Info{ID: e.id, Now: e.now(), Durable: true, Restored: len(e.lacking) > 0}, nil
	})
}

func (e *Engine) live(r *room) []stored {
	return slices.DeleteFunc(slices.Clone(r.entries), func(s stored) bool { return !s.expires.IsZero() && !e.now().Before(s.expires) })
}

func (e *Engine) last(r *room) engine.Revision {
	live := e.live(r)
	if len(live) == 0 {
		return 0
	}
	return live[len(live)-1].Revision
}

// Read implements [engine.Engine].
func (e *Engine) Read(ctx context.Context, name string, from engine.Revision, fn func(engine.Entry) error) error {
	live, err := ask(ctx, e, func() ([]stored, error) {
		r := e.room(name)
		if from != 0 && !slices.ContainsFunc(r.entries, func(s stored) bool { return s.Revision == from }) {
			return nil, engine.ErrRewound
		}
		return e.live(r), nil
	})
	for _, s := range live {
		if s.Revision >= from && err == nil {
			err = fn(clone(s.Entry))
		}
	}
	return err
}

func clone(e engine.Entry) engine.Entry {
	e.Lines, e.Note = bytes.Clone(e.Lines), bytes.Clone(e.Note)
	return e
}

// Append implements [engine.Engine].
func (e *Engine) Append(ctx context.Context, name string, after engine.Revision, entry engine.Entry,
	keep time.Duration) (engine.Entry, error) {
	return ask(ctx, e, func() (engine.Entry, error) {
		fault := e.fault()
		inDoubt := code.New(code.InDoubt, "the engine did not say whether the change was made")
		switch fault {
		case Refused:
			return engine.Entry{}, ErrAway
		case LostInDoubt:
			return engine.Entry{}, inDoubt
		}
		if len(e.lacking) > 0 && !e.repairing {
			return engine.Entry{}, code.New(code.EngineRestored, "the engine lacks what hosts have")
		}
		r := e.room(name)
		if e.last(r) != after {
			return engine.Entry{}, engine.ErrConflict
		}
		entry.Revision, entry.At = 1, e.now().UTC()
		if n := len(r.entries); n > 0 {
			entry.Revision = r.entries[n-1].Revision + 2 // revisions may have gaps
		}
		s := stored{Entry: clone(entry)}
		if keep > 0 {
			s.expires = e.now().Add(keep)
		}
		r.entries = append(r.entries, s)
		e.notify(r)
		if fault == AnswerLost {
			return engine.Entry{}, inDoubt
		}
		return entry, nil
	})
}

// Confirm implements [engine.Engine].
func (e *Engine) Confirm(ctx context.Context, name string, at engine.Revision) error {
	return e.do(ctx, func() error {
		if e.last(e.room(name)) != at {
			return engine.ErrConflict
		}
		return nil
	})
}

// Watch implements [engine.Engine].
func (e *Engine) Watch(ctx context.Context, name string, notify func()) (stop func(), err error) {
	return subscribe(ctx, e, name, func(r *room) map[int]func() { return r.watchers }, func() {
		if e.before() == nil {
			notify()
		}
	})
}

// subscribe adds fn to those of a room that are called, and returns how to remove it.
func subscribe[F any](ctx context.Context, e *Engine, name string, called func(*room) map[int]F, fn F) (stop func(), err error) {
	return ask(ctx, e, func() (func(), error) {
		r := e.room(name)
		r.next++
		id := r.next
		called(r)[id] = fn
		return func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(called(r), id)
		}, nil
	})
}

// Rooms implements [engine.Engine].
func (e *Engine) Rooms(ctx context.Context, prefix string) (map[string]int, error) {
	return ask(ctx, e, func() (map[string]int, error) {
		all := make(map[string]int)
		for name, r := range e.rooms {
			if n := len(e.live(r)); strings.HasPrefix(name, prefix) && n > 0 {
				all[name] = n
			}
		}
		return all, nil
	})
}

// Close implements [engine.Engine].
func (e *Engine) Close() error {
	close(e.done)
	return nil
}

// Shut implements [engine.Engine].
func (e *Engine) Shut(ctx context.Context, host string, last time.Time) error {
	return e.do(ctx, func() error {
		if last.IsZero() || last.After(e.opened) {
			e.lacking[host] = true
		}
		return nil
	})
}

// Reopen implements [engine.Engine].
func (e *Engine) Reopen(ctx context.Context, host string) error {
	return e.do(ctx, func() error {
		if delete(e.lacking, host); host == "" {
			clear(e.lacking)
			e.opened = e.now()
		}
		e.repairing = e.repairing && len(e.lacking) > 0
		return nil
	})
}

// Repair implements [engine.Engine], for all hosts, until the engine is open.
func (e *Engine) Repair() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.repairing = len(e.lacking) > 0
}

// Interrupt implements [engine.Engine]: it never waits.
func (e *Engine) Interrupt() {}

// Probe implements [engine.Engine].
func (e *Engine) Probe(ctx context.Context) error {
	return e.do(ctx, func() error {
		if e.fault() == Refused {
			return ErrAway
		}
		return nil
	})
}
