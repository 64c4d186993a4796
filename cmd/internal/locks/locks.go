// Package locks is the named locks of a data directory: where they are, who has them,
// and what a process that runs under some of them may wait for.
package locks

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile/queue"
)

// Folder is the directory of the data directory that has the scopes of the locks.
const Folder = "locks"

// Belongs reports whether the folder of locks may have a file or directory. The path is
// below the folder, and separated by slashes. Tickets of ended processes belong there: who
// takes the lock next removes them.
func Belongs(path string, mode fs.FileMode) bool {
	names := strings.Split(path, "/")
	name := names[len(names)-1]
	if len(names) < 3 { // the folder itself, a scope, a lock
		return mode.IsDir() && (path == "." || ValidName(name))
	}
	return len(names) == 3 && mode.IsRegular() && queue.OwnFile(name)
}

// The scope of a lock is a name: Machine for the locks of all repositories, the room id of
// a directory for those of a repository, and Tree with a room id for those of one working
// tree.
const (
	Machine = "machine"
	Tree    = "tree-"
)

const maxName = 64

// ValidName reports whether name can be the name of a lock.
func ValidName(name string) bool {
	const first = "abcdefghijklmnopqrstuvwxyz0123456789"
	return name != "" && len(name) <= maxName && strings.Contains(first, name[:1]) && strings.Trim(name, first+"._-") == ""
}

// An ID names a lock among all of a data directory.
type ID struct{ Name, Scope string }

// A Lock is a lock and the processes that have it or wait for it.
type Lock struct {
	ID
	Entries []*queue.Entry
	Err     error // not nil: some entries could not be read, and are missing
}

// Locks are the locks of a data directory.
type Locks struct {
	Store *fsroom.Store
	Table identity.Table
}

func (l *Locks) dir(id ID) string {
	return filepath.Join(l.Store.Dir(), Folder, id.Scope, id.Name)
}

func (l *Locks) queue(id ID) *queue.Queue {
	return &queue.Queue{Dir: l.dir(id), Processes: l}
}

// Queue returns the queue of a lock, whose directory it makes.
func (l *Locks) Queue(id ID) (*queue.Queue, error) {
	dir := l.dir(id)
	for _, d := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir} {
		if err := fsroom.MakeDir(d); err != nil {
			return nil, l.Store.Explain(err, d)
		}
	}
	return l.queue(id), nil
}

// Scopes returns the scopes that have locks, also such as nobody has.
func (l *Locks) Scopes() ([]string, error) { return l.names(filepath.Join(l.Store.Dir(), Folder)) }

func (l *Locks) names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, l.Store.Explain(err, dir)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// In returns the locks of a scope that somebody has or waits for, or that cannot be read,
// by their names.
func (l *Locks) In(scope string) ([]Lock, error) {
	names, err := l.Names(scope)
	if err != nil {
		return nil, err
	}
	var all []Lock
	for _, name := range names {
		id := ID{name, scope}
		entries, err := l.queue(id).List()
		if len(entries) > 0 || err != nil {
			all = append(all, Lock{id, entries, l.Store.Explain(err, l.dir(id))})
		}
	}
	return all, nil
}

// Names returns the names of the locks of a scope, also of those that nobody has.
func (l *Locks) Names(scope string) ([]string, error) {
	names, err := l.names(filepath.Join(l.Store.Dir(), Folder, scope))
	valid := names[:0]
	for _, name := range names {
		if ValidName(name) {
			valid = append(valid, name)
		}
	}
	return valid, err
}

// Condition implements [queue.Processes] by the process table.
func (l *Locks) Condition(raw json.RawMessage) queue.Condition {
	var process identity.Process
	if wire.Decode(raw, &process) != nil {
		return queue.Unknown
	}
	verdict, stopped := identity.Condition(l.Table, process)
	switch {
	case verdict == identity.Gone:
		return queue.Gone
	case verdict == identity.Unknown:
		return queue.Unknown
	case stopped:
		return queue.Stopped
	}
	return queue.Alive
}

// Watch implements [queue.Processes].
func (l *Locks) Watch(raw json.RawMessage) (<-chan struct{}, func(), error) {
	var process identity.Process
	if err := wire.Decode(raw, &process); err != nil {
		return nil, nil, err
	}
	return identity.WatchExit(process)
}
