package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// The streams of tt. The package jetstream of tt-nats says what is in them.
const (
	entries = "TT"
	agents  = "TTAGENTS"

	// Metadata of the stream of entries.
	metaID       = "tt-id"       // names the store
	metaEpoch    = "tt-epoch"    // grows with each --restored; Unix seconds
	metaRestored = "tt-restored" // present while the stream is closed: "true", or the hosts that have more than it
	metaOpened   = "tt-opened"   // when it was opened last whatever it lacked, in RFC 3339: what hosts had until then is given up

	changes  = "ttlog.>"     // the subjects of entries
	repairs  = "ttrepair.>"  // where they are published while the stream is closed
	confirms = "ttconfirm.>" // of what a client appends to be sure of what it has read

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
	operators bool // accounts come from elsewhere, and so do streams
	clustered bool
	restored  bool // the streams are to be closed until hosts have repaired them
	health    health
	warn      func(format string, args ...any)
}

type user struct {
	account, name, password string
	key                     nkeys.KeyPair // nil: the name and the password, if any

	had  bool       // there was a stream of entries in the store before the server was started
	conn *nats.Conn // nil if the account has no streams
}

func (u *user) accountName() string {
	if u.account == "" {
		return server.DEFAULT_GLOBAL_ACCOUNT
	}
	return u.account
}

