package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// The streams of tt. The package jetstream of tt-nats says what is in them.
const (
	entries = "TT"
	agents  = "TTAGENTS"

	metaID      = "tt-id"
	metaDurable = "tt-durable"

	maxEntry = 4 << 20
)

// setupPatience is how long the other servers of a cluster are waited for.
const setupPatience = 2 * time.Minute

// A setup makes the streams in each account that has JetStream, as a user of its own.
type setup struct {
	users     []user
	replicas  int
	operators bool // accounts come from elsewhere, and so do streams
}

type user struct{ account, name, password string }

// newSetup adds a user for each account to the options, unless everybody may connect.
func newSetup(opts *server.Options, replicas int, clustered bool) *setup {
	s := &setup{replicas: replicas, operators: len(opts.TrustedOperators) > 0}
	if s.replicas == 0 {
		s.replicas = 1
		if clustered {
			s.replicas = 3
		}
	}
	open := opts.Users == nil && opts.Nkeys == nil && opts.Username == "" && opts.Authorization == "" && len(opts.Accounts) == 0
	switch {
	case open:
		s.users = []user{{}}
	case len(opts.Accounts) == 0 && opts.Username != "":
		s.users = []user{{name: opts.Username, password: opts.Password}}
	default:
		var accounts []*server.Account
		for _, account := range opts.Accounts {
			if account.Name != opts.SystemAccount && account.Name != server.DEFAULT_SYSTEM_ACCOUNT {
				accounts = append(accounts, account)
			}
		}
		if len(accounts) == 0 {
			accounts = []*server.Account{nil}
		}
		for _, account := range accounts {
			u := user{name: "tt-natsd-" + randomID(), password: randomID() + randomID()}
			if account != nil {
				u.account = account.Name
			}
			opts.Users = append(opts.Users, &server.User{Username: u.name, Password: u.password, Account: account})
			s.users = append(s.users, u)
		}
	}
	return s
}

// run makes the streams, as soon as the cluster has a leader.
func (s *setup) run(ctx context.Context, srv *server.Server) error {
	if s.operators {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, setupPatience)
	defer cancel()
	for _, u := range s.users {
		if err := s.runAs(ctx, srv, u); err != nil {
			return fmt.Errorf("making the streams of account %q: %w", u.account, err)
		}
	}
	return nil
}

func (s *setup) runAs(ctx context.Context, srv *server.Server, u user) error {
	options := []nats.Option{nats.InProcessServer(srv)}
	if u.name != "" {
		options = append(options, nats.UserInfo(u.name, u.password))
	}
	conn, err := nats.Connect("", options...)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, config := range []map[string]any{s.entries(), s.agents()} {
		for {
			err := ensure(ctx, conn, config)
			if err == nil {
				break
			}
			var refused *apiError
			if errors.As(err, &refused) && refused.ErrCode == noJetStream && len(s.users) > 1 {
				return nil // an account without streams
			}
			select {
			case <-ctx.Done():
				return err
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	return nil
}

func (s *setup) entries() map[string]any {
	return map[string]any{
		"name": entries, "subjects": []string{"ttlog.>", "ttconfirm.>"}, "storage": "file", "retention": "limits", "discard": "new",
		"num_replicas": s.replicas, "max_msg_size": maxEntry, "max_msgs": -1, "max_bytes": -1, "max_consumers": -1,
		"allow_direct": true, "allow_msg_ttl": true, "deny_delete": true, "deny_purge": true,
		"republish": map[string]any{"src": "ttlog.>", "dest": "ttchanged.>", "headers_only": true},
		"metadata":  map[string]string{metaID: randomID(), metaDurable: "true"},
	}
}

func (s *setup) agents() map[string]any {
	return map[string]any{
		"name": agents, "subjects": []string{"ttagent.>"}, "storage": "file", "retention": "limits", "discard": "old",
		"num_replicas": s.replicas, "max_msgs_per_subject": 1, "max_msgs": -1, "max_bytes": -1, "max_consumers": -1,
		"allow_direct": true, "allow_msg_ttl": true,
	}
}

// ensure makes a stream unless it is there.
func ensure(ctx context.Context, conn *nats.Conn, config map[string]any) error {
	name := config["name"].(string)
	err := call(ctx, conn, "$JS.API.STREAM.INFO."+name, nil)
	var refused *apiError
	if !errors.As(err, &refused) || refused.ErrCode != noStream {
		return err
	}
	body, err := json.Marshal(config)
	if err != nil {
		return err
	}
	err = call(ctx, conn, "$JS.API.STREAM.CREATE."+name, body)
	if errors.As(err, &refused) && slices.Contains([]int{inUse}, refused.ErrCode) {
		return nil // another server of the cluster was first
	}
	return err
}

// Error numbers of JetStream.
const (
	noStream    = 10059
	inUse       = 10058
	noJetStream = 10039
)

type apiError struct {
	ErrCode int    `json:"err_code"`
	Text    string `json:"description"`
}

func (e *apiError) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.ErrCode) }

func call(ctx context.Context, conn *nats.Conn, subject string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	answer, err := conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return err
	}
	var v struct{ Error *apiError }
	if err := json.Unmarshal(answer.Data, &v); err != nil {
		return err
	}
	if v.Error != nil {
		return v.Error
	}
	return nil
}
