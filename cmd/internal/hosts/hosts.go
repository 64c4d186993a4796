// Package hosts finds the engine of rooms that several hosts share, and where this host
// keeps its mirrors of them.
package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/lockfile"
)

// The environment variables of shared rooms.
const (
	EngineVariable = "TALKING_STICK_ENGINE" // an address, or an alias
	RoomVariable   = "TALKING_STICK_ROOM"   // the name of the workspace's room
)

// A Service is an engine as the user has configured it.
type Service struct {
	// Name is how it was named, which is its alias or its URL.
	Name string `json:"-"`
	URL  string `json:"url"`
	// Paths of files that say who the user is; empty for none.
	Creds string `json:"creds,omitempty"`
	NKey  string `json:"nkey,omitempty"`
	CA    string `json:"ca,omitempty"`
}

// configFile has the user's engines, by alias, in the data directory. A repository can
// name an engine only by an alias: otherwise a repository that was cloned could make tt
// connect to a stranger's server.
const configFile = "engines.json"

// Find returns the engine for a workspace, nil if it has none: that of the environment, else
// the alias in .talking-stick/room of the workspace. w may be nil. A working tree that was added
// to a repository has other files than the main one, so it has a stick of its own, on this host:
// an engine has its room only by a name that the user gives, as room or in the environment.
func Find(lookup func(string) string, room, dataDir string, w *workspace.Workspace) (*Service, error) {
	if w != nil && room == "" && lookup(RoomVariable) == "" && w.Linked() {
		return nil, nil
	}
	named := lookup(EngineVariable)
	if named == "" && w != nil {
		f, err := workspace.ReadRoomFile(w.Root)
		if err != nil {
			return nil, err
		}
		if named = f.Engine; named != "" {
			return alias(dataDir, named)
		}
	}
	if named == "" {
		return nil, nil
	}
	return Named(dataDir, named)
}

// Named returns the engine at a URL, or with an alias. Only the user names an engine by its
// URL.
func Named(dataDir, name string) (*Service, error) {
	if strings.Contains(name, "://") {
		s := &Service{Name: name, URL: name}
		return s, s.check()
	}
	return alias(dataDir, name)
}

// check refuses an address with a user or a password, which would be seen in process lists
// and in what is said of the engine, and one whose scheme is no word.
func (s *Service) check() error {
	scheme, rest, ok := strings.Cut(s.URL, "://")
	switch {
	case strings.Contains(rest, "@"):
		return errPassword()
	case !ok || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") != "" || scheme == "":
		return code.New(code.Usage, "%.80q is no address of an engine", s.URL).WithHint("write nats://HOST:PORT/NAMESPACE")
	}
	return nil
}

func errPassword() error {
	return code.New(code.Usage, "the address of an engine has a user or a password in it").
		WithHint("put the path of a credentials file into %s", configFile)
}

func alias(dataDir, name string) (*Service, error) {
	if strings.Contains(name, "@") { // an address without its scheme: it is not repeated
		return nil, errPassword()
	}
	if dataDir == "" {
		return nil, code.New(code.EngineMissing, "there is no data directory with the engine of the alias %q", name).With("alias", name)
	}
	path := filepath.Join(dataDir, configFile)
	unknown := code.New(code.EngineMissing, "there is no engine with the alias %q in %s", name, path).
		WithHint(`add it: {%q: {"url": "nats://HOST:PORT/NAMESPACE"}}`, name).With("alias", name).With("file", path)
	if strings.Contains(name, "/") {
		return nil, unknown.WithHint("an alias has no slash; an address is nats://HOST:PORT/NAMESPACE, and only the environment may name one")
	}
	b, err := lockfile.ReadRegular(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknown
	}
	s, all := new(Service), map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if one := all[name]; one != nil && err == nil {
		err = json.Unmarshal(one, s)
	}
	if err != nil {
		return nil, code.New(code.DataDirUnusable, "%s cannot be read: %v", path, err).
			WithHint(`write {%q: {"url": "nats://HOST:PORT/NAMESPACE"}}`, name).With("file", path).Because(err)
	}
	if s.URL == "" {
		return nil, unknown
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Name = name
	for _, file := range []*string{&s.Creds, &s.NKey, &s.CA} {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(dataDir, *file)
		}
	}
	return s, nil
}