// newSetup adds a user for each account to the options, unless everybody may connect.
func newSetup(opts *server.Options, clustered bool) (s *setup, err error) {
	s = &setup{replicas: 1, clustered: clustered, operators: len(opts.TrustedOperators) > 0}
	if clustered {
		s.replicas = 3
	}
	open := opts.Users == nil && opts.Nkeys == nil && opts.Username == "" && opts.Authorization == "" && len(opts.Accounts) == 0
	switch {
	case open:
		s.users = []*user{{}}
	case len(opts.Accounts) == 0 && opts.Username != "":
		s.users = []*user{{name: opts.Username, password: opts.Password}}
	default:
		accounts := slices.DeleteFunc(slices.Clone(opts.Accounts), func(a *server.Account) bool {
			return a.Name == opts.SystemAccount || a.Name == server.DEFAULT_SYSTEM_ACCOUNT
		})
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
	return s.answer(ctx, u, srv.Name())
}

func (s *setup) makeStreams(ctx context.Context, u *user) error {
	start, told := time.Now(), ""
	for _, config := range []server.StreamConfig{s.entries(), s.agents()} {
		for {
			err := s.ensure(ctx, u, config)
			if err == nil {
				break
			}
			if server.IsNatsErr(err, server.JSNotEnabledForAccountErr) {
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

func (s *setup) entries() server.StreamConfig {
	config := server.StreamConfig{
		Name: entries, Subjects: []string{changes, confirms}, Storage: server.FileStorage, Discard: server.DiscardNew,
		Replicas: s.replicas, MaxMsgSize: maxEntry, MaxMsgs: -1, MaxBytes: -1, MaxMsgsPer: -1, MaxConsumers: -1,
		AllowDirect: true, AllowMsgTTL: true, DenyDelete: true, DenyPurge: true,
		RePublish: &server.RePublish{Source: changes, Destination: "ttchanged.>", HeadersOnly: true},
		Metadata:  map[string]string{metaID: rand.Text(), metaEpoch: epoch(0)},
	}
	if s.restored {
		shut(&config)
	}
	return config
}

// shut closes a stream of entries: they are taken from the subject of repairs alone, to which
// no command publishes but a repair, and stored as if they came from their own.
func shut(config *server.StreamConfig) {
	config.Subjects = []string{repairs}
	config.SubjectTransform = &server.SubjectTransformConfig{Source: repairs, Destination: changes}
	if config.Metadata[metaRestored] == "" {
		config.Metadata[metaRestored] = "true"
	}
}

// epoch returns the epoch of a store that is made or restored now, which is later than another.
func epoch(after int64) string { return strconv.FormatInt(max(time.Now().Unix(), after+1), 10) }

// A word is what a client says of its host: the host has more than the store, the last of it from
// a time, which may not be known; or the host has given the store all of that. One of neither opens the store.
type word struct {
	Lacks string
	Last  time.Time
	Has   string
}

// open closes the stream because it lacks what a host has, or lets changes through again after that
// host has given it that. For neither it is opened whatever it lacks, and not closed for what hosts had until then.
func (s *setup) open(ctx context.Context, u *user, w word) error {
	have, err := streamInfo(ctx, u.conn, entries)
	if err != nil {
		return err
	}
	config := have.Config
	config.Metadata = maps.Clone(config.Metadata)
	closed := config.Metadata[metaRestored]
	hosts := strings.Fields(closed)
	opened, _ := time.Parse(time.RFC3339Nano, config.Metadata[metaOpened])
	switch {
	case closed == "true" && (w.Lacks != "" || w.Has != ""), slices.Contains(hosts, w.Lacks), w.Lacks == "" && closed == "":
		return nil
	case w.Lacks != "" && !w.Last.IsZero() && !w.Last.After(opened):
		return nil
	case w.Lacks != "":
		hosts = append(hosts, w.Lacks)
	case w.Has != "":
		hosts = slices.DeleteFunc(hosts, func(h string) bool { return h == w.Has })
	default:
		hosts = nil
		config.Metadata[metaOpened] = time.Now().UTC().Format(time.RFC3339Nano)
	}
	if config.Metadata[metaRestored] = strings.Join(hosts, " "); len(hosts) == 0 {
		delete(config.Metadata, metaRestored)
	}
	if maps.Equal(config.Metadata, have.Config.Metadata) {
		return nil
	}
	if config.Subjects, config.SubjectTransform = []string{changes, confirms}, nil; len(hosts) > 0 {
		shut(&config)
	}
	if _, err := call(ctx, u.conn, "UPDATE."+entries, config); err != nil {
		return err
	}
	s.health.closed.Store(len(hosts) > 0)
	switch {
	case w.Lacks != "" && closed == "":
		s.warn("account %q: host %s has what the store has lost: changes are refused until it has given it back, by tt doctor --repair", u.account, w.Lacks)
	case closed != "" && len(hosts) == 0:
		s.warn("account %q: changes are accepted again", u.account)
	}
	return nil
}

// agents is the stream of what hosts say of agents. One server syncs it now and then: a power cut
// costs the newest of it, which hosts say again.
func (s *setup) agents() server.StreamConfig {
	return server.StreamConfig{
		Name: agents, Subjects: []string{"ttagent.>"}, Storage: server.FileStorage, Replicas: s.replicas,
		MaxMsgsPer: 1, MaxMsgSize: -1, MaxMsgs: -1, MaxBytes: -1, MaxConsumers: -1, AllowDirect: true, AllowMsgTTL: true,
	}
}

// errUnfit means that a stream is there and cannot be made what it has to be.
var errUnfit = errors.New("the stream is not fit for tt")

// ensure makes a stream. If it is there it gets the settings that it has to have: one that
// something else has made may forget changes, or let them be removed.
func (s *setup) ensure(ctx context.Context, u *user, config server.StreamConfig) error {
	have, err := streamInfo(ctx, u.conn, config.Name)
	switch {
	case err == nil:
		return s.adapt(ctx, u, config, have.Config)
	case !server.IsNatsErr(err, server.JSStreamNotFoundErr):
		return err
	case u.had && config.Name == entries:
		return fmt.Errorf("%w: the store has a stream %s that cannot be read; move the store away, or restore it from a copy", errUnfit, config.Name)
	}
	relax(&config)
	_, err = call(ctx, u.conn, "CREATE."+config.Name, config)
	if err == nil && config.Name == entries && s.restored {
		s.health.closed.Store(true)
	}
	if server.IsNatsErr(err, server.JSStreamNameExistErr) {
		return nil // another server of the cluster was first
	}
	return err
}

// passes reports whether the cause of an error is that the cluster has no leader yet, or too few servers.
func passes(e *server.ApiError) bool {
	return e.ErrCode >= 10003 && e.ErrCode <= 10010 || e.ErrCode == 10023
}

func streamInfo(ctx context.Context, conn *nats.Conn, stream string) (*server.StreamInfo, error) {
	return call(ctx, conn, "INFO."+stream, nil)
}

// call asks the API of JetStream for something about a stream.
func call(ctx context.Context, conn *nats.Conn, what string, request any) (*server.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var body []byte
	if request != nil {
		var err error
		if body, err = json.Marshal(request); err != nil {
			return nil, err
		}
	}
	answer, err := conn.RequestWithContext(ctx, "$JS.API.STREAM."+what, body)
	if err != nil {
		return nil, err
	}
	v := server.JSApiStreamInfoResponse{StreamInfo: new(server.StreamInfo)}
	if err = json.Unmarshal(answer.Data, &v); err == nil {
		err = v.ToError()
	}
	return v.StreamInfo, err
}
