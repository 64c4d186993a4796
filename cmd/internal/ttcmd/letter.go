package ttcmd

import (
	"context"
	"encoding/json"
)

// A letter is the handoff of an event, being read.
type letter struct {
	seq  int64
	done chan struct{} // closed when the rest is there
	text json.RawMessage
	err  error
}

// open begins to read the handoff of an event. Zero is no event and no handoff.
func (s *seat) open(ctx context.Context, seq int64) *letter {
	l := &letter{seq: seq, done: make(chan struct{})}
	if seq == 0 {
		close(l.done)
		return l
	}
	go func() {
		defer close(l.done)
		e, err := s.room.Event(ctx, seq)
		if err != nil {
			l.err = err
			return
		}
		l.text = e.Handoff
	}()
	return l
}

// read returns the handoff of the event, from l if that is the one.
func (s *seat) read(ctx context.Context, seq int64, l *letter) (json.RawMessage, error) {
	if l == nil || l.seq != seq {
		l = s.open(ctx, seq)
	}
	<-l.done
	return l.text, l.err
}
