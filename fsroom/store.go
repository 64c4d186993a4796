package fsroom

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// layoutFormat is the version of the data directory's layout.
const layoutFormat = 1

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// lockPatience is how long a command waits for a room's lock.
const lockPatience = 5 * time.Second

// askPatience is how long it waits for the lock of a mirror before it asks the engine.
const askPatience = 500 * time.Millisecond

type prepareFunc = func(path string, data []byte, tempDir string) (*lockfile.Draft, error)

// Options replace the clock, the random numbers and the file system in tests, and set how
// a store waits. The zero value is for production.
type Options struct {
	Now      func() time.Time         // wall clock
	NewID    func() string            // event ids
	SyncDir  func(dir string) error   // puts the names in a directory on disk; lockfile.SyncDir
	Sync     func(*journal.Log) error // puts a journal on disk; its method Sync
	Prepare  prepareFunc              // drafts a state.json; lockfile.Prepare
	Patience time.Duration            // how long to wait for a lock
	NoWatch  bool                     // poll instead of watching
	// Sleep is how a wait sleeps in a simulation: until ctx ends, the room may have changed, or d has
	// passed, 0 for as long as it takes. It reports whether the room may have changed.
	Sleep func(ctx context.Context, d time.Duration) (changed bool)
	// Ask is how long the lock of a mirror is waited for before the engine is asked meanwhile, and then again.
	// If it is 0, that is half a second.
	Ask time.Duration
	// BlindPoll is how long a wait sleeps where nothing can be watched. The time doubles
	// after each sleep, up to BlindPollMax. Where something is watched it is a few seconds, and no less than BlindPoll.
	BlindPoll, BlindPollMax time.Duration
	// LeaveModes leaves files that other users have access to as they are.
	LeaveModes bool
	// Warn is called once, with one line, if files that other users had access to were
	// made private. It may be nil.
	Warn func(line string)
	// Engine orders the changes of rooms that several hosts share. If it is nil, the
	// directory itself does.
	Engine engine.Engine
	// Host names this host among those that share the engine, and Boot its current boot. With
	// a Host and without an Engine, rooms are mirrors that are read as they are, and not
	// changed.
	Host, Boot string
	// Local is the data directory of this host, if the store has its mirrors: see
	// [Store.Local].
	Local string
	// Environ are the environment variables by which another process opens the same
	// store. If it is nil, that is the data directory.
	Environ []string
	// Brief is how long a process uses again what it has fetched from an engine. It is set in
	// a process that runs one command; what that publishes of agents is then sent in the
	// background, and [Store.Published] waits for it.
	Brief time.Duration
	// Behind is called when the engine cannot be reached. It reports whether a room may be
	// shown as this host had it last. If Behind is nil, it may not.
	Behind func(err error) bool
	// Fault is called before each step that touches the disk and may make it
	// fail. It is nil outside tests.
	Fault func(Step) error
}

// A Step names a point of a change at which a test can make it fail.
type Step string

// The steps, in the order of a change.
const (
	StepPrepare Step = "prepare" // making directories
	StepLock    Step = "lock"
	StepLoad    Step = "load"
	StepCut     Step = "cut"  // removing a torn tail
	StepSync    Step = "sync" // of a journal that is longer than state.json covers
	StepAppend  Step = "append"
	StepReplace Step = "replace" // of state.json
	StepArchive Step = "archive" // moving the journal of an ended life
	StepUnlock  Step = "unlock"
	StepDone    Step = "done" // after the unlock; a failure here is ignored
)

// A Store is a data directory. Opening one creates nothing.
type Store struct {
	dir  string
	opts Options

	warned    sync.Once
	listeners sync.Map // those of [Store.Listener] whose directory was checked, by id
	hubOnce   sync.Once
	hub       *hub

	publishing publishing // in the background
}

// Open returns the store in dir, which need not exist. It refuses a network
// file system, where locks and wake-ups do not work, and a layout newer than
// this program knows.
func Open(dir string, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = NewID
	}
	if opts.Sync == nil {
		opts.Sync = (*journal.Log).Sync
	}
	if opts.Prepare == nil {
		opts.Prepare = lockfile.Prepare
	}
	if opts.SyncDir == nil {
		opts.SyncDir = lockfile.SyncDir
	}
	if opts.Patience == 0 {
		opts.Patience = lockPatience
	}
	if opts.Ask == 0 {
		opts.Ask = askPatience
	}
	if opts.BlindPoll == 0 {
		opts.BlindPoll = blindPoll
	}
	opts.BlindPollMax = max(opts.BlindPoll, opts.BlindPollMax)
	s := newStore(dir, opts)
	if err := lockfile.Supported(dir); err != nil {
		return nil, s.Explain(err, dir)
	}
	return s, s.checkFormat()
}

func newStore(dir string, opts Options) *Store {
	return &Store{dir: dir, opts: opts, publishing: publishing{again: make(map[string]func())}}
}

// Close closes the watcher, if there is one. Waits that are under way go on polling. A
// command that is about to exit need not call it.
func (s *Store) Close() error {
	s.hubOnce.Do(func() {}) // no watcher is started after this
	if s.hub == nil {
		return nil
	}
	return s.hub.watcher.Close()
}

// MayBeBehind reports whether a room may be shown as this host had it last, although err says
// that the engine cannot be reached. See Options.Behind.
func (s *Store) MayBeBehind(err error) bool { return s.opts.Behind != nil && s.opts.Behind(err) }

// Options returns the options of the store, with the defaults filled in.
func (s *Store) Options() Options { return s.opts }

// LeavingModes returns a store in the same directory that changes no modes.
func (s *Store) LeavingModes() *Store {
	opts := s.opts
	opts.LeaveModes = true
	return newStore(s.dir, opts)
}

