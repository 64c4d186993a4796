package jetstream_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest"
)

func writeFile(t *testing.T, name string, b []byte, mode os.FileMode) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificates makes an authority, and a certificate of it for the loopback.
func certificates(t *testing.T) (ca, cert, key string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	encode := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER, err := x509.CreateCertificate(rand.Reader, template, template, &caKey.PublicKey, caKey)
	must(err)
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	server := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, NotBefore: template.NotBefore,
		NotAfter: template.NotAfter, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, template, &serverKey.PublicKey, caKey)
	must(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(serverKey)
	must(err)
	return writeFile(t, "ca.pem", encode("CERTIFICATE", caDER), 0o644), writeFile(t, "server.pem", encode("CERTIFICATE", serverDER), 0o644),
		writeFile(t, "server.key", encode("PRIVATE KEY", keyDER), 0o600)
}

// newKey makes a user's key, and returns the file of the seed.
func newKey(t *testing.T) (path, public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := pair.Seed()
	public, _ = pair.PublicKey()
	return writeFile(t, "user.nk", append(seed, '\n'), 0o600), public
}

// permissions returns what docs/hosts.md gives a user, for a pattern of namespaces.
func permissions(t *testing.T, namespaces string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "hosts.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)permissions: (\{.*?allow_responses: \{.*?\} \}) \}`).FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/hosts.md has no permissions")
	}
	return strings.NewReplacer(`\$`, "$", ".acme.", "."+namespaces+".").Replace(string(found[1]))
}

func startWith(t *testing.T, config string) *natstest.Server {
	t.Helper()
	return natstest.Start(t, "--listen", "127.0.0.1:0", "--store", t.TempDir(), "--config", writeFile(t, "tt.conf", []byte(config), 0o600))
}

// With TLS, a key and the permissions of docs/hosts.md everything works that works without.
func TestConformanceWithTLSAndKeys(t *testing.T) {
	t.Parallel()
	ca, cert, key := certificates(t)
	seed, public := newKey(t)
	server := startWith(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q }\naccounts { TEAM: { jetstream: enabled, users: [ { nkey: %s, permissions: %s } ] } }",
		cert, key, public, permissions(t, "*")))
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		address := "tls" + strings.TrimPrefix(server.Namespace(t), "nats")
		return func() engine.Engine {
			e, err := jetstream.Open(address, jetstream.Credentials{NKey: seed, CA: ca})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		}
	})
}

// calls are the methods that ask the server.
func calls(e engine.Engine, room string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Append": func(ctx context.Context) error {
			_, err := e.Append(ctx, room, 0, engine.Entry{Lines: []byte("a\n")}, 0)
			return err
		},
		"Confirm": func(ctx context.Context) error { return e.Confirm(ctx, room, 0) },
		"Watch":   func(ctx context.Context) error { _, err := e.Watch(ctx, room, func() {}); return err },
		"Publish": func(ctx context.Context) error { return e.Publish(ctx, room, "a", []byte("{}"), time.Minute) },
		"Announce": func(ctx context.Context) error {
			_, err := e.Announce(ctx, room, "a", "waiting", func() {})
			return err
		},
		"Announced": func(ctx context.Context) error { _, err := e.Announced(ctx, room, "a", "waiting"); return err },
		"Notified":  func(ctx context.Context) error { _, err := e.Notified(ctx, room, func(string) {}); return err },
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	ca, cert, key := certificates(t)
	otherCA, _, _ := certificates(t)
	seed, public := newKey(t)
	stranger, _ := newKey(t)
	loose := writeFile(t, "loose.nk", nil, 0o644)
	empty := writeFile(t, "empty.nk", nil, 0o600)
	server := startWith(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q }\naccounts { TEAM: { jetstream: enabled, users: [ { nkey: %s, permissions: %s } ] } }",
		cert, key, public, permissions(t, "mine")))
	plain := natstest.Start(t)
	tls := "tls" + strings.TrimPrefix(server.URL, "nats")
	for name, test := range map[string]struct {
		address string
		creds   jetstream.Credentials
		code    code.Code
		says    string
	}{
		"right":              {tls + "/mine", jetstream.Credentials{NKey: seed, CA: ca}, "", ""},
		"TLS by itself":      {server.URL + "/mine", jetstream.Credentials{NKey: seed, CA: ca}, "", ""},
		"other namespace":    {tls + "/theirs", jetstream.Credentials{NKey: seed, CA: ca}, code.EngineDenied, "permissions violation"},
		"wrong key":          {tls + "/mine", jetstream.Credentials{NKey: stranger, CA: ca}, code.EngineDenied, "authorization"},
		"no key":             {tls + "/mine", jetstream.Credentials{CA: ca}, code.EngineDenied, "authorization"},
		"key of others":      {tls + "/mine", jetstream.Credentials{NKey: loose, CA: ca}, code.EngineDenied, "can be read by others"},
		"no seed":            {tls + "/mine", jetstream.Credentials{NKey: empty, CA: ca}, code.EngineDenied, "empty.nk"},
		"no file":            {tls + "/mine", jetstream.Credentials{NKey: "/nowhere/a.nk", CA: ca}, code.EngineDenied, "/nowhere/a.nk"},
		"no credentials":     {tls + "/mine", jetstream.Credentials{Creds: empty, CA: ca}, code.EngineDenied, "JWT"},
		"unknown authority":  {tls + "/mine", jetstream.Credentials{NKey: seed}, code.EngineUnreachable, "x509"},
		"other authority":    {tls + "/mine", jetstream.Credentials{NKey: seed, CA: otherCA}, code.EngineUnreachable, "x509"},
		"no authority":       {tls + "/mine", jetstream.Credentials{NKey: seed, CA: "/nowhere/ca.pem"}, code.EngineDenied, "/nowhere/ca.pem"},
		"server without TLS": {"tls" + strings.TrimPrefix(plain.URL, "nats") + "/mine", jetstream.Credentials{}, code.EngineDenied, "no TLS"},
		"no TLS, authority":  {plain.URL + "/mine", jetstream.Credentials{CA: ca}, code.EngineDenied, "no TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := jetstream.Open(test.address, test.creds)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			for method, call := range calls(e, "rooms.a-1") {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				err := call(ctx)
				cancel()
				var coded *code.Error
				switch {
				case name == "other namespace" && method == "Confirm": // a read where one server keeps the stream
				case test.code == "":
					if err != nil && !errors.Is(err, engine.ErrConflict) {
						t.Errorf("%s: %v", method, err)
					}
				case !errors.As(err, &coded) || coded.Code != test.code || !strings.Contains(strings.ToLower(coded.Message), strings.ToLower(test.says)):
					t.Errorf("%s: %v, want %s with %q", method, err, test.code, test.says)
				}
			}
		})
	}
}

