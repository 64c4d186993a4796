package main

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/code"
)

// A session is one client: who it is on each topic. It lives in memory only.
type session struct {
	// mu is held for reading while a question is asked, so that the name under
	// which it is asked cannot change meanwhile.
	mu    sync.RWMutex
	seats map[string]*seat // by topic id
}

// A seat is what a session is on one topic.
type seat struct {
	agent   string
	release func() // gives back the mark

	mu    sync.Mutex
	asked []string // the questions that the session asked under the name
}

func (s *seat) addAsked(questionID string) {
	if questionID == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, questionID)
}

// agent returns the session's name on the topic.
func (s *session) agent(topicID string) (name string, err error) {
	err = s.as(topicID, func(at *seat) error {
		name = at.agent
		return nil
	})
	return name, err
}

// as runs do with the session's seat on the topic, which stays what it is.
func (s *session) as(topicID string, do func(*seat) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if at := s.seats[topicID]; at != nil {
		return do(at)
	}
	return tools.NotJoined(topicID)
}

// join takes the name on the topic. It reports whether another live session has
// the same one. Where presence cannot be written, on a read-only disk, it joins
// without.
func (s *session) join(ctx context.Context, r *topics.Room, agent string) (inUse bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.seats[r.Name()]
	if old == nil {
		old = &seat{release: func() {}}
	}
	next := &seat{agent: agent, release: func() {}}
	if old.agent == agent {
		next.asked = old.asked
	}
	// Under the lock, or two that join at once would each see nobody.
	err = r.Locked(ctx, func(snap *topics.Snapshot) error {
		if err := snap.State.CheckRejoin(old.agent, agent, old.asked); err != nil {
			return err
		}
		if old.agent == agent {
			old.release()
		}
		r.ForgetAgents(topics.JoinedMark)
		inUse = r.Agent(agent).Held(topics.JoinedMark)
		if release, err := r.Agent(agent).Hold(topics.JoinedMark); err == nil {
			next.release = release
		}
		return nil
	})
	if code.Of(err) == code.DataDirUnusable || code.Of(err) == code.DiskFull {
		err = checkRejoin(r, old, agent)
	}
	if err != nil {
		return false, err
	}
	old.release()
	s.seats[r.Name()] = next
	return inUse, nil
}

func checkRejoin(r *topics.Room, old *seat, next string) error {
	snap, err := r.View()
	if err != nil {
		return err
	}
	return snap.State.CheckRejoin(old.agent, next, old.asked)
}

// leave gives everything back.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.seats {
		at.release()
	}
	clear(s.seats)
}

// sessions are the clients of one server: one over standard input and output,
// any number in memory.
type sessions struct {
	mu  sync.Mutex
	all map[*mcp.ServerSession]*session
}

// of returns the session of a client, which ends with its connection.
func (all *sessions) of(client *mcp.ServerSession) *session {
	all.mu.Lock()
	defer all.mu.Unlock()
	if s := all.all[client]; s != nil {
		return s
	}
	s := &session{seats: make(map[string]*seat)}
	if all.all == nil {
		all.all = make(map[*mcp.ServerSession]*session)
	}
	all.all[client] = s
	go func() {
		_ = client.Wait()
		all.mu.Lock()
		delete(all.all, client)
		all.mu.Unlock()
		s.leave()
	}()
	return s
}
