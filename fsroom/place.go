package fsroom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// A Place is what was tried out in a data directory.
type Place struct {
	Dir       string `json:"dir"`
	Exists    bool   `json:"exists"` // false: nothing was tried
	Writable  bool   `json:"writable"`
	Locks     bool   `json:"locks"`   // a second descriptor is kept out
	Renames   bool   `json:"renames"` // a file is replaced as a whole
	Watch     string `json:"watch"`   // "events", or "polling" where no event came
	LatencyUS int64  `json:"watch_latency_us,omitempty"`
}

// probePatience is how long an event of the watcher is waited for.
const probePatience = 2 * time.Second

// Probe tries out whether rooms work in the data directory, in a directory of
// its own that is gone when it returns. Where there is no data directory it
// makes none.
func (s *Store) Probe(ctx context.Context) (Place, []Problem) {
	p := Place{Dir: s.dir}
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		return p, nil
	}
	p.Exists = true
	s.sweepDir()
	dir, err := os.MkdirTemp(s.dir, probePrefix)
	if err != nil {
		return p, []Problem{{File: s.dir, Problem: fmt.Sprintf("it cannot be written to: %v", err)}}
	}
	defer os.RemoveAll(dir)
	p.Writable = true
	var problems []Problem
	try := func(ok *bool, test func(string) error, what string) {
		err := test(dir)
		if *ok = err == nil; err != nil {
			problems = append(problems, Problem{File: s.dir, Problem: fmt.Sprintf("%s: %v", what, err)})
		}
	}
	try(&p.Locks, tryLocks, "locks do not keep others out")
	try(&p.Renames, tryRenames, "a file cannot be replaced as a whole")
	p.Watch = "polling"
	if took, ok := s.tryWatch(ctx, dir); ok {
		p.Watch, p.LatencyUS = "events", took.Microseconds()
	}
	return p, problems
}

const (
	probePrefix  = ".probe-"
	formatPrefix = ".format" // what renameio names the file that becomes format
)

// sweepDir removes what killed processes left in the data directory itself: the
// format on its way and probes. Others may be writing just now, so only what is
// clearly older goes.
func (s *Store) sweepDir() {
	for _, name := range []string{probePrefix, formatPrefix} {
		left, _ := filepath.Glob(filepath.Join(s.dir, name+"*"))
		for _, path := range left {
			if info, err := os.Lstat(path); err == nil && s.opts.Now().Sub(info.ModTime()) > time.Minute {
				_ = os.RemoveAll(path)
			}
		}
	}
}

// tryLocks: flock is per open file, so that two of one process exclude each other.
func tryLocks(dir string) error {
	path := filepath.Join(dir, "lock")
	unlock, err := lockfile.Lock(context.Background(), path)
	if err != nil {
		return err
	}
	defer unlock()
	at, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	again, err := lockfile.Lock(at, path)
	var busy *lockfile.BusyError
	switch {
	case err == nil:
		_ = again()
		return errors.New("a second one was given")
	case !errors.As(err, &busy):
		return err
	}
	return nil
}

func tryRenames(dir string) error {
	path := filepath.Join(dir, "file")
	for _, content := range []string{"old", "new"} {
		if err := lockfile.Replace(path, []byte(content), dir); err != nil {
			return err
		}
		if b, err := readFile(path, 1<<10); err != nil || string(b) != content {
			return errors.Join(err, fmt.Errorf("%q was read, not %q", b, content))
		}
	}
	return lockfile.SyncDir(dir)
}

// tryWatch measures from replacing a file to the event of it.
func (s *Store) tryWatch(ctx context.Context, dir string) (time.Duration, bool) {
	sub := s.subscribe(dir, "state.json")
	defer sub.Close()
	if !sub.watched.Load() {
		return 0, false
	}
	started := time.Now() // measures, decides nothing
	if lockfile.Replace(filepath.Join(dir, "state.json"), nil, dir) != nil {
		return 0, false
	}
	timer := time.NewTimer(probePatience)
	defer timer.Stop()
	select {
	case <-sub.C:
		return time.Since(started), true
	case <-timer.C:
	case <-ctx.Done():
	}
	return 0, false
}

// CheckDir verifies the data directory itself, without the rooms in it, and
// with repair makes it private again.
func (s *Store) CheckDir(repair bool) []Problem {
	var problems []Problem
	for _, path := range s.places() {
		info, err := os.Lstat(path)
		if err != nil || !privateModes || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		p := Problem{File: path, Problem: fmt.Sprintf("others have access to it (mode %04o)", info.Mode().Perm()), Repair: makePrivate}
		p.Repaired = repair && os.Chmod(path, info.Mode().Perm()&^0o077) == nil
		problems = append(problems, p)
	}
	for _, folder := range []string{"rooms", "topics", "archive"} {
		problems = append(problems, s.strangers(filepath.Join(s.dir, folder))...)
	}
	return problems
}

// own are the directories and files above the rooms.
func (s *Store) places() []string {
	paths := []string{s.dir, s.formatFile()}
	for _, folder := range []string{"rooms", "topics", "archive"} {
		dir := filepath.Join(s.dir, folder)
		paths = append(paths, dir)
		if folder == "archive" {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths
}

// strangers: what stands among the rooms and is none. A link is not followed, so
// that nothing outside the data directory is ever taken for a room.
func (s *Store) strangers(dir string) []Problem {
	var problems []Problem
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return []Problem{{File: dir, Problem: fmt.Sprintf("it is a %s, not a directory", kindOf(info.Mode()))}}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, Problem{File: dir, Problem: fmt.Sprintf("cannot be read: %v", err)})
	}
	for _, e := range entries {
		if !e.IsDir() && !e.Type().IsRegular() {
			problems = append(problems, Problem{File: filepath.Join(dir, e.Name()), Problem: fmt.Sprintf("it is a %s and no room", kindOf(e.Type()))})
		}
	}
	return problems
}

// Folders lists the names of all directories of rooms of a kind, alive or not.
func Folders[S any](s *Store, rules *Rules[S]) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, rules.Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.explain(err, s.dir)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}
