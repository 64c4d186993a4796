package main

import (
	"context"
	"testing"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// The call as a whole against the change that it makes: what the protocol, the
// decoding and the session cost. TMPDIR says on which disk.
func BenchmarkDurableCall(b *testing.B) {
	s := newStage(b, false)
	srv, transport := s.newServer()
	p := s.connected(transport, "2025-06-18", nil)
	s.id = p.made("pink")
	p.join(s.id, "red")
	args := f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, s.id)
	b.Run("ask", func(b *testing.B) {
		for b.Loop() {
			q := p.ok("ask", args)["question_id"].(string)
			b.StopTimer()
			p.ok("question_mark_answered", s.on(q))
			b.StartTimer()
		}
	})
	b.Run("update", func(b *testing.B) {
		r, err := srv.Topic(p.made("blue"))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			_, _, err := r.Update(context.Background(), func(*topic.State) ([]event.Event, error) {
				return []event.Event{{Type: "noted", From: "red"}}, nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("poll", func(b *testing.B) {
		q := p.asks()
		for b.Loop() {
			p.poll(q)
		}
	})
}
