package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// The streams of tt. The package jetstream of tt-nats says what is in them.
const (
	entries = "TT"
	agents  = "TTAGENTS"

	metaID = "tt-id"

	maxEntry = 4 << 20
)

const (
	retryPause = 100 * time.Millisecond
	// tellAfter is when it is told what is waited for.
	tellAfter = 5 * time.Second
)

// A setup makes the streams in each account that has JetStream, as a user of its own.
type setup struct {
	users     []*user
	replicas  int  // of new streams
	scale     bool // of streams that are there, too
	operators bool // accounts come from elsewhere, and so do streams
	clustered bool
	lost      bool // there was a stream in the store before the server was started
	warn      func(format string, args ...any)
}

type user struct {
	account, name, password string
	key                     nkeys.KeyPair // nil: the name and the password, if any

	conn    *nats.Conn // nil if the account has no streams
	durable durability
}

// newSetup adds a user for each account to the options, unless everybody may connect.
func newSetup(opts *server.Options, replicas int, clustered bool) (s *setup, err error) {
	s = &setup{replicas: replicas, scale: replicas > 0, clustered: clustered, operators: len(opts.TrustedOperators) > 0}
	if s.replicas == 0 {
		s.replicas = 1
		if clustered {
			s.replicas = 3
		}
	}
	open := opts.Users == nil && opts.Nkeys == nil && opts.Username == "" && opts.Authorization == "" && len(opts.Accounts) == 0
	switch {
	case open:
		s.users = []*user{{}}
	case len(opts.Accounts) == 0 && opts.Username != "":
		s.users = []*user{{name: opts.Username, password: opts.Password}}
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
			u := new(user)
			if account != nil {
				u.account = account.Name
			}
			var public string
			if u.key, err = nkeys.CreateUser(); err == nil {
				public, err = u.key.PublicKey()
			}
			if err != nil {
				return nil, err
			}
			opts.Nkeys = append(opts.Nkeys, &server.NkeyUser{Nkey: public, Account: account})
			s.users = append(s.users, u)
		}
	}
	return s, nil
}

// names returns the names of the accounts.
func (s *setup) names() []string {
	var names []string
	for _, u := range s.users {
		if u.account == "" {
			names = append(names, server.DEFAULT_GLOBAL_ACCOUNT)
		} else {
			names = append(names, u.account)
		}
	}
	return names
}

// run makes the streams, as soon as the cluster has a leader. The users stay connected
// until ctx ends.
func (s *setup) run(ctx context.Context, srv *server.Server) error {
	if s.operators {
		return nil
	}
	for _, u := range s.users {
		if err := s.connect(ctx, srv, u); err != nil {
			return fmt.Errorf("account %q: %w", u.account, err)
		}
	}
	for _, u := range s.users {
		if err := s.makeStreams(ctx, u); err != nil {
			return fmt.Errorf("account %q: %w", u.account, err)
		}
	}
	if !slices.ContainsFunc(s.users, func(u *user) bool { return u.conn != nil }) {
		return errors.New(`no account has JetStream: add "jetstream: enabled" to one in --config`)
	}
	return nil
}

func (s *setup) connect(ctx context.Context, srv *server.Server, u *user) error {
	options := []nats.Option{nats.InProcessServer(srv), nats.Name("tt-natsd"), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.warn("account %q: %v", u.account, err) })}
	switch {
	case u.key != nil:
		public, err := u.key.PublicKey()
		if err != nil {
			return err
		}
		options = append(options, nats.Nkey(public, u.key.Sign))
	case u.name != "":
		options = append(options, nats.UserInfo(u.name, u.password))
	}
	conn, err := nats.Connect("", options...)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, conn.Close)
	u.conn = conn
	return u.answer(srv.Name(), !s.clustered)
}

func (s *setup) makeStreams(ctx context.Context, u *user) error {
	start, told := time.Now(), ""
	for _, config := range []map[string]any{s.entries(), s.agents()} {
		for {
			err := s.ensure(ctx, u.conn, config)
			if err == nil {
				break
			}
			var refused *apiError
			if errors.As(err, &refused) && refused.ErrCode == noJetStream {
				u.conn.Close()
				u.conn = nil
				return nil // an account without streams
			}
			waited := time.Since(start) > tellAfter
			switch {
			case errors.Is(err, errUnfit), !s.clustered && time.Since(start) > startPatience:
				return err
			case waited && told != err.Error():
				told = err.Error()
				s.warn("waiting until the streams can be made: %v", err)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(retryPause):
			}
		}
	}
	return nil
}

