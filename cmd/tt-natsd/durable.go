package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Subjects of questions that tt-natsd answers in each account that has streams.
const (
	subjectServer = "ttserver"       // from clients; one server answers
	subjectPeers  = "ttserver.peers" // from other servers; each answers with its name
)

// A serverInfo answers a question of a client.
type serverInfo struct {
	Server  string `json:"server"`
	Version string `json:"version"`
	// Durable says that every server that keeps the stream syncs before it acknowledges. A
	// server that is down counts as it did before.
	Durable bool `json:"durable"`
}

// A durability is whether all servers that keep an account's stream are tt-natsd.
type durability struct{ atomic.Bool }

// answer lets the server answer questions. When it returns, it does.
func (u *user) answer(name string, durable bool) error {
	u.durable.Store(durable)
	_, err := u.conn.QueueSubscribe(subjectServer, "tt-natsd", func(m *nats.Msg) {
		b, err := json.Marshal(serverInfo{Server: name, Version: version, Durable: u.durable.Load()})
		if err == nil {
			_ = m.Respond(b)
		}
	})
	if err == nil {
		_, err = u.conn.Subscribe(subjectPeers, func(m *nats.Msg) { _ = m.Respond([]byte(name)) })
	}
	if err == nil {
		err = u.conn.Flush()
	}
	return err
}

const (
	peersInterval = 10 * time.Second
	peersRetry    = 2 * time.Second
	peersPatience = 500 * time.Millisecond
)

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
			u.durable.Store(durable)
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
	var v struct {
		Cluster struct {
			Leader   string
			Replicas []struct {
				Name    string
				Offline bool
			}
		}
	}
	if err := call(ctx, conn, "$JS.API.STREAM.INFO."+entries, nil, &v); err != nil {
		return nil, err
	}
	if v.Cluster.Leader != "" {
		names = append(names, v.Cluster.Leader)
	}
	for _, replica := range v.Cluster.Replicas {
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