// Offline returns a store in the same directory that asks no engine.
func (s *Store) Offline() *Store {
	if s.opts.Engine == nil {
		return s
	}
	opts := s.opts
	opts.Engine = nil
	return newStore(s.dir, opts)
}

// Local returns the store of what this host shares with no other, such as locks: a store
// of mirrors is within it, any other is its own.
func (s *Store) Local() *Store {
	if s.opts.Local == "" {
		return s
	}
	opts := s.opts
	opts.Engine, opts.Host, opts.Local = nil, "", ""
	return newStore(s.opts.Local, opts)
}

// IsShared reports whether an engine shares the rooms with other hosts; a store that asks it has it in its options.
func (s *Store) IsShared() bool { return s.opts.Host != "" }

// Dir returns the data directory.
func (s *Store) Dir() string { return s.dir }

func (s *Store) formatFile() string { return filepath.Join(s.dir, "format") }

func (s *Store) checkFormat() error {
	const limit = 16 << 20
	b, err := lockfile.ReadRegular(s.formatFile(), limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var special *lockfile.NotRegularError
	if errors.As(err, &special) {
		return code.New(code.DataDirUnusable, "the data directory cannot be used: %v", special).
			WithHint("move it away").With("path", special.Path).Because(special)
	}
	if err != nil {
		return s.Explain(err, s.formatFile())
	}
	text := strings.TrimSpace(string(b))
	switch n, err := strconv.Atoi(text); {
	case strings.Trim(text, "\x00") == "": // a power cut, or half a copy
		return code.New(code.DataDirUnusable, "%s is empty: it is damaged", s.formatFile()).
			WithHint("remove it: all goes on without it").With("path", s.formatFile())
	case err != nil || n < 1 || n > layoutFormat:
		return code.New(code.UnsupportedFormat, "%s was written by a newer version (format %.20q, this one knows %d)", s.dir, text, layoutFormat).
			WithHint("update; or set TALKING_STICK_DATA_DIR to another directory, the same one for all agents; nothing was changed").With("path", s.dir)
	}
	return nil
}

// Prepare creates the data directory and the directory of a room. The format file comes
// first: prepare is not called again once there is a room.
func (s *Store) Prepare(room string) error {
	if err := s.Step(StepPrepare); err != nil {
		return s.Explain(err, s.dir)
	}
	if err := s.makeDataDir(s.dir); err != nil {
		return s.Explain(err, s.dir)
	}
	if err := s.writeFormat(); err != nil {
		return s.Explain(err, s.formatFile())
	}
	if err := s.Step(StepPrepare); err != nil {
		return s.Explain(err, room)
	}
	for _, d := range []string{filepath.Dir(room), room, filepath.Join(room, "tmp"), filepath.Join(room, "agents")} {
		if err := MakeDir(d); err != nil {
			return s.Explain(err, d)
		}
	}
	return nil
}

// makeDataDir creates the data directory and the missing directories above it. It syncs
// the name of each directory above; the name of the data directory itself is synced
// before the first change of each room.
func (s *Store) makeDataDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() || filepath.Dir(dir) == dir {
		return nil
	}
	if err := s.makeDataDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	lockfile.Adopt(dir)
	if dir == s.dir {
		return nil
	}
	return s.opts.SyncDir(filepath.Dir(dir))
}

func (s *Store) writeFormat() error {
	if _, err := os.Lstat(s.formatFile()); err == nil {
		sweepOld(s.dir, formatPrefix, s.opts.Now) // left by killed processes
		return nil
	}
	return lockfile.Replace(s.formatFile(), []byte(strconv.Itoa(layoutFormat)+"\n"), s.dir)
}

func (s *Store) Step(st Step) error {
	if s.opts.Fault == nil {
		return nil
	}
	return s.opts.Fault(st)
}

// formatPrefix begins the names of the temporary files from which renameio makes the
// format file.
const formatPrefix = ".format"

// LockFolder takes the lock of a folder of rooms, for what concerns all of them, such as
// creating a room under a name that no other room has. It waits as long as for the lock
// of a room, and its errors are those of [Room.Update]. The folder is created if it is
// missing. Where an engine orders the changes of all hosts, nothing is locked.
//
// The caller may lock and change rooms meanwhile, and so may other processes: a process
// that has the lock of a room never waits for that of a folder.
func (s *Store) LockFolder(ctx context.Context, folder string) (unlock func() error, err error) {
	if s.opts.Engine != nil {
		return func() error { return nil }, nil
	}
	if err := s.Step(StepLock); err != nil {
		return nil, s.Explain(err, s.dir)
	}
	dir := filepath.Join(s.dir, folder)
	path := filepath.Join(dir, "lock")
	unlock, err = s.lock(ctx, path, func() error { return MakeDir(dir) })
	return unlock, s.Explain(err, path)
}

// lock takes the lock at path, and calls makeDir if its directory is missing.
func (s *Store) lock(ctx context.Context, path string, makeDir func() error) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Patience)
	defer cancel()
	unlock, err = lockfile.Lock(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeDir(); err == nil {
			unlock, err = lockfile.Lock(ctx, path)
		}
	}
	return unlock, err
}

// NewID returns a random UUID (version 4). An id is no secret; it only has to differ from
// all others. The generator is seeded by the kernel at the start of every process.
func NewID() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], rand.Uint64())
	binary.BigEndian.PutUint64(b[8:], rand.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// NewLease returns the id of a lease. With the number of its turn it differs from all others
// of a room, so that it can be short: agents read it with each turn.
func NewLease() string { return NewID()[:8] }
