package fsroom

import (
	"sync"
	"time"
)

// publishing is what a store publishes in the background: of one agent one thing at a time,
// and only the last of what is to be published meanwhile.
type publishing struct {
	mu      sync.Mutex
	again   map[string]func() // by agent; an entry, also a nil one, is being published
	running sync.WaitGroup
}

// Published waits until everything that was to be published in the background is with the
// engine, or until patience has passed.
func (s *Store) Published(patience time.Duration) {
	done := make(chan struct{})
	go func() {
		s.publishing.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// Background calls send in the background, which publishes what there is to say of an agent.
// [Store.Published] waits for it.
func (s *Store) Background(agent string, send func()) { s.publishing.publish(agent, send) }

func (p *publishing) publish(agent string, send func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, running := p.again[agent]; running {
		p.again[agent] = send
		return
	}
	p.again[agent] = nil
	p.running.Go(func() {
		for send := send; send != nil; send = p.next(agent) {
			send()
		}
	})
}

// next returns what is to be published of the agent next, nil if there is nothing.
func (p *publishing) next(agent string) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	send := p.again[agent]
	if p.again[agent] = nil; send == nil {
		delete(p.again, agent)
	}
	return send
}
