// Package dir is an engine in a directory that several data directories share: two hosts
// without a server. It needs a local file system. It shows what an engine has to do, and
// tests use it.
package dir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/lockfile"
)

// An Engine is a directory:
//
//	id                        the engine's id
//	ROOM/lock                 taken by those who append
//	ROOM/log/000000000017     one file for each entry: a header line, then the bytes
//	ROOM/records/AGENT        the record of an agent
//	ROOM/notify/AGENT         touched to notify the agent
//	ROOM/present/AGENT.WHAT   locked while a process has announced itself
//	ROOM/tmp                  for files that replace others
type Engine struct {
	dir string
	now func() time.Time

	mu      sync.Mutex
	watcher *fsnotify.Watcher
	watches map[string][]*watch // by directory
}

type watch struct{ notify func(name string) }

// Open returns the engine in a directory, which is created if it is missing.
func Open(dir string) (*Engine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := lockfile.Supported(dir); err != nil {
		return nil, err
	}
	return &Engine{dir: dir, now: time.Now, watches: make(map[string][]*watch)}, nil
}

// Info implements [engine.Engine].
func (e *Engine) Info(ctx context.Context) (engine.Info, error) {
	path := filepath.Join(e.dir, "id")
	unlock, err := lockfile.Lock(ctx, filepath.Join(e.dir, "lock"))
	if err != nil {
		return engine.Info{}, err
	}
	defer unlock()
	id, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id = fmt.Appendf(nil, "%x", e.now().UnixNano())
		err = lockfile.Replace(path, id, e.dir)
	}
	return engine.Info{ID: "dir:" + string(id), Now: e.now(), Durable: true}, err
}

func (e *Engine) path(room string, names ...string) string {
	return filepath.Join(append([]string{e.dir, room}, names...)...)
}

