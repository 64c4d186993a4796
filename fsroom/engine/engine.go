// Package engine is what rooms need of a service that several hosts share: it puts the
// changes of a room in order and keeps them. What a change means, an engine does not know.
//
// Each host has a mirror of the rooms, which is a data directory as it is without an
// engine. The engine decides which change comes next; the mirror is what is read.
package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// A Revision is the place of an entry in the sequence of a room, as the engine counts.
// Revisions of a room grow and may have gaps. 0 is before the first entry.
type Revision uint64

// An Entry is a change or a note. A change is what one command commits: whole lines of a
// journal. A note is said between two changes, is kept for a while and is no part of
// the history: an owner renews its lease by one.
type Entry struct {
	Revision Revision
	At       time.Time // when the engine committed it, on its own clock; zero if it is not known
	Lines    []byte    // of a change; nil in a note
	Note     []byte    // nil in a change
}

// An Info describes an engine.
type Info struct {
	ID       string    // another store has another one, also at the same address
	Now      time.Time // on the engine's clock, by which leases are judged
	Durable  bool      // what was acknowledged survives a power cut
	Restored bool      // the store was copied back, or begun anew: changes are refused but those of a repair
}

// A Record is what an agent's host says of the agent. It may be lost, or old.
type Record struct {
	At   time.Time // when the engine got it, on its own clock
	Body []byte
}

var (
	// ErrConflict means that the room's last entry is not the expected one. Nothing has
	// happened.
	ErrConflict = errors.New("another entry came first")
	// ErrRewound means that the engine does not have the entry at a revision that it has
	// acknowledged before. It lost entries, or was restored from a backup.
	ErrRewound = errors.New("the engine has lost entries")
	// ErrTooLarge means that an entry is longer than the engine takes.
	ErrTooLarge = errors.New("the entry is too large for the engine")
)

// An UnreachableError says more of an engine that cannot be reached. Err says what happened
// last.
type UnreachableError struct {
	Servers []string  // their addresses
	Since   time.Time // when this process noticed it first, on the clock of its host
	Err     error
}

func (e *UnreachableError) Error() string {
	return strings.Join(e.Servers, ", ") + ": " + e.Err.Error()
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// A BehindError means that the engine has less of a room than this host, and why it could not confirm that it has
// no more. It does not wrap Err: for who reads, such an engine is away.
type BehindError struct{ Err error }

func (e *BehindError) Error() string { return "the server that answers is behind: " + e.Err.Error() }

// Patience is how long an engine that answered a moment ago is waited for.
const Patience = 4 * time.Second

// Slack is how much longer an engine is waited for on a machine that may stand still: 0 but in
// tests, which set it before there is an engine.
var Slack time.Duration

// Jitter returns a random time around d, so that not all hosts come at once.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(max(d, 1)) }

// Pause waits for a random time around d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, Jitter(d))
	defer cancel()
	<-ctx.Done()
}

// An Engine orders the changes of rooms that several hosts share. A room's name is its
// folder and its name with a dot between them, such as "rooms.api-1c6f…". The methods
// may be called by several goroutines.
//
// Every error that is not one of the three above, and is no [code.Error] with the code
// in_doubt, engine_denied, engine_restored or disk_full, means that the engine cannot be reached, and that
// nothing was changed. An engine that does not answer lets a few calls wait and then
// returns such errors at once for a while: a command makes several calls, and is told
// within [Patience] that nothing can be done.
type Engine interface {
	// Info describes the engine.
	Info(ctx context.Context) (Info, error)

	// Read calls fn with the entries of a room from a revision on, in order, with none left
	// out. What other hosts commit meanwhile may be missing: Confirm tells. The entry at
	// the revision, which is that of a change or 0 for the beginning, comes first: if it is
	// not there any more, the error is ErrRewound. Notes that have expired are omitted.
	// Entries share no memory with the engine, and their times are known. An error of fn
	// is returned as it is.
	Read(ctx context.Context, room string, from Revision, fn func(Entry) error) error

	// Append commits an entry if the last one of the room, of those that Read delivers, is
	// at after. It returns the entry with its revision. When the error is nil,
	// the entry is as durable as Info says. With ErrConflict, and with any other error but
	// one with the code in_doubt, nothing has happened. keep is how long a note is kept;
	// it is 0 for a change, which is kept for ever.
	Append(ctx context.Context, room string, after Revision, e Entry, keep time.Duration) (Entry, error)

	// Confirm returns nil only if at some moment since the call the room's last entry was
	// at the revision, by the word of a majority of the engine's servers. ErrConflict: it
	// was not. Any other error means that it is not known.
	Confirm(ctx context.Context, room string, at Revision) error

	// Watch calls notify after each entry, and when one may have been missed, until stop is called. When Watch returns,
	// no later entry goes unnoticed. Calls may come late.
	Watch(ctx context.Context, room string, notify func()) (stop func(), err error)

	// Rooms returns all rooms with the prefix that ever had a change, and how many entries
	// of each Read delivers, in a few round trips however many rooms there are. What was
	// committed meanwhile may be missing.
	Rooms(ctx context.Context, prefix string) (map[string]int, error)

	// Publish replaces the record of an agent, which is kept for a while. Records returns
	// those of all agents of a room. Agents are named by their file names, see [fsroom.Room.Agent].
	Publish(ctx context.Context, room, agent string, record []byte, keep time.Duration) error
	Records(ctx context.Context, room string) (map[string]Record, error)

	// Announce says that a process is there, until withdraw is called or the process ends,
	// however it ends. It calls again when the engine was away and is back: it may have lost the
	// record of the agent. Announced asks whether there is one; an error means that nobody has answered.
	Announce(ctx context.Context, room, agent, what string, again func()) (withdraw func(), err error)
	Announced(ctx context.Context, room, agent, what string) (bool, error)

	// Notify reaches the processes of all hosts that listen by Notified at this moment.
	// It is not stored and may be lost. Notified calls fn with "" when it may have missed
	// a notification.
	Notify(room string, agents ...string)
	Notified(ctx context.Context, room string, fn func(agent string)) (stop func(), err error)

	// Probe stores something that is no entry, for a moment: whether this user may write, and
	// whether there is space, only that shows.
	Probe(ctx context.Context) error

	// Shut says that a host has more of a room than the engine, and when the last of it was made, zero if that is not
	// known: no Append is let through until Reopen says that the host has given it what it has. For "" Reopen says that
	// all that hosts had until then, and the engine lacks, is given up: no Shut counts for it any more. Repair lets
	// Append of this process through all the same.
	Shut(ctx context.Context, host string, last time.Time) error
	Reopen(ctx context.Context, host string) error
	Repair()

	// Interrupt says that a signal has ended the command: the engine is not waited for any more, but
	// for an Append that is under way. Other calls end at once with [context.Canceled].
	Interrupt()

	// Close ends the connection.
	Close() error
}
