package fsroom

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// Rules give the rooms of one kind their meaning. S is a pointer to the state of such
// a room: all kinds then share one instance of the compiled code.
type Rules[S any] struct {
	Folder string // under the data directory: "rooms"
	Format int    // version of the events; rooms of a higher one are refused
	// Version is the version of Apply. A state.json of another version is folded anew:
	// the program that wrote it may not have known all of the state.
	Version int
	New     func(room string) S         // the state of a room without events
	Apply   func(S, *event.Event) error // folds one event
	Clone   func(S) S                   // a copy that Apply can change
	// Live reports whether a life of the room is in progress. It is false before the
	// first event and after the one that ends the room, whose journal is then archived.
	Live func(S) bool
	// Continue prepares the state of a room without events for its next life: it sets
	// the counters that go on through all lives from the last event of the life before.
	Continue func(s S, last *event.Event)
	// Notify returns the ids of the agents whose wake files a change touches, see
	// [Room.AwaitAs]. It omits agents to which the change makes no difference yet. If it
	// is nil, agents are not notified one by one, and all wait for the journal.
	Notify func(before, after S, events []event.Event) []string
	// Listeners returns the ids of the agents whose listeners a change notifies, see
	// [Store.NotifyListener]. If it is nil, a change notifies none.
	Listeners func(before, after S, events []event.Event) []string
	// Reopen returns the event that would open a room as s is, with type, authorship and
	// payload. A repair puts it in the place of a damaged one. It may be nil.
	Reopen func(s S) event.Event
	// Share returns how the store's engine shares a room. It is New of package mirror in a
	// program that has engines, and nil in others.
	Share func(*Files[S]) Shared[S]
	// SharedFiles are the names of the files of an agent that its host makes known to the
	// others; those that do not end in .json are marks.
	SharedFiles []string
}

// Files are the directory of a room: its journal and the projection of that, the archive,
// and the directories of its agents. They do not say who orders the changes: that is the
// [Backend] of a [Room].
type Files[S any] struct {
	store       *Store
	rules       *Rules[S]
	name        string
	dir         string
	dirsChecked atomic.Bool // the last checkDirs returned nil
	agents      sync.Map    // whose directories were looked at since then, an [Agent] for each id
}

// FilesOf returns the files of the room with the name.
func FilesOf[S any](s *Store, rules *Rules[S], name string) *Files[S] {
	return &Files[S]{store: s, rules: rules, name: name, dir: filepath.Join(s.dir, rules.Folder, name)}
}

// A Room is one room of a store, whether it exists or not.
type Room[S any] struct {
	*Files[S]
	backend Backend[S]
	shared  Shared[S] // the backend of a room that an engine shares with other hosts; nil: it is of this host alone
}

// At returns the room with the name, which is also its room_id.
func At[S any](s *Store, rules *Rules[S], name string) *Room[S] {
	files := FilesOf(s, rules, name)
	if rules.Share != nil && (s.opts.Engine != nil || s.opts.Host != "") {
		shared := rules.Share(files)
		return &Room[S]{files, shared, shared}
	}
	return &Room[S]{files, local[S]{files}, nil}
}

// RoomName returns the name of the room for a path, or for the name that several hosts have
// for it. It is readable and never changes. "@" and a room's name is for that room.
func RoomName(canonicalPath string) string {
	if name, ok := strings.CutPrefix(canonicalPath, "@"); ok {
		return name
	}
	sum := sha256.Sum256([]byte(canonicalPath))
	return slug(filepath.Base(canonicalPath)) + "-" + hex.EncodeToString(sum[:8])
}

// slug returns the part of a name that is safe in a file name on every system.
func slug(name string) string {
	const longest = 40
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
		if b.Len() == longest {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "room"
}

// Name returns the room's name.
func (r *Files[S]) Name() string { return r.name }

// Store returns the store that has the room.
func (r *Files[S]) Store() *Store { return r.store }

// Rules returns the rules of the room's kind.
func (r *Files[S]) Rules() *Rules[S] { return r.rules }

// Dir returns the room's directory.
func (r *Files[S]) Dir() string { return r.dir }

// JournalPath returns the path of the current life's journal.
func (r *Files[S]) JournalPath() string { return filepath.Join(r.dir, journalFile) }

const journalFile = "journal.jsonl"

// StatePath returns the path of the projection.
func (r *Files[S]) StatePath() string { return filepath.Join(r.dir, "state.json") }

// LockPath returns the path of the lock file.
func (r *Files[S]) LockPath() string { return filepath.Join(r.dir, "lock") }

// TempDir returns the directory for files that replace others.
func (r *Files[S]) TempDir() string { return filepath.Join(r.dir, "tmp") }

// AgentsDir returns the directory that has those of the agents.
func (r *Files[S]) AgentsDir() string { return filepath.Join(r.dir, "agents") }

// Exists reports, at the cost of one stat, whether a life of the room may be in progress.
// A room that has ended has no journal, and one that has lost its journal has a state.json that
// says that it has not ended. Exists is true if a file has the name of one of the
// directories above, or the caller has no access: every other method then returns an error that says so.
// With an engine it asks for a room that the mirror does not have, and is true if the
// engine does not answer.
func (r *Room[S]) Exists() bool {
	return r.HasJournal() || r.shared != nil && r.shared.Exists()
}

// HasJournal reports whether the room has a journal on this host, or has lost it. It asks no engine, unlike [Room.Exists].
func (r *Files[S]) HasJournal() bool {
	info, err := os.Lstat(r.JournalPath())
	return err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) ||
		errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) ||
		(err == nil || errors.Is(err, fs.ErrNotExist)) && r.liveWithout()
}

