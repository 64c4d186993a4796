package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Subjects of questions that tt-natsd answers in each account that has streams.
const (
	subjectServer = "ttserver"      // from clients; each server answers with its name, and whether what it acknowledges survives a power cut
	subjectOpen   = "ttserver.open" // from a host that has more than the store, has given it all, or opens it; one server answers
)

// answer lets the server answer questions. When it returns, it does.
func (s *setup) answer(ctx context.Context, u *user, name string) error {
	respond := func(m *nats.Msg, v any) {
		if b, err := json.Marshal(v); err == nil {
			_ = m.Respond(b)
		}
	}
	_, err := u.conn.Subscribe(subjectServer, func(m *nats.Msg) {
		respond(m, map[string]any{"server": name, "version": version, "durable": s.look(ctx, u)})
	})
	if err == nil {
		_, err = u.conn.QueueSubscribe(subjectOpen, "tt-natsd", func(m *nats.Msg) {
			answer, w := make(map[string]string), word{}
			_ = json.Unmarshal(m.Data, &w) // nothing: it is to be opened
			if err := s.open(ctx, u, w); err != nil {
				answer["error"] = err.Error()
			}
			respond(m, answer)
		})
	}
	if err == nil {
		err = u.conn.Flush()
	}
	return err
}

// lookAtAll is look for all accounts that have streams.
func (s *setup) lookAtAll(ctx context.Context) {
	for _, u := range s.users {
		if u.conn != nil {
			s.look(ctx, u)
		}
	}
}

// look makes the streams of an account what they have to be, and notes and reports whether they are. A client
// with the rights may have changed or replaced one.
func (s *setup) look(ctx context.Context, u *user) bool {
	for _, config := range []server.StreamConfig{s.entries(), s.agents()} {
		if err := s.ensure(ctx, u, config); err != nil && ctx.Err() == nil {
			s.warn("account %q: %v", u.account, err)
			s.health.unfit.Store(errors.Is(err, errUnfit))
			return false
		}
	}
	s.health.unfit.Store(false)
	return true
}
