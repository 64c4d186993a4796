package main

import (
	"context"
	"sync"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// A clientSession is the client of a server and the topics it has joined. It lives in memory
// only.
type clientSession struct {
	// mu is held for reading while a question is asked, so that the name under
	// which it is asked does not change meanwhile.
	mu          sync.RWMutex
	memberships map[string]*membership // by topic id
}

// A membership is the name under which a session has joined a topic.
type membership struct {
	agent   string
	release func() // releases the mark JoinedMark

	mu    sync.Mutex
	asked []string // the questions that the session asked under the name
}

// addAsked adds a question; "" is ignored.
func (m *membership) addAsked(questionID string) {
	if questionID == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, questionID)
}

// agent returns the session's name on the topic.
func (s *clientSession) agent(topicID string) (name string, err error) {
	err = s.whileJoined(topicID, func(m *membership) error {
		name = m.agent
		return nil
	})
	return name, err
}

// whileJoined calls do with the session's membership of the topic, which does not
// change meanwhile.
func (s *clientSession) whileJoined(topicID string, do func(*membership) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if m := s.memberships[topicID]; m != nil {
		return do(m)
	}
	return tools.NotJoined(topicID)
}

// join joins the topic under the name. It returns the topic, and whether another live
// session has joined it under the same name. If presence cannot be written, as on a
// read-only disk, it joins without the mark.
func (s *clientSession) join(ctx context.Context, r *questions.Topic, agent string) (joined *topic.State, inUse bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.memberships[r.Name()]
	if old == nil {
		old = &membership{release: func() {}}
	}
	next := &membership{agent: agent, release: func() {}}
	if old.agent == agent {
		next.asked = old.asked
	}
	check := func(snap *questions.Snapshot) error {
		if joined = snap.State; !joined.Exists() {
			return topic.NotFound("topic_id", r.Name())
		}
		return joined.CheckRejoin(old.agent, agent, old.asked)
	}
	enter := func(snap *questions.Snapshot) error {
		if err := check(snap); err != nil {
			return err
		}
		if old.agent == agent {
			old.release()
		}
		if !r.IsShared() {
			r.ForgetAgents(questions.JoinedMark)
		}
		inUse = r.Agent(agent).Held(questions.JoinedMark)
		if release, err := questions.Join(r, agent); err == nil {
			next.release = release
		}
		return nil
	}
	if r.IsShared() {
		// Other hosts are asked, which must not happen under the lock.
		var snap *questions.Snapshot
		if snap, err = r.View(); err == nil {
			err = enter(snap)
		}
	} else {
		// Without the lock, two sessions that join at once would not see each other.
		err = r.Locked(ctx, enter)
	}
	if code.Of(err) == code.DataDirUnusable || code.Of(err) == code.DiskFull {
		var snap *questions.Snapshot
		if snap, err = r.View(); err == nil {
			err = check(snap)
		}
	}
	if err != nil {
		return nil, false, err
	}
	old.release()
	s.memberships[r.Name()] = next
	return joined, inUse, nil
}

// leave leaves all topics.
func (s *clientSession) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.memberships {
		m.release()
	}
	clear(s.memberships)
}
