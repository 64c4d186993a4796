package main

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// markJoined is held in an agent's directory by every session that has joined
// under its name. The kernel drops it when the process ends, however it ends.
const markJoined = "joined"

// A session is one client: who it is on each topic. It lives in memory only.
type session struct {
	// mu is held for reading while a question is asked, so that the name under
	// which it is asked cannot change meanwhile.
	mu    sync.RWMutex
	seats map[string]seat // by topic id
}

type seat struct {
	agent   string
	release func() // gives back the mark
}

// agent returns the session's name on the topic.
func (s *session) agent(topicID string) (string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.agentLocked(topicID)
}

func (s *session) agentLocked(topicID string) (string, error) {
	if name := s.seats[topicID].agent; name != "" {
		return name, nil
	}
	return "", topic.NotJoined(topicID)
}

// as runs do under the session's name on the topic, which stays what it is.
func (s *session) as(topicID string, do func(agent string) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	agent, err := s.agentLocked(topicID)
	if err != nil {
		return err
	}
	return do(agent)
}

// join takes the name on the topic. It reports whether another live session has
// the same one. Where presence cannot be written, on a read-only disk, it joins
// without.
func (s *session) join(ctx context.Context, r *room, agent string) (inUse bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.seats[r.Name()]
	next := seat{agent: agent, release: func() {}}
	// Under the lock, or two that join at once would each see nobody.
	err = r.Locked(ctx, func(snap *snapshot) error {
		if err := snap.State.CheckRejoin(old.agent, agent); err != nil {
			return err
		}
		if old.agent == agent {
			old.release()
		}
		inUse = r.Agent(agent).Held(markJoined)
		if release, err := r.Agent(agent).Hold(markJoined); err == nil {
			next.release = release
		}
		return nil
	})
	if code.Of(err) == code.DataDirUnusable || code.Of(err) == code.DiskFull {
		err = checkRejoin(r, old.agent, agent)
	}
	if err != nil {
		return false, err
	}
	if old.release != nil {
		old.release()
	}
	s.seats[r.Name()] = next
	return inUse, nil
}

func checkRejoin(r *room, previous, next string) error {
	snap, err := r.View()
	if err != nil {
		return err
	}
	return snap.State.CheckRejoin(previous, next)
}

// leave gives everything back.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seat := range s.seats {
		seat.release()
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
	s := &session{seats: make(map[string]seat)}
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