// header is the first line of an entry's file.
type header struct {
	At      time.Time  `json:"at"`
	Note    bool       `json:"note,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
}

func (e *Engine) entryPath(room string, r engine.Revision) string {
	return e.path(room, "log", fmt.Sprintf("%012d", r))
}

// entry reads one entry. live is false for a note that has expired.
func (e *Engine) entry(room string, r engine.Revision) (entry engine.Entry, live bool, err error) {
	b, err := os.ReadFile(e.entryPath(room, r))
	if err != nil {
		return engine.Entry{}, false, err
	}
	first, body, _ := bytes.Cut(b, []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil {
		return engine.Entry{}, false, fmt.Errorf("%s: %w", e.entryPath(room, r), err)
	}
	entry = engine.Entry{Revision: r, At: h.At}
	if h.Note {
		entry.Note = body
	} else {
		entry.Lines = body
	}
	return entry, h.Expires == nil || e.now().Before(*h.Expires), nil
}

// newest returns the revision of the newest file, expired or not.
func (e *Engine) newest(room string) (engine.Revision, error) {
	entries, err := os.ReadDir(e.path(room, "log"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(entries[len(entries)-1].Name(), 10, 64)
	return engine.Revision(n), err
}

// last returns the revision of the last entry that Read delivers.
func (e *Engine) last(room string) (last, newest engine.Revision, err error) {
	if newest, err = e.newest(room); err != nil {
		return 0, 0, err
	}
	for last = newest; last > 0; last-- {
		_, live, err := e.entry(room, last)
		if err == nil && live {
			return last, newest, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, 0, err
		}
	}
	return 0, newest, nil
}

// Read implements [engine.Engine].
func (e *Engine) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	if from > 0 {
		if _, _, err := e.entry(room, from); errors.Is(err, fs.ErrNotExist) {
			return engine.ErrRewound
		}
	}
	newest, err := e.newest(room)
	if err != nil {
		return err
	}
	for r := max(from, 1); r <= newest; r++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entry, live, err := e.entry(room, r)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !live {
			continue
		}
		if err == nil {
			err = fn(entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Append implements [engine.Engine].
func (e *Engine) Append(ctx context.Context, room string, after engine.Revision, entry engine.Entry, keep time.Duration) (engine.Entry, error) {
	unlock, err := e.lock(ctx, room)
	if err != nil {
		return engine.Entry{}, err
	}
	defer unlock()
	last, newest, err := e.last(room)
	if err != nil {
		return engine.Entry{}, err
	}
	if last != after {
		return engine.Entry{}, engine.ErrConflict
	}
	entry.Revision, entry.At = newest+1, e.now().UTC()
	h := header{At: entry.At, Note: entry.Note != nil}
	if keep > 0 {
		expires := entry.At.Add(keep)
		h.Expires = &expires
	}
	first, err := json.Marshal(h)
	if err != nil {
		return engine.Entry{}, err
	}
	body := append(append(first, '\n'), entry.Lines...)
	body = append(body, entry.Note...)
	if err := lockfile.Replace(e.entryPath(room, entry.Revision), body, e.path(room, "tmp")); err != nil {
		return engine.Entry{}, err
	}
	if err := lockfile.SyncDir(e.path(room, "log")); err != nil { // the entry is there, for now
		return engine.Entry{}, code.New(code.InDoubt, "the directory of the engine cannot be synced: %v", err).Because(err)
	}
	return entry, nil
}

// makeDirs makes the directories of a room.
func (e *Engine) makeDirs(room string) error {
	for _, name := range []string{"log", "records", "notify", "present", "tmp"} {
		if err := os.MkdirAll(e.path(room, name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long the lock of a room is waited for. The engine is away while a process
// that appends is stopped.
const patience = 4 * time.Second

// lock keeps others from appending.
func (e *Engine) lock(ctx context.Context, room string) (func() error, error) {
	if err := e.makeDirs(room); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return lockfile.Lock(ctx, e.path(room, "lock"))
}

// Confirm implements [engine.Engine].
func (e *Engine) Confirm(ctx context.Context, room string, at engine.Revision) error {
	unlock, err := e.lock(ctx, room)
	if err != nil {
		return err
	}
	defer unlock()
	last, _, err := e.last(room)
	if err == nil && last != at {
		err = engine.ErrConflict
	}
	return err
}

// Rooms implements [engine.Engine].
func (e *Engine) Rooms(ctx context.Context, prefix string) (map[string]int, error) {
	entries, err := os.ReadDir(e.dir)
	all := make(map[string]int)
	for _, d := range entries {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), prefix) {
			continue
		}
		n := 0
		if err := e.Read(ctx, d.Name(), 0, func(engine.Entry) error { n++; return nil }); err != nil {
			return nil, err
		}
		if n > 0 {
			all[d.Name()] = n
		}
	}
	return all, err
}

// ReadAll implements [engine.Engine].
func (e *Engine) ReadAll(ctx context.Context, prefix string, fn func(room string, entry engine.Entry) error) error {
	all, err := e.Rooms(ctx, prefix)
	for name := range all {
		if err == nil {
			err = e.Read(ctx, name, 0, func(entry engine.Entry) error { return fn(name, entry) })
		}
	}
	return err
}

// Publish implements [engine.Engine].
func (e *Engine) Publish(_ context.Context, room, agent string, record []byte, _ time.Duration) error {
	if err := e.makeDirs(room); err != nil {
		return err
	}
	return lockfile.ReplaceUnsynced(e.path(room, "records", agent), record, e.path(room, "tmp"))
}

// Records implements [engine.Engine]. It does not forget.
func (e *Engine) Records(_ context.Context, room string, agents ...string) (map[string]engine.Record, error) {
	entries, err := os.ReadDir(e.path(room, "records"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	records := make(map[string]engine.Record)
	for _, d := range entries {
		if len(agents) > 0 && !slices.Contains(agents, d.Name()) {
			continue
		}
		b, err := os.ReadFile(e.path(room, "records", d.Name()))
		info, err2 := d.Info()
		if err == nil && err2 == nil {
			records[d.Name()] = engine.Record{At: info.ModTime(), Body: b}
		}
	}
	return records, nil
}

// AllRecords implements [engine.Engine].
func (e *Engine) AllRecords(ctx context.Context, prefix string) (map[string]map[string]engine.Record, error) {
	entries, err := os.ReadDir(e.dir)
	all := make(map[string]map[string]engine.Record)
	for _, d := range entries {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), prefix) {
			all[d.Name()], err = e.Records(ctx, d.Name())
		}
	}
	return all, err
}

// Announce implements [engine.Engine].
func (e *Engine) Announce(_ context.Context, room, agent, what string) (withdraw func(), err error) {
	if err := e.makeDirs(room); err != nil {
		return nil, err
	}
	return lockfile.Hold(e.path(room, "present", agent+"."+what))
}

// Announced implements [engine.Engine].
func (e *Engine) Announced(_ context.Context, room, agent, what string) (engine.Presence, error) {
	held, err := lockfile.Held(e.path(room, "present", agent+"."+what))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return engine.Unknown, err
	case held:
		return engine.Present, nil
	}
	return engine.Absent, nil
}
