package fsroom

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
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

// Options are where the world comes in. The zero value is the real one.
type Options struct {
	Now      func() time.Time       // wall clock
	NewID    func() string          // event ids
	SyncDir  func(dir string) error // puts the names in a directory on disk; lockfile.SyncDir
	Patience time.Duration          // for a room's lock
	NoWatch  bool                   // poll instead of watching
	// BlindPoll is how often a wait looks where nothing can be watched: first
	// after this time, then twice as late each time up to BlindPollMax.
	BlindPoll, BlindPollMax time.Duration
	// LeaveModes leaves files that others have access to as they are.
	LeaveModes bool
	// Warn is told in one line that something was put in order on the way: the
	// first of such things, the others go with it. It may be nil.
	Warn func(line string)
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
	StepDone    Step = "done" // the lock was given back; a failure here is ignored
)

// Steps lists every step, for tests that must have failed each.
func Steps() []Step {
	return []Step{StepPrepare, StepLock, StepLoad, StepCut, StepSync, StepAppend, StepReplace, StepArchive, StepUnlock, StepDone}
}

// A Store is a data directory. Opening one creates nothing.
type Store struct {
	dir  string
	opts Options

	warned  sync.Once
	hubOnce sync.Once
	hub     *hub
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
	if opts.SyncDir == nil {
		opts.SyncDir = lockfile.SyncDir
	}
	if opts.Patience == 0 {
		opts.Patience = lockPatience
	}
	if opts.BlindPoll == 0 {
		opts.BlindPoll = blindPoll
	}
	opts.BlindPollMax = max(opts.BlindPoll, opts.BlindPollMax)
	s := &Store{dir: dir, opts: opts}
	if err := lockfile.Supported(dir); err != nil {
		return nil, s.Explain(err, dir)
	}
	return s, s.checkFormat()
}

// Close gives back the watcher, if one was started. Waits that are under way
// are left with their poll. A command that ends anyway need not call it.
func (s *Store) Close() error {
	s.hubOnce.Do(func() {}) // from now on nobody starts one
	if s.hub == nil {
		return nil
	}
	return s.hub.watcher.Close()
}

// Options returns the options of the store, with the defaults filled in.
func (s *Store) Options() Options { return s.opts }

// LeavingModes returns a store in the same directory that changes no modes.
func (s *Store) LeavingModes() *Store {
	opts := s.opts
	opts.LeaveModes = true
	return &Store{dir: s.dir, opts: opts}
}

// Dir returns the data directory.
func (s *Store) Dir() string { return s.dir }

func (s *Store) formatFile() string { return filepath.Join(s.dir, "format") }

func (s *Store) checkFormat() error {
	const limit = 1 << 10
	b, err := lockfile.ReadRegular(s.formatFile(), limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var special *lockfile.NotRegularError
	if errors.As(err, &special) {
		return code.New(code.DataDirUnusable, "the data directory cannot be used: %v", err).
			WithHint("move it away").With("path", special.Path).Because(err)
	}
	if err != nil {
		return s.Explain(err, s.formatFile())
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < 1 || n > layoutFormat {
		return code.New(code.UnsupportedFormat, "%s was written by a newer version (format %.20q, this one knows %d)", s.dir, strings.TrimSpace(string(b)), layoutFormat).
			WithHint("update, or choose another directory with TALKING_STICK_DATA_DIR; nothing was changed").With("path", s.dir)
	}
	return nil
}

// prepare makes the data directory and the directory of a room. The format comes
// before the room: once there is a room, nobody comes here for it again.
func (s *Store) prepare(room string) error {
	if err := s.step(StepPrepare); err != nil {
		return s.Explain(err, s.dir)
	}
	if err := s.makeDataDir(s.dir); err != nil {
		return s.Explain(err, s.dir)
	}
	if err := s.writeFormat(); err != nil {
		return s.Explain(err, s.formatFile())
	}
	if err := s.step(StepPrepare); err != nil {
		return s.Explain(err, room)
	}
	for _, d := range []string{filepath.Dir(room), room, filepath.Join(room, "tmp"), filepath.Join(room, "agents")} {
		if err := MakeDir(d); err != nil {
			return s.Explain(err, d)
		}
	}
	return nil
}

// makeDataDir makes the data directory and what is missing above it. The name of
// each directory above is synced; the one of the data directory itself is synced
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
		s.sweepDir()
		return nil
	}
	return lockfile.Replace(s.formatFile(), []byte(strconv.Itoa(layoutFormat)+"\n"), s.dir)
}

func (s *Store) step(st Step) error {
	if s.opts.Fault == nil {
		return nil
	}
	return s.opts.Fault(st)
}

// formatPrefix begins the names of the temporary files from which renameio makes the
// format file.
const formatPrefix = ".format"

// sweepDir removes temporary files of killed processes from the data directory. Other
// processes may be writing at the same time, so it leaves recent ones.
func (s *Store) sweepDir() {
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), formatPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && s.opts.Now().Sub(info.ModTime()) > time.Minute {
			_ = os.RemoveAll(filepath.Join(s.dir, e.Name()))
		}
	}
}
