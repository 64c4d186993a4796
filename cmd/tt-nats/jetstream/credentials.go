package jetstream

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/code"
)

// Credentials say who a client is. All fields are paths of files and may be empty.
type Credentials struct {
	Creds string `json:"creds,omitempty"` // of a user, with a JWT
	NKey  string `json:"nkey,omitempty"`  // the seed of a user's key
	CA    string `json:"ca,omitempty"`    // certificates to trust besides those of the system
}

// options returns the options of a connection by which the client proves who it is, and
// knows the server.
func (c *Credentials) options() (options []nats.Option, err error) {
	if c.Creds != "" {
		b, err := readSecret(c.Creds)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(b, []byte("BEGIN NATS USER JWT")) || !bytes.Contains(b, []byte("BEGIN USER NKEY SEED")) {
			return nil, unusable(c.Creds, errors.New("it has not both a JWT and a seed"))
		}
		options = append(options, nats.UserCredentials(c.Creds))
	}
	if c.NKey != "" {
		if _, err := readSecret(c.NKey); err != nil {
			return nil, err
		}
		option, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, unusable(c.NKey, err)
		}
		options = append(options, option)
	}
	if c.CA != "" {
		if _, err := os.ReadFile(c.CA); err != nil {
			return nil, unusable(c.CA, err)
		}
		options = append(options, nats.RootCAs(c.CA)) // demands TLS
	}
	return options, nil
}

// readSecret reads a file that nobody but its owner may read.
func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, code.New(code.EngineDenied, "the key file %s can be read by others (mode %04o)", path, info.Mode().Perm()).
			WithHint("chmod 600 %s", path).With("file", path)
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, unusable(path, err)
	}
	return b, nil
}

func unusable(path string, err error) error {
	return code.New(code.EngineDenied, "the file %s of engines.json cannot be used: %v", path, err).
		WithHint("nothing was changed").With("file", path).Because(err)
}

// needsTLS reports whether a server may be talked to under TLS only: everywhere but on this
// machine and in private networks, such as those between containers. Names are those of
// private networks if they have no dot, or a top-level domain that is reserved for them.
func needsTLS(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast() && !shared.Contains(ip)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	i := strings.LastIndexByte(host, '.')
	reserved := []string{"localhost", "local", "internal", "lan", "test"}
	return i >= 0 && !strings.HasSuffix(host, ".home.arpa") && !slices.Contains(reserved, host[i+1:])
}

// shared is the address space of carrier-grade NAT and of overlay networks.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// explainConnect returns the error of a connection that was not made. e.mu is locked.
func (e *Engine) explainConnect(err error) error {
	switch {
	case isAuthError(err):
		return denied(err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return code.New(code.EngineDenied, "the engine at %s offers no TLS, without which it is used in private networks only", e.servers).
			WithHint(`give certificates to the server, see docs/hosts.md; nothing was changed`).Because(err)
	case strings.Contains(err.Error(), "x509:"):
		return code.New(code.EngineUnreachable, "the engine at %s cannot be trusted: %v", e.servers, err).
			WithHint(`name the file of the authority that signed its certificate as "ca" in engines.json; nothing was changed`).Because(err)
	}
	return e.unreachable(err)
}
