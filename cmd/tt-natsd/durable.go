package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Subjects of questions that tt-natsd answers in each account that has streams.
const (
	subjectServer = "ttserver"       // from clients; one server answers
	subjectPeers  = "ttserver.peers" // from other servers; each answers with its name
	subjectOpen   = "ttserver.open"  // from a host that has more than the store, has given it all, or opens it; one server answers
)

// answer lets the server answer questions. When it returns, it does.
func (s *setup) answer(ctx context.Context, u *user, name string) error {
	respond := func(m *nats.Msg, v any) {
		if b, err := json.Marshal(v); err == nil {
			_ = m.Respond(b)
		}
	}
	_, err := u.conn.QueueSubscribe(subjectServer, "tt-natsd", func(m *nats.Msg) {
		respond(m, map[string]any{"server": name, "version": version, "durable": s.isDurable(ctx, u)})
	})
	if err == nil {
		_, err = u.conn.Subscribe(subjectPeers, func(m *nats.Msg) { _ = m.Respond([]byte(name)) })
	}
	if err == nil {
		_, err = u.conn.QueueSubscribe(subjectOpen, "tt-natsd", func(m *nats.Msg) {
			answer, host := make(map[string]string), struct{ Lacks, Has string }{}
			_ = json.Unmarshal(m.Data, &host) // nothing: it is to be opened
			if err := s.open(ctx, u, host.Lacks, host.Has); err != nil {
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

// peersPatience is how long the other servers have to answer.
const peersPatience = 500 * time.Millisecond

// isDurable reports whether what is acknowledged survives a power cut: the streams are synced by their
// settings, and all servers that keep them and are not down are tt-natsd. It is looked at when a host asks.
func (s *setup) isDurable(ctx context.Context, u *user) bool {
	if fit := s.look(ctx, u); !fit || !s.clustered {
		return fit
	}
	peers, err := streamPeers(ctx, u.conn)
	return err == nil && askPeers(ctx, u.conn, peers)
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

// streamPeers returns the names of the servers that keep the stream, and are not down.
func streamPeers(ctx context.Context, conn *nats.Conn) (names []string, err error) {
	info, err := streamInfo(ctx, conn, entries)
	if err != nil || info.Cluster == nil {
		return nil, err
	}
	if info.Cluster.Leader != "" {
		names = append(names, info.Cluster.Leader)
	}
	for _, replica := range info.Cluster.Replicas {
		if !replica.Offline {
			names = append(names, replica.Name)
		}
	}
	return names, nil
}

// askPeers reports whether all of the servers say that they are a tt-natsd.
func askPeers(ctx context.Context, conn *nats.Conn, peers []string) bool {
	ctx, cancel := context.WithTimeout(ctx, peersPatience)
	defer cancel()
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil || conn.PublishRequest(subjectPeers, inbox, nil) != nil {
		return false
	}
	defer func() { _ = sub.Unsubscribe() }()
	for len(peers) > 0 {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return false
		}
		peers = slices.DeleteFunc(peers, func(name string) bool { return name == string(m.Data) })
	}
	return true
}
