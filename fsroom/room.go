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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"

	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
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
	Fields  func(S) wire.Fields         // the JSON form of a state; nil: it is a json.Marshaler and json.Unmarshaler
	// Live reports whether a life of the room is in progress. It is false before the
	// first event and after the one that ends the room, whose journal is then archived.
	Live func(S) bool
	// Continue prepares the state of a room without events for its next life: it sets
	// the counters that go on through all lives from the last event of the life before.
	Continue func(s S, last *event.Event)
	// Notify returns the ids of the agents whose wake files a change touches, see
	// [Room.AwaitAs]. It omits agents to which the change makes no difference yet. If it
	// is nil, agents are not notified one by one, and all wait for the journal.
	Notify func(before, after S) []string
	// Listeners returns the ids of the agents whose listeners a change notifies, see
	// [Store.NotifyListener]. If it is nil, a change notifies none.
	Listeners func(before, after S, events []event.Event) []string
	// News returns the ids of the agents for which events of a change are news, see
	// [Room.AwaitNews]. If it is nil, there are none.
	News func(after S, events []event.Event) []string
	// Reopen returns the event that would open a room as s is, with type, authorship and
	// payload. A repair puts it in the place of a damaged one. It may be nil.
	Reopen func(s S) event.Event
	// Share returns how an engine shares a room: it is [NewMirror] in a program that has
	// engines, and nil in others.
	Share func(*Room[S], engine.Engine) Shared[S]
	// SharedFiles are the names of the files of an agent that its host makes known to the
	// others; those that do not end in .json are marks.
	SharedFiles []string
}

// A Room is one room of a store, whether it exists or not.
type Room[S any] struct {
	store       *Store
	rules       *Rules[S]
	name        string
	dir         string
	dirsChecked atomic.Bool // the last checkDirs returned nil
	shared      Shared[S]   // nil: the directory itself orders the changes
}