func (s *setup) entries() map[string]any {
	return map[string]any{
		"name": entries, "subjects": []string{"ttlog.>", "ttconfirm.>"}, "storage": "file", "retention": "limits", "discard": "new",
		"num_replicas": s.replicas, "max_msg_size": maxEntry, "max_msgs": -1, "max_bytes": -1, "max_age": 0, "max_msgs_per_subject": -1,
		"max_consumers": -1, "no_ack": false, "sealed": false, "allow_direct": true, "allow_msg_ttl": true, "allow_rollup_hdrs": false,
		"deny_delete": true, "deny_purge": true,
		"republish": map[string]any{"src": "ttlog.>", "dest": "ttchanged.>", "headers_only": true},
		"metadata":  map[string]string{metaID: randomID()},
	}
}

func (s *setup) agents() map[string]any {
	return map[string]any{
		"name": agents, "subjects": []string{"ttagent.>"}, "storage": "file", "retention": "limits", "discard": "old",
		"num_replicas": s.replicas, "max_msgs_per_subject": 1, "max_msgs": -1, "max_bytes": -1, "max_age": 0, "max_consumers": -1,
		"allow_direct": true, "allow_msg_ttl": true,
	}
}

// errUnfit means that a stream is there and cannot be made what it has to be.
var errUnfit = errors.New("the stream is not fit for tt")

// ensure makes a stream. If it is there it gets the settings that it has to have: one that
// something else has made may forget changes, or let them be removed.
func (s *setup) ensure(ctx context.Context, conn *nats.Conn, config map[string]any) error {
	name := config["name"].(string)
	var have struct{ Config map[string]any }
	err := call(ctx, conn, "$JS.API.STREAM.INFO."+name, nil, &have)
	var refused *apiError
	switch {
	case err == nil:
		return s.adapt(ctx, conn, config, have.Config)
	case !errors.As(err, &refused) || refused.ErrCode != noStream:
		return err
	case s.lost && name == entries:
		return fmt.Errorf("%w: the store has a stream %s that cannot be read; move the store away, or restore it from a copy", errUnfit, name)
	}
	err = call(ctx, conn, "$JS.API.STREAM.CREATE."+name, config, nil)
	if errors.As(err, &refused) && refused.ErrCode == inUse {
		return nil // another server of the cluster was first
	}
	return err
}

// adapt changes what is different in a stream that is there, but for the metadata: they
// name it. It is replicated to more servers only if --replicas says so.
func (s *setup) adapt(ctx context.Context, conn *nats.Conn, config, have map[string]any) error {
	var want map[string]any
	if b, err := json.Marshal(config); err != nil || json.Unmarshal(b, &want) != nil {
		return fmt.Errorf("%w: %v", errUnfit, err)
	}
	delete(want, "metadata")
	if !s.scale {
		delete(want, "num_replicas")
	}
	var differ []string
	for key, value := range want {
		if old := have[key]; !reflect.DeepEqual(old, value) && (old != nil || value != false) {
			differ = append(differ, fmt.Sprintf("%s was %v, has to be %v", key, old, value))
			have[key] = value
		}
	}
	if len(differ) == 0 {
		return nil
	}
	slices.Sort(differ)
	err := call(ctx, conn, "$JS.API.STREAM.UPDATE."+want["name"].(string), have, nil)
	var refused *apiError
	if errors.As(err, &refused) && !refused.passes() {
		return fmt.Errorf("%w: %s: %q: %w", errUnfit, want["name"], differ, err)
	}
	if err == nil {
		s.warn("stream %s is changed: %q", want["name"], differ)
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

// passes reports whether the cause is that the cluster has no leader yet, or too few servers.
func (e *apiError) passes() bool {
	return e.ErrCode >= 10003 && e.ErrCode <= 10010 || e.ErrCode == 10023
}

// call asks the API of JetStream, and decodes the answer into v unless it is nil.
func call(ctx context.Context, conn *nats.Conn, subject string, request, v any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var body []byte
	if request != nil {
		var err error
		if body, err = json.Marshal(request); err != nil {
			return err
		}
	}
	answer, err := conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return err
	}
	var e struct{ Error *apiError }
	if err := json.Unmarshal(answer.Data, &e); err != nil {
		return err
	}
	if e.Error != nil {
		return e.Error
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(answer.Data, v)
}
