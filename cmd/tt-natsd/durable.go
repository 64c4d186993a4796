package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
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

// A durability is whether what is acknowledged survives a power cut: the streams are
// synced by their settings, and all servers that keep them are tt-natsd. A server that is down
// counts as it did before.
type durability struct{ streams, peers atomic.Bool }

func (d *durability) holds() bool { return d.streams.Load() && d.peers.Load() }

// answer lets the server answer questions. When it returns, it does.
func (s *setup) answer(ctx context.Context, u *user, name string) error {
	u.durable.peers.Store(!s.clustered)
	respond := func(m *nats.Msg, v any) {
		if b, err := json.Marshal(v); err == nil {
			_ = m.Respond(b)
		}
	}
	_, err := u.conn.QueueSubscribe(subjectServer, "tt-natsd", func(m *nats.Msg) {
		respond(m, map[string]any{"server": name, "version": version, "durable": u.durable.holds()})
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

const (
	streamsInterval = time.Minute
	peersInterval   = 10 * time.Second
	peersRetry      = 2 * time.Second
	peersPatience   = 500 * time.Millisecond
)

// watchStreams looks at the settings of the streams every minute, and at the servers that keep
// them more often, until ctx ends. A client with the rights may have changed or replaced a stream.
func (s *setup) watchStreams(ctx context.Context, srv *server.Server) {
	go s.watchPeers(ctx, srv)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(streamsInterval):
		}
		for _, u := range s.users {
			if u.conn != nil {
				s.look(ctx, u)
			}
		}
	}
}

// look makes the streams of an account what they have to be, and notes whether they are.
func (s *setup) look(ctx context.Context, u *user) {
	for _, config := range []server.StreamConfig{s.entries(), s.agents()} {
		if err := s.ensure(ctx, u, config); err != nil && ctx.Err() == nil {
			s.warn("account %q: %v", u.account, err)
			u.durable.streams.Store(false)
			s.health.unfit.Store(errors.Is(err, errUnfit))
			return
		}
	}
	u.durable.streams.Store(true)
	s.health.unfit.Store(false)
}

// watchPeers looks now and then which servers keep the streams, until ctx ends. One that is
// there and is no tt-natsd may acknowledge what it has not synced.
func (s *setup) watchPeers(ctx context.Context, srv *server.Server) {
	if !s.clustered {
		return
	}
	missed := make(map[string]int) // how often in a row
	for {
		interval := peersInterval
		for _, u := range s.users {
			if u.conn == nil {
				continue
			}
			peers, err := streamPeers(ctx, u.conn)
			if err != nil {
				interval = peersRetry
				continue
			}
			answered := askPeers(ctx, u.conn)
			durable := true
			for _, peer := range peers {
				if peer == srv.Name() || answered[peer] {
					missed[peer] = 0
					continue
				}
				durable, interval = false, peersRetry
				if missed[peer]++; missed[peer] == 3 {
					s.warn("%s does not say that it is a tt-natsd: what it acknowledges may not survive a power cut", peer)
				}
			}
			u.durable.peers.Store(durable)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
	}
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

// askPeers returns the names of the servers that answer.
func askPeers(ctx context.Context, conn *nats.Conn) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, peersPatience)
	defer cancel()
	names := make(map[string]bool)
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil || conn.PublishRequest(subjectPeers, inbox, nil) != nil {
		return names
	}
	defer func() { _ = sub.Unsubscribe() }()
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return names
		}
		names[string(m.Data)] = true
	}
}
