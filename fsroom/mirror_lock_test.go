package fsroom_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
)

// A probed engine is one that answers reads, and to a probe what the function returns.
type probed struct {
	engine.Engine
	probe func() error
}

// Probe leaves time for the wait before it: a command is told within [engine.Patience].
func (p probed) Probe(ctx context.Context) error {
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > engine.Patience-askMeanwhile {
		return errors.New("the question may take too long")
	}
	return p.probe()
}

// askMeanwhile is for how long a lock is waited for here before the engine is asked.
const askMeanwhile = 20 * time.Millisecond

// A process that waits for a mirror's lock is told why, if the one that has it waits for the engine.
func TestLockBesideTheEngine(t *testing.T) {
	t.Parallel()
	var held func() error
	full := code.New(code.DiskFull, "the disk of the engine is full")
	for name, c := range map[string]struct {
		patience time.Duration
		probe    func() error
		want     code.Code
	}{
		"out of reach":                {time.Minute, func() error { return memory.ErrAway }, code.EngineUnreachable},
		"out of reach, lock let go":   {time.Minute, func() error { _ = held(); return memory.ErrAway }, code.EngineUnreachable},
		"in reach":                    {4 * askMeanwhile, func() error { return nil }, code.LockTimeout},
		"in reach, and its disk full": {4 * askMeanwhile, func() error { return full }, code.LockTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHosts(t, 1, probed{inMemory(t), c.probe})
			h.do(0, join("a"))
			r := h.room(0, fsroom.Options{Patience: c.patience, Ask: askMeanwhile})
			for what, try := range map[string]func() error{
				"Update": func() error { _, _, err := r.Update(t.Context(), say("a", "hello")); return err },
				"Locked": func() error { return r.Locked(t.Context(), func(*snapshot) error { return nil }) },
			} {
				unlock, err := r.Lock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				held = unlock
				if err := try(); !hasCode(err, c.want) {
					t.Errorf("%s: %v, want %s", what, err, c.want)
				}
				if err := unlock(); err != nil {
					t.Error(err)
				}
			}
			h.do(0, say("a", "now"))
		})
	}
}

// A limited context ends when it is told to, as if its deadline had passed.
type limited struct {
	context.Context
	passed chan struct{}
}

func (l limited) Done() <-chan struct{} { return l.passed }

func (l limited) Err() error {
	select {
	case <-l.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Who has got the lock waits for the answer no longer than its caller does, and lets the lock go.
func TestLockWithAQuestionUnderWay(t *testing.T) {
	t.Parallel()
	for name, isOver := range map[string]func(error) bool{
		"cancel": func(err error) bool { return errors.Is(err, context.Canceled) },
		// The lock need not have been had yet.
		"deadline": func(err error) bool { return hasCode(err, code.EngineUnreachable) || hasCode(err, code.LockTimeout) },
	} {
		t.Run(name, func(t *testing.T) {
			var held func() error
			ctx, end := context.WithCancel(t.Context())
			if name == "deadline" {
				l := limited{ctx, make(chan struct{})}
				ctx, end = l, func() { close(l.passed) }
			}
			answer := make(chan struct{})
			h := newHosts(t, 1, probed{inMemory(t), func() error {
				_ = held()
				time.AfterFunc(askMeanwhile, end)
				<-answer
				return nil
			}})
			h.do(0, join("a"))
			r := h.room(0, fsroom.Options{Patience: patience, Ask: askMeanwhile})
			held, _ = r.Lock(t.Context())
			done := make(chan error, 1)
			go func() {
				_, _, err := r.Update(ctx, say("a", "hello"))
				done <- err
			}()
			select {
			case err := <-done:
				if !isOver(err) {
					t.Errorf("got %v", err)
				}
			case <-time.After(patience):
				t.Error("it waits for the answer still")
			}
			h.do(0, say("a", "now"))
			close(answer)
		})
	}
}

// Who looks does not wait for the lock, and asks the engine nothing for it, however long this takes.
func TestLookOnASlowMachine(t *testing.T) {
	t.Parallel()
	answer, asked := make(chan struct{}), make(chan struct{})
	h := newHosts(t, 2, probed{inMemory(t), func() error {
		close(asked)
		<-answer
		return nil
	}})
	h.do(0, join("a"))
	const often = 10 // as long as that it would have been asked
	slow := func(s fsroom.Step) error {
		if s == fsroom.StepLock {
			select {
			case <-asked:
			case <-time.After(often * askMeanwhile):
			}
		}
		return nil
	}
	if _, err := h.room(1, fsroom.Options{Fault: slow, Ask: askMeanwhile}).View(); err != nil {
		t.Error(err)
	}
	close(answer)
}
