package main

import (
	"context"
	"sync"

	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// A clientSession is the client of a server and the topics it has joined. It lives in memory
// only. Its calls come one after the other, see [order].
type clientSession struct {
	mu          sync.Mutex // the end of the session may come beside a call
	memberships map[string]*membership
}

// A membership is the name under which a session has joined a topic.
type membership struct {
	agent   string
	release func()   // releases the mark JoinedMark
	asked   []string // the questions that the session asked under the name
}

// membership returns that of the topic, nil if the session has not joined it.
func (s *clientSession) membership(topicID string) *membership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memberships[topicID]
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
		if r.Shared() == nil {
			r.ForgetAgents(questions.JoinedMark)
		}
		inUse = r.Agent(agent).Held(questions.JoinedMark)
		if release, err := questions.Join(r, agent); err == nil {
			next.release = release
		}
		return nil
	}
	unlocked := func(do func(*questions.Snapshot) error) error {
		snap, err := r.View()
		if err == nil {
			err = do(snap)
		}
		return err
	}
	if r.Shared() != nil { // other hosts are asked, which must not happen under the lock
		err = unlocked(enter)
	} else { // without the lock, two sessions that join at once would not see each other
		err = r.Locked(ctx, enter)
	}
	if code.Of(err) == code.DataDirUnusable || code.Of(err) == code.DiskFull {
		err = unlocked(check)
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