// Known returns the room as this host has it: [Room.View] without asking an engine.
func (r *Files[S]) Known() (*Snapshot[S], error) {
	snap, err := r.Load()
	return snap, r.store.Explain(err, r.dir)
}

// KnownAfter is [Files.Known] for who has read the room as seen: it returns seen if nothing has happened since.
func (r *Files[S]) KnownAfter(seen *Snapshot[S]) (*Snapshot[S], error) {
	if info, err := os.Lstat(r.JournalPath()); err == nil && seen.covers(info) {
		return seen, nil
	}
	return r.Known()
}

// HasDir reports whether the room has a directory, also after it has ended.
func (r *Files[S]) HasDir() bool {
	info, err := os.Lstat(r.dir)
	return err == nil && info.IsDir()
}

// A Snapshot is a room at one moment.
type Snapshot[S any] struct {
	State    S
	Position journal.Position // the end of what State covers
	Turn     int64            // turn_id of the last event in State
	Torn     int64            // bytes of an unfinished change behind Position
	// Lost are events that the journal has no more, nil if it has all: see Untold.
	Lost  *event.Lost
	Stale bool // the journal is an old copy of one that is in the archive; the next change moves it aside

	mtime    int64 // of the journal, as covered by state.json
	fresh    bool  // state.json covers exactly this
	outdated bool  // see Outdated
}

// Advance makes the snapshot end behind further events, the last of which is one of a turn.
func (s *Snapshot[S]) Advance(end journal.Position, turn int64) {
	s.Position, s.Turn, s.fresh = end, turn, false
}

// Outdated reports whether the snapshot is from a state.json that a program with other
// rules wrote. Its State may lack what that program does not know.
func (s *Snapshot[S]) Outdated() bool { return s.outdated }

// View returns the room as it is now. It takes no lock and writes nothing. A room without
// events has the state of [Rules].New.
func (r *Room[S]) View() (*Snapshot[S], error) {
	if err := r.store.Step(StepLoad); err != nil {
		return nil, r.store.Explain(err, r.dir)
	}
	snap, err := r.backend.View(context.Background())
	if err != nil {
		return nil, r.store.Explain(err, r.dir)
	}
	return snap, nil
}

// Refresh brings the mirrors of all rooms of a kind up to date, also of those that this
// host has not had yet. What failed is returned by room; an error means that the engine
// cannot be reached. Without an engine, Refresh does nothing.
func Refresh[S any](ctx context.Context, s *Store, rules *Rules[S]) (failed map[string]error, err error) {
	if shared := At(s, rules, "").shared; shared != nil {
		return shared.RefreshAll(ctx)
	}
	return nil, nil
}

// Rooms returns the names of all rooms of a kind that have a journal. With an engine it first
// brings the mirrors up to date, as [Refresh] does, unless the store is [Store.Offline].
func Rooms[S any](s *Store, rules *Rules[S]) ([]string, error) {
	if _, err := Refresh(context.Background(), s, rules); err != nil {
		return nil, err
	}
	names, err := folders(s, rules)
	names = slices.DeleteFunc(names, func(name string) bool { return !At(s, rules, name).HasJournal() })
	return names, s.Explain(err, s.dir)
}

// Folders returns the names of all rooms of a kind that have a directory.
func Folders[S any](s *Store, rules *Rules[S]) ([]string, error) {
	names, err := folders(s, rules)
	if errors.Is(err, syscall.ENOTDIR) { // doctor.CheckDir reports it
		err = nil
	}
	return names, s.Explain(err, s.dir)
}

func folders[S any](s *Store, rules *Rules[S]) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, rules.Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}
