package ttcmd

import "github.com/talking-stick/tt/fsroom/turn"

// An early guardian is started while its turn is being committed, so that the two
// do not add up. It waits for the grant, and goes if that never comes.
type early struct {
	fence   turn.Fence
	done    chan struct{} // closed when the rest is there
	child   *child
	failure error // why there is no child
}

func (s *seat) spawnEarly(fence turn.Fence) *early {
	e := &early{fence: fence, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.child, e.failure = s.spawnGuardian(fence)
	}()
	return e
}

// childFor returns a guardian for the turn: the one started ahead if it was for
// this turn, else a new one.
func (s *seat) childFor(fence turn.Fence, ahead *early) (*child, error) {
	child, err := ahead.of(fence)
	if child == nil && err == nil {
		child, err = s.spawnGuardian(fence)
	}
	return child, err
}

// of returns the guardian if it was started for this turn, nil if there is
// none; one for another turn is ended.
func (e *early) of(fence turn.Fence) (*child, error) {
	switch {
	case e == nil:
		return nil, nil
	case e.fence.Turn != fence.Turn:
		e.abandon()
		return nil, nil
	}
	<-e.done
	return e.child, e.failure
}

// abandon ends the guardian of a turn that was not granted.
func (e *early) abandon() {
	if e == nil {
		return
	}
	<-e.done
	e.child.kill()
}
