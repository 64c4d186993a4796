package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
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
	metaRestored = "tt-restored" // present while the stream is closed

	changes = "ttlog.>"    // the subjects of entries
	repairs = "ttrepair.>" // where they are published while the stream is closed

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
	restored  bool // the streams are to be closed until hosts have repaired them
	health    health
	warn      func(format string, args ...any)
}

type user struct {
	account, name, password string
	key                     nkeys.KeyPair // nil: the name and the password, if any

	had     bool       // there was a stream of entries in the store before the server was started
	conn    *nats.Conn // nil if the account has no streams
	durable durability
}

func (u *user) accountName() string {
	if u.account == "" {
		return server.DEFAULT_GLOBAL_ACCOUNT
	}
	return u.account
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
		names = append(names, u.accountName())
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
	return s.answer(ctx, u, srv.Name())
}

func (s *setup) makeStreams(ctx context.Context, u *user) error {
	start, told := time.Now(), ""
	for _, config := range []map[string]any{s.entries(), s.agents()} {
		for {
			err := s.ensure(ctx, u, config)
			if err == nil {
				u.durable.streams.Store(true)
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
	config := map[string]any{
		"name": entries, "subjects": []string{changes, "ttconfirm.>"}, "storage": "file", "retention": "limits", "discard": "new",
		"num_replicas": s.replicas, "max_msg_size": maxEntry, "max_msgs": -1, "max_bytes": -1, "max_age": 0, "max_msgs_per_subject": -1,
		"max_consumers": -1, "no_ack": false, "sealed": false, "allow_direct": true, "allow_msg_ttl": true, "allow_rollup_hdrs": false,
		"deny_delete": true, "deny_purge": true,
		"republish": map[string]any{"src": changes, "dest": "ttchanged.>", "headers_only": false},
		"metadata":  map[string]string{metaID: randomID(), metaEpoch: epoch(0)},
	}
	if s.restored {
		shut(config)
	}
	return config
}

// shut closes a stream of entries: they are taken from the subject of repairs alone, to which
// no command publishes but a repair, and stored as if they came from their own.
func shut(config map[string]any) {
	config["subjects"] = []string{repairs}
	config["subject_transform"] = map[string]any{"src": repairs, "dest": changes}
	config["metadata"].(map[string]string)[metaRestored] = "true"
}

// epoch returns the epoch of a store that is made or restored now, which is later than another.
func epoch(after int64) string { return strconv.FormatInt(max(time.Now().Unix(), after+1), 10) }

// open lets changes through again, after hosts have given back what a restored store lacked.
func (s *setup) open(ctx context.Context, u *user) error {
	var have struct{ Config map[string]any }
	if err := call(ctx, u.conn, "$JS.API.STREAM.INFO."+entries, nil, &have); err != nil {
		return err
	}
	metadata := stringMap(have.Config["metadata"])
	if metadata[metaRestored] == "" {
		return nil
	}
	delete(metadata, metaRestored)
	config := have.Config
	config["subjects"], config["metadata"] = []string{changes, "ttconfirm.>"}, metadata
	delete(config, "subject_transform")
	if err := call(ctx, u.conn, "$JS.API.STREAM.UPDATE."+entries, config, nil); err != nil {
		return err
	}
	s.health.closed.Store(false)
	s.warn("account %q: changes are accepted again", u.account)
	return nil
}

func stringMap(v any) map[string]string {
	m := make(map[string]string)
	if from, ok := v.(map[string]any); ok {
		for key, value := range from {
			m[key], _ = value.(string)
		}
	}
	return m
}

// agents is the stream of what hosts say of agents. One server syncs it now and then: a power cut
// costs the newest of it, which hosts say again.
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
func (s *setup) ensure(ctx context.Context, u *user, config map[string]any) error {
	name := config["name"].(string)
	var have struct{ Config map[string]any }
	err := call(ctx, u.conn, "$JS.API.STREAM.INFO."+name, nil, &have)
	var refused *apiError
	switch {
	case err == nil:
		return s.adapt(ctx, u, config, have.Config)
	case !errors.As(err, &refused) || refused.ErrCode != noStream:
		return err
	case u.had && name == entries:
		return fmt.Errorf("%w: the store has a stream %s that cannot be read; move the store away, or restore it from a copy", errUnfit, name)
	}
	relax(config)
	err = call(ctx, u.conn, "$JS.API.STREAM.CREATE."+name, config, nil)
	if err == nil && name == entries && s.restored {
		s.health.closed.Store(true)
	}
	if errors.As(err, &refused) && refused.ErrCode == inUse {
		return nil // another server of the cluster was first
	}
	return err
}

// adapt makes a stream that is there what it has to be: every setting is compared, those too that
// are not ours, since one of them may let the server acknowledge before it syncs. A stream
// is replicated to more servers only if --replicas says so.
func (s *setup) adapt(ctx context.Context, u *user, config, have map[string]any) error {
	if config["name"] == entries {
		s.keepMetadata(config, have)
	} else {
		config["metadata"] = have["metadata"]
	}
	var want map[string]any
	if b, err := json.Marshal(config); err != nil || json.Unmarshal(b, &want) != nil {
		return fmt.Errorf("%w: %v", errUnfit, err)
	}
	for _, key := range []string{"num_replicas", "placement", "description", "duplicate_window", "consumer_limits"} {
		if value, there := have[key]; there && (key != "num_replicas" || !s.scale) {
			want[key] = value
		}
	}
	if relax(want); want["name"] == agents && !same(have["persist_mode"], want["persist_mode"]) { // which cannot be changed
		if err := call(ctx, u.conn, "$JS.API.STREAM.DELETE."+agents, nil, nil); err != nil {
			return err
		}
		return s.ensure(ctx, u, config)
	}
	var differ []string
	for key := range union(want, have) {
		if old, value := have[key], want[key]; !same(old, value) {
			differ = append(differ, fmt.Sprintf("%s was %v, has to be %v", key, old, value))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	slices.Sort(differ)
	err := call(ctx, u.conn, "$JS.API.STREAM.UPDATE."+want["name"].(string), want, nil)
	var refused *apiError
	if errors.As(err, &refused) && !refused.passes() {
		return fmt.Errorf("%w: %s: %q: %w", errUnfit, want["name"], differ, err)
	}
	if err == nil {
		s.warn("stream %s is changed: %q", want["name"], differ)
	}
	return err
}

// keepMetadata gives the configuration of the stream of entries the metadata of the one that is
// there, and closes it if that one is closed. A store that is restored gets a later epoch,
// once: a start that was interrupted goes on with the one that it got.
func (s *setup) keepMetadata(config, have map[string]any) {
	metadata := stringMap(have["metadata"])
	closed := metadata[metaRestored] != ""
	if before, err := strconv.ParseInt(metadata[metaEpoch], 10, 64); err != nil || s.restored && !closed {
		metadata[metaEpoch] = epoch(before)
	}
	config["metadata"] = metadata
	if s.restored || closed {
		shut(config)
		s.health.closed.Store(true)
	}
}

// relax lets the stream of agents be acknowledged before it is synced, where one server keeps it:
// for more, there is no such setting.
func relax(config map[string]any) {
	switch {
	case config["name"] != agents:
	case fmt.Sprint(config["num_replicas"]) == "1":
		config["persist_mode"] = "async"
	default:
		delete(config, "persist_mode")
	}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// same reports whether two values of a setting are equal. A setting that is left out has the
// value that stands for nothing.
func same(a, b any) bool {
	nothing := func(v any) bool {
		switch v := v.(type) {
		case nil:
			return true
		case bool:
			return !v
		case float64:
			return v == 0 || v == -1
		case string:
			return v == "" || v == "none" || v == "default"
		case map[string]any:
			return len(v) == 0
		case []any:
			return len(v) == 0
		}
		return false
	}
	if a, ok := a.(map[string]any); ok {
		if b, ok := b.(map[string]any); ok {
			for key := range union(a, b) {
				if !same(a[key], b[key]) {
					return false
				}
			}
			return true
		}
	}
	return reflect.DeepEqual(a, b) || nothing(a) && nothing(b)
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
