package fsroom

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/journal"
)

// ErrLifeEnded says that the room's journal was archived and no event will
// follow in it.
var ErrLifeEnded = errors.New("the room has ended")

// Follow delivers the events after a sequence number, in order and each as soon
// as it is in the journal, until ctx ends, whose cause it returns, or fn fails, or
// the life ends. It reads from the file at its own pace: writers never wait
// for it and nothing is dropped. After each batch it calls caughtUp, which may
// be nil and may end the stream with an error.
//
// It returns the sequence number of the last event delivered or passed over.
func (r *Room[S]) Follow(ctx context.Context, after int64, fn func(*journal.Event) error, caughtUp func() error) (int64, error) {
	log, err := r.openJournal()
	if err != nil {
		return after, err
	}
	if log == nil {
		return after, ErrLifeEnded
	}
	defer log.Close()
	bell := r.store.subscribe(r.dir, "journal.jsonl")
	defer func() { go bell.Close() }()
	at, err := log.Find(after + 1)
	if err != nil {
		return after, r.store.explain(err, r.JournalPath())
	}
	for {
		// Asked before reading: if it was moved away by then, the reading that
		// follows has seen its end.
		moved := log.Moved()
		at, err = r.scan(ctx, log, at, above(after, fn))
		if err == nil && caughtUp != nil {
			err = caughtUp()
		}
		if err == nil && moved {
			err = ErrLifeEnded
		}
		if err == nil {
			_, err = bell.wait(ctx, Pause{})
		}
		if err != nil {
			return max(at.Seq, after), err
		}
	}
}