// MirrorDir returns the directory of this host's mirrors of the engine's rooms, which has
// the form of a data directory.
func MirrorDir(dataDir string, s *Service) string {
	_, name, _ := strings.Cut(s.URL, "://")
	return filepath.Join(dataDir, "engines", fsroom.RoomName(name))
}

// Sharing is what a program that has engines does with them. Package shared implements it;
// a program without engines does not link that.
type Sharing interface {
	// Open opens the mirrors of this host. With mirrorOnly nothing is asked of the engine.
	Open(s *Service, dataDir string, o fsroom.Options, mirrorOnly bool) (*fsroom.Store, error)
	// Name returns the name by which all hosts know the room of a workspace's root, see
	// [workspace.SharedName].
	Name(root, given string) (string, error)
	// Listen keeps the mirrors of an agent's rooms up to date, and tells the other hosts how
	// the agent hears of news, until stop is called. It is about the store that was opened
	// last. The caller calls update when what the functions return may have changed.
	Listen(agent string, rooms func() []string, how func() string) (update, stop func())
	// Outer returns the nearest workspace around that of a root that has such a name, nil
	// if there is none.
	Outer(root, home string) *workspace.Workspace
	// Finish waits, for a bounded time, for what a command that has ended still tells other hosts.
	Finish(patience time.Duration)
	// Interrupt says that a signal has ended the command: from now on engines are not
	// waited for, but for a change that is under way.
	Interrupt()
	// Clock returns the clock by which the leases of the store's rooms are judged.
	Clock(store *fsroom.Store) func() turn.Instant
	// Check compares the mirrors of the store with what its engine has: those of the rooms with
	// the names, or with nil all. With repair it gives the engine what it lost.
	//
	// With repair and open, an engine whose store was copied back takes changes again, if
	// nothing that this host has is missing.
	Check(ctx context.Context, store *fsroom.Store, rooms []string, repair, open bool) Health
	// Import gives the engine of the store what it does not have of a room's history, and
	// returns how many events that were.
	Import(ctx context.Context, store *fsroom.Store, room string, h *history.History) (added int64, err error)
	// Copy moves a room of this host to an engine.
	Copy(ctx context.Context, to *Service, m Move) (Moved, error)
}

// A Health is what was found out about an engine.
type Health struct {
	Name     string           `json:"name"` // its alias or URL
	Reached  bool             `json:"reached"`
	ID       string           `json:"id,omitempty"`
	Durable  bool             `json:"durable"` // what it has acknowledged survives a power cut
	Problems []doctor.Problem `json:"-"`
}

// Unsafe returns an error if the engine may lose what it has acknowledged. There may be no engine.
func (h *Health) Unsafe() *code.Error {
	if h == nil || !h.Reached || h.Durable {
		return nil
	}
	return code.New(code.EngineUnsafe, "the engine may lose what it has acknowledged when the power fails").
		WithHint("run tt-natsd, which syncs before it acknowledges")
}

// A Move is a room of this host that is to go on at an engine.
type Move struct {
	From *fsroom.Store
	Room string // the name of the room in From
	To   string // and at the engine
	// Close closes the room in From, unless somebody holds its turn or it has later events
	// than the one given, see [turn.CloseRequest].
	Close func(ctx context.Context, reason string, at int64) error
}

// Moved is how a room was moved.
type Moved struct {
	Events int64 // that the room had
	Added  int64 // of them to the engine
	Closed bool  // the room in From was closed now
}

// Missing is the error for an engine where the program that has engines is not there.
func Missing(s *Service) error {
	what := "the engine at " + s.URL
	if s.Name == "" {
		what = "moving a room"
	}
	return code.New(code.EngineMissing, "%s needs the program tt-nats, which is neither beside tt nor in PATH", what).
		WithHint(`run "make install" in a checkout, take it from the release archive of tt, or: CGO_ENABLED=0 go install github.com/talking-stick/tt/cmd/tt-nats@latest`).
		With("engine", s.URL).With("program", "tt-nats")
}
