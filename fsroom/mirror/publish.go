package mirror

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/journal/wire"
)

// mostPublished is how many bytes of a history go into one entry of an engine, unless one
// change is longer: a room that is not large appears all at once.
const mostPublished = 512 << 10

// A Comparison is what an engine has of a history.
type Comparison struct {
	Events int64 // of the history
	More   bool  // and others after all of them
	// Copier is the host that is about to publish the room, "" for none.
	Copier string

	// Skipped are the revisions of entries that are no change of the room.
	Skipped []engine.Revision

	end  int // of the history, in bytes
	last engine.Revision
}

// A copying is a note that says who is about to publish a room.
type copying struct {
	Host string `json:"copied_by,omitempty"`
}

// Compare reads what the engine has of a room. The error has the code corrupt_room if it has
// another event in the place of one of the history.
func Compare(ctx context.Context, e engine.Engine, room string, h *history.History) (c Comparison, err error) {
	rest := h.Lines
	var differs error
	var changes chain
	err = e.Read(ctx, room, 0, func(entry engine.Entry) error {
		c.last = entry.Revision
		if entry.Lines == nil {
			var n copying
			_ = wire.Decode(entry.Note, &n) // others have other fields
			c.Copier = n.Host
			return nil
		}
		if !changes.follows(entry) {
			return nil
		}
		n := min(len(rest), len(entry.Lines))
		if !bytes.Equal(rest[:n], entry.Lines[:n]) {
			_, name, _ := strings.Cut(room, ".")
			differs = history.Differs(name, c.Events+history.DiffersAt(rest, entry.Lines), "at the engine")
			return differs
		}
		rest, c.end, c.More = rest[n:], c.end+n, c.More || n < len(entry.Lines)
		c.Events += int64(bytes.Count(entry.Lines[:n], []byte("\n")))
		return nil
	})
	if err == nil {
		err = changes.err()
	}
	c.Skipped = changes.skipped
	if err != nil && differs == nil {
		err = ExplainEngine(err, room)
	}
	return c, err
}

// Publish gives the engine what it does not have of a history, in order, and each part
// only if nothing else came after the one before. It returns how many events that were. What
// others publish of the same history meanwhile is theirs; the error has the code corrupt_room if
// they publish something else. A call that failed or was killed can be repeated.
func Publish(ctx context.Context, e engine.Engine, room string, h *history.History) (added int64, err error) {
	most := mostPublished
	for try := 0; ; try++ {
		c, err := Compare(ctx, e, room, h)
		if err != nil || c.end == len(h.Lines) {
			return added, err
		}
		for err == nil && c.end < len(h.Lines) {
			end := part(h, c.end, most)
			var entry engine.Entry
			entry, err = e.Append(ctx, room, c.last, engine.Entry{Lines: h.Lines[c.end:end]}, 0)
			if err == nil {
				added += int64(bytes.Count(h.Lines[c.end:end], []byte("\n")))
				c.end, c.last = end, entry.Revision
			}
		}
		switch {
		case err == nil:
			return added, nil
		case errors.Is(err, engine.ErrTooLarge) && most > 0:
			most /= 2
		case errors.Is(err, engine.ErrConflict), code.Of(err) == code.InDoubt: // looking again tells
		default:
			return added, ExplainEngine(err, room)
		}
		if try == mostConflicts {
			return added, ExplainEngine(err, room)
		}
		if err := pause(ctx, try); err != nil {
			return added, err
		}
	}
}

// part returns the end of the part that begins at an offset: at least one change, and at
// most so many bytes of one life.
func part(h *history.History, from, most int) int {
	end := from
	for _, c := range h.Changes {
		if c.End <= from {
			continue
		}
		if end > from && c.End-from > most {
			break
		}
		end = c.End
		if c.Ends {
			break
		}
	}
	return end
}

// Reserve says for a while that the host is about to publish the room. The error is
// [engine.ErrConflict] if the room is not as it was compared.
func (c *Comparison) Reserve(ctx context.Context, e engine.Engine, room, host string, keep time.Duration) error {
	_, err := e.Append(ctx, room, c.last, engine.Entry{Note: wire.Append(nil, &copying{host})}, keep)
	return ExplainEngine(err, room)
}
