package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// Folder is the directory of all stores in the data directory.
const Folder = "trees"

// Options say where a tree is and what bounds its snapshots.
type Options struct {
	Root   string // the directory that is recorded, without symbolic links
	Home   string // of the user, for the settings of git; "" for none
	Limits Limits
	Boot   string // names the time since the machine was started
	// Room is the one whose turns have their numbers, "" for all rooms of the tree. IsOwn reports whether it had a name before.
	Room  string
	IsOwn func(room string) bool
	// Others returns the directories of the tree, as paths in it, in which somebody else has a turn, and those in which
	// somebody had one that ended since a moment. It may be nil.
	Others func(since time.Time) (now, before []string)
	// Fault is called before each step that touches the disk and may make it fail. It is nil outside tests.
	Fault func(step string) error
}

// A Ledger is the store of one tree.
type Ledger struct {
	dir  string
	opts Options
}

// New returns the store in a directory, which need not exist.
func New(dir string, opts Options) *Ledger {
	opts.Limits = opts.Limits.orDefaults()
	if opts.Fault == nil {
		opts.Fault = func(string) error { return nil }
	}
	return &Ledger{dir: dir, opts: opts}
}

// Dir returns the directory of the store.
func (l *Ledger) Dir() string { return l.dir }

// Root returns the directory that is recorded.
func (l *Ledger) Root() string { return l.opts.Root }

// Exists reports whether there is a snapshot.
func (l *Ledger) Exists() bool {
	info, err := os.Stat(l.linesFile())
	return err == nil && info.Size() > 0
}

func (l *Ledger) linesFile() string  { return filepath.Join(l.dir, "snapshots.jsonl") }
func (l *Ledger) cacheFile() string  { return filepath.Join(l.dir, "stat") }
func (l *Ledger) objectsDir() string { return filepath.Join(l.dir, "objects") }
func (l *Ledger) packDir() string    { return filepath.Join(l.dir, "objects", "pack") }

// Refused says why a directory is not recorded, "" if it may be: a home, and what has the data
// directory in it, would be copied into itself.
func Refused(root, home, dataDir string) string {
	root = filepath.Clean(root)
	real, err := filepath.EvalSymlinks(dataDir)
	if err != nil {
		real = dataDir
	}
	switch {
	case root == filepath.Dir(root):
		return "the file system's root is not recorded"
	case home != "" && (root == filepath.Clean(home) || sameFile(root, home)):
		return "a home directory is not recorded"
	case within(dataDir, root), within(real, root):
		return "the data directory is in it"
	case within(root, dataDir), within(root, real):
		return "it is in the data directory"
	}
	return ""
}

// sameFile reports whether two names are one file.
func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// config is that of the bare git directory. No gc runs in it by itself.
const config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"

// prepare makes the store.
func (l *Ledger) prepare() error {
	if err := l.opts.Fault("prepare"); err != nil {
		return err
	}
	for _, dir := range []string{l.packDir(), filepath.Join(l.dir, "refs")} {
		if err := lockfile.MakeDirs(dir, 0o700); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{"config": config, "HEAD": "ref: refs/heads/none\n", "root": l.opts.Root + "\n"} {
		path := filepath.Join(l.dir, name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
		lockfile.Adopt(path)
	}
	return nil
}

// lock makes the store if it is missing, and locks it until unlock is called. With sync it makes
// durable what other processes have left.
func (l *Ledger) lock(ctx context.Context, sync bool) (unlock func(), err error) {
	if err := l.prepare(); err != nil {
		return nil, err
	}
	free, err := lockfile.Lock(ctx, filepath.Join(l.dir, "lock"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(l.packDir()); err != nil { // it was removed while we waited
		if err := l.prepare(); err != nil {
			return nil, errors.Join(err, free())
		}
	}
	l.sweep(sync)
	return func() { _ = free() }, nil
}

// sweep removes what killed processes left, and with sync makes durable what they have written as a
// whole. The caller has the lock.
func (l *Ledger) sweep(sync bool) {
	var packs []string
	indexed := make(map[string]bool)
	linesSynced, complete := false, true
	for _, dir := range []string{l.packDir(), l.dir} {
		names, err := os.ReadDir(dir)
		complete = complete && err == nil
		for _, n := range names {
			path := filepath.Join(dir, n.Name())
			switch name := n.Name(); {
			case strings.HasPrefix(name, tempPrefix), strings.HasPrefix(name, ".new-"),
				strings.HasPrefix(name, ".applying.json"), strings.HasPrefix(name, ".snapshots.jsonl"):
				_ = os.Remove(path)
			case strings.HasSuffix(name, ".pack"):
				packs = append(packs, path)
			case strings.HasPrefix(name, unsyncedPrefix):
				whole, err := looksWhole(path)
				if err == nil && !whole {
					removePack(path)
					continue
				}
				indexed[packOf(path)] = true
				// The line first: as long as the index has this name, somebody looks at both again.
				linesSynced = linesSynced || sync && l.syncLines() == nil
				if err == nil && linesSynced {
					_ = syncPack(path, l.opts.Fault) // if not now, by the next
				}
			default:
				indexed[packOf(path)] = true
			}
		}
	}
	for _, pack := range packs { // one whose index was not written
		if complete && !indexed[strings.TrimSuffix(pack, ".pack")] {
			_ = os.Remove(pack)
		}
	}
}

// Why it is not known what a tree was.
const (
	UnknownFull       = "disk_full"
	UnknownLarge      = "too_large"
	UnknownUnreadable = "unreadable"
	UnknownLate       = "late"
)

// WhyUnknown says why it is not known what a tree was, from the error of its scan. It never means that nothing changed.
func WhyUnknown(err error) string {
	busy := (*lockfile.BusyError)(nil)
	switch {
	case errors.Is(err, errFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return UnknownFull
	case errors.Is(err, errTooManyFiles):
		return UnknownLarge
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &busy):
		return UnknownLate
	}
	return UnknownUnreadable
}