// At returns the room with the name, which is also its room_id.
func At[S any](s *Store, rules *Rules[S], name string) *Room[S] {
	r := &Room[S]{store: s, rules: rules, name: name, dir: filepath.Join(s.dir, rules.Folder, name)}
	if rules.Share != nil && (s.opts.Engine != nil || s.opts.Host != "") {
		r.shared = rules.Share(r, s.opts.Engine)
	}
	return r
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
func (r *Room[S]) Name() string { return r.name }

// Store returns the store that has the room.
func (r *Room[S]) Store() *Store { return r.store }

// Rules returns the rules of the room's kind.
func (r *Room[S]) Rules() *Rules[S] { return r.rules }

// Dir returns the room's directory.
func (r *Room[S]) Dir() string { return r.dir }

// JournalPath returns the path of the current life's journal.
func (r *Room[S]) JournalPath() string { return filepath.Join(r.dir, "journal.jsonl") }

// StatePath returns the path of the projection.
func (r *Room[S]) StatePath() string { return filepath.Join(r.dir, "state.json") }

// LockPath returns the path of the lock file.
func (r *Room[S]) LockPath() string { return filepath.Join(r.dir, "lock") }

// TempDir returns the directory for files that replace others.
func (r *Room[S]) TempDir() string { return filepath.Join(r.dir, "tmp") }

// AgentsDir returns the directory that has those of the agents.
func (r *Room[S]) AgentsDir() string { return filepath.Join(r.dir, "agents") }

// Exists reports, at the cost of one stat, whether a life of the room may be in progress.
// A room that has ended has no journal. Exists is true if a file has the name of one of the
// directories above: every other method then returns an error that says so.
// With an engine it asks for a room that the mirror does not have, and is true if the
// engine does not answer.
func (r *Room[S]) Exists() bool {
	return r.hasJournal() || r.shared != nil && r.shared.exists()
}

// HasJournal is [Room.Exists] of this host alone: it asks no engine.
func (r *Room[S]) HasJournal() bool { return r.hasJournal() }

func (r *Room[S]) hasJournal() bool {
	info, err := os.Lstat(r.JournalPath())
	return err == nil && info.Size() > 0 || errors.Is(err, syscall.ENOTDIR)
}

// IsShared reports whether the room is shared with other hosts by an engine.
func (r *Room[S]) IsShared() bool { return r.shared != nil }

// A Renewal returns the note to append, nil for none, and how long the engine keeps it. It
// may be called more than once.
type Renewal[S any] func(*Snapshot[S]) (note []byte, keep time.Duration, err error)

// Renew appends a note to the room, if note returns one, under the condition that nothing
// has happened since the room was as note got it, and then calls appended. The room is
// locked meanwhile, and has an engine.
func (r *Room[S]) Renew(ctx context.Context, note Renewal[S], appended func() error) error {
	return r.store.Explain(r.shared.renew(ctx, note, appended), r.dir)
}

// Note returns the last note of the room that this host has fetched, and when the engine
// got it, on its own clock; nil if there is none, or no engine.
func (r *Room[S]) Note() (note []byte, at time.Time) {
	if r.shared == nil {
		return nil, time.Time{}
	}
	return r.shared.note()
}

// Unreachable returns why the engine could not be reached when it was asked last for what
// this host does not have of the room: nil if it was, or if there is none. The room was
// up to date at the time asOf, which is zero if it never was.
func (r *Room[S]) Unreachable() (asOf time.Time, err error) {
	if r.shared == nil {
		return time.Time{}, nil
	}
	return r.shared.unreachable()
}

// BootOf returns the boot that another host has said it is in, "" if it is not known.
func (r *Room[S]) BootOf(host string) string {
	if r.shared == nil {
		return ""
	}
	return r.shared.boot(host)
}

// Known is [Room.View] of what this host has of the room. Nothing is asked of an engine.
func (r *Room[S]) Known() (*Snapshot[S], error) {
	snap, err := r.load()
	return snap, r.store.Explain(err, r.dir)
}

// Confirm is [Room.View] for those who need proof: at some moment since the call a majority
// of the engine's servers agreed that the room was as it is returned. It takes the room's
// lock. Without an engine it is View.
func (r *Room[S]) Confirm(ctx context.Context) (*Snapshot[S], error) {
	if r.shared == nil {
		return r.View()
	}
	snap, err := r.shared.confirm(ctx)
	return snap, r.store.Explain(err, r.dir)
}

// HasDir reports whether the room has a directory, also after it has ended.
func (r *Room[S]) HasDir() bool {
	info, err := os.Lstat(r.dir)
	return err == nil && info.IsDir()
}

// A Snapshot is a room at one moment.
type Snapshot[S any] struct {
	State    S
	Position journal.Position // the end of what State covers
	Turn     int64            // turn_id of the last event in State
	Torn     int64            // bytes of an unfinished change behind Position

	mtime    int64 // of the journal, as covered by state.json
	fresh    bool  // state.json covers exactly this
	outdated bool  // see Outdated
}

// Outdated reports whether the snapshot is from a state.json that a program with other
// rules wrote. Its State may lack what that program does not know.
func (s *Snapshot[S]) Outdated() bool { return s.outdated }

// View returns the room as it is now. It takes no lock and writes nothing. A room without
// events has the state of [Rules].New.
func (r *Room[S]) View() (*Snapshot[S], error) {
	if err := r.store.step(StepLoad); err != nil {
		return nil, r.store.Explain(err, r.dir)
	}
	var snap *Snapshot[S]
	var err error
	if r.shared != nil {
		snap, err = r.shared.view(context.Background())
	} else {
		snap, err = r.load()
	}
	if err != nil {
		return nil, r.store.Explain(err, r.dir)
	}
	return snap, nil
}

// Refresh brings the mirrors of all rooms of a kind up to date, also of those that this
// host has not had yet. What failed is returned by room; an error means that the engine
// cannot be reached. Without an engine, Refresh does nothing.
func Refresh[S any](ctx context.Context, s *Store, rules *Rules[S]) (failed map[string]error, err error) {
	if r := At(s, rules, ""); r.shared != nil {
		return r.shared.refreshAll(ctx)
	}
	return nil, nil
}

// FetchAgents asks the engine once what other hosts say of the agents of all rooms of a kind.
// Rooms that are looked at next, for a few seconds, need not ask for theirs. Without an
// engine, and where that fails, it does nothing.
func FetchAgents[S any](ctx context.Context, s *Store, rules *Rules[S]) {
	if r := At(s, rules, ""); r.shared != nil {
		r.shared.fetchAllRecords(ctx)
	}
}

// Rooms returns the names of all rooms of a kind that have a journal, after [Refresh].
// [Store.Offline] reads them without asking the engine again.
func Rooms[S any](s *Store, rules *Rules[S]) ([]string, error) {
	if _, err := Refresh(context.Background(), s, rules); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, rules.Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.Explain(err, s.dir)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && At(s, rules, e.Name()).hasJournal() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Folders returns the names of all rooms of a kind that have a directory.
func Folders[S any](s *Store, rules *Rules[S]) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, rules.Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) { // doctor.CheckDir reports it
		return nil, s.Explain(err, s.dir)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}