// A permission that is missing is denied, and only what needs it.
func TestOneMissingPermission(t *testing.T) {
	t.Parallel()
	seed, public := newKey(t)
	all := permissions(t, "mine")
	server := startWith(t, fmt.Sprintf("accounts { TEAM: { jetstream: enabled, users: [ { nkey: %s, permissions: %s } ] } }",
		public, strings.Replace(all, `"ttlog.mine.>", `, "", 1)))
	e, err := jetstream.Open(server.URL+"/mine", jetstream.Credentials{NKey: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	for range 2 {
		for method, call := range calls(e, "rooms.a-1") {
			var coded *code.Error
			err := call(t.Context())
			denied := errors.As(err, &coded) && coded.Code == code.EngineDenied
			if denied != (method == "Append") || !denied && err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
}

// jwt returns a signed claim, as NATS has them.
func jwt(t *testing.T, issuer nkeys.KeyPair, subject string, expires int64, nats map[string]any) string {
	t.Helper()
	public, _ := issuer.PublicKey()
	nats["version"] = 2
	claim, err := json.Marshal(map[string]any{"jti": "x", "iat": time.Now().Unix() - 1000, "exp": expires, "iss": public, "sub": subject, "name": "x", "nats": nats})
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	text := b64([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." + b64(claim)
	sum, err := issuer.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + b64(sum)
}

// Users with credentials of an operator connect; one whose credentials have expired is denied.
func TestCredentialsOfOperator(t *testing.T) {
	t.Parallel()
	operator, _ := nkeys.CreateOperator()
	account, _ := nkeys.CreateAccount()
	operatorID, _ := operator.PublicKey()
	accountID, _ := account.PublicKey()
	unlimited := map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
		"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
	system, _ := nkeys.CreateAccount()
	systemID, _ := system.PublicKey()
	config := fmt.Sprintf("operator: %s\nresolver: MEMORY\nsystem_account: %s\nresolver_preload: { %s: %s, %s: %s }\n",
		writeFile(t, "operator.jwt", []byte(jwt(t, operator, operatorID, 0, map[string]any{"type": "operator"})), 0o600),
		systemID, systemID, jwt(t, operator, systemID, 0, map[string]any{"type": "account", "limits": map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1}}),
		accountID, jwt(t, operator, accountID, 0, map[string]any{"type": "account", "limits": unlimited}))
	server := startWith(t, config)
	for _, test := range []struct {
		expires int64
		code    code.Code
	}{{0, ""}, {time.Now().Unix() - 100, code.EngineDenied}} {
		user, _ := nkeys.CreateUser()
		userID, _ := user.PublicKey()
		seed, _ := user.Seed()
		creds := fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n",
			jwt(t, account, userID, test.expires, map[string]any{"type": "user", "subs": -1, "data": -1, "payload": -1}), seed)
		e, err := jetstream.Open(server.URL+"/mine", jetstream.Credentials{Creds: writeFile(t, "user.creds", []byte(creds), 0o600)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		_, err = e.Watch(t.Context(), "rooms.a-1", func() {})
		var coded *code.Error
		if test.code == "" && err != nil || test.code != "" && (!errors.As(err, &coded) || coded.Code != test.code) {
			t.Errorf("expires %d: %v, want %q", test.expires, err, test.code)
		}
	}
}

// Outside private networks a server without TLS is not talked to. Nothing is connected
// here.
func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"nats://127.0.0.1:1/ns": true, "nats://[::1]:1/ns": true, "tls://example.com/ns": true, "nats://a:1,b:2,c:3/ns": true,
		"nats://user:secret@127.0.0.1:1/ns": false, "nats://token@127.0.0.1/ns": false, "nats://127.0.0.1:1": false, "nats://127.0.0.1:1/": false,
		"nats://127.0.0.1:1/a.b": false, "nats://127.0.0.1:1/a*": false, "nats://127.0.0.1:1/a/b": false, "http://127.0.0.1/ns": false, "": false, "nats:///ns": false,
		"nats://127.0.0.1:1/ns?x=y": false, "nats://127.0.0.1:1/ns#x": false, "nats://127.0.0.1:1/ns?": false, // another mirror of the same engine
	} {
		e, err := jetstream.Open(address, jetstream.Credentials{})
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is shown: %v", err)
		}
		if e != nil {
			e.Close()
		}
	}
}
