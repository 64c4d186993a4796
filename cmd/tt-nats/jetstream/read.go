package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

const (
	stream  = "TT"
	agents  = "TTAGENTS"
	noteKey = "Tt-Note" // a header of notes

	headerSequence = "Nats-Sequence"
	headerLast     = "Nats-Last-Sequence"
	headerTime     = "Nats-Time-Stamp"
	headerSubject  = "Nats-Subject"
	headerStatus   = "Status"
)

// An apiError is an error of the JetStream API.
type apiError struct {
	Code    int    `json:"code"`
	ErrCode int    `json:"err_code"`
	Text    string `json:"description"`
}

func (a *apiError) Error() string { return fmt.Sprintf("%s (%d)", a.Text, a.ErrCode) }

// Error numbers of JetStream.
const (
	accountFull   = 10002 // the limit of the account, which tt-natsd sets when the disk is nearly full
	serverFull    = 10023
	noMessage     = 10037
	noStream      = 10059
	wrongSequence = 10071 // the expected last sequence is not the last
	inFlight      = 10164 // another message with the same expectation is on its way
	unavailable   = 10008 // there is no leader
	notLeader     = 10009 // or another one
)

// decodeAnswer decodes an answer into v. The error is an *apiError if it is one.
func decodeAnswer(m *nats.Msg, v any) error {
	var failed struct{ Error *apiError }
	if err := errors.Join(json.Unmarshal(m.Data, &failed), json.Unmarshal(m.Data, v)); err != nil {
		return fmt.Errorf("an answer of the server: %w", err)
	}
	if failed.Error != nil {
		return failed.Error
	}
	return nil
}

// get asks the stream's leader for one message. It returns false if there is none.
func (e *Engine) get(ctx context.Context, query string) (entry engine.Entry, found bool, err error) {
	m := nats.NewMsg("$JS.API.STREAM.MSG.GET." + stream)
	m.Data = []byte(query)
	answer, err := e.request(ctx, m)
	if err != nil {
		return entry, false, e.explain(err)
	}
	var v struct {
		Message struct {
			Seq  uint64
			Hdrs []byte
			Data []byte
			Time time.Time
		}
	}
	err = decodeAnswer(answer, &v)
	if refusal(err) == noMessage {
		return entry, false, nil
	}
	if err != nil {
		return entry, false, e.explain(err)
	}
	header, _ := nats.DecodeHeadersMsg(v.Message.Hdrs)
	return newEntry(v.Message.Seq, v.Message.Time, header, v.Message.Data), true, nil
}

// newEntry returns the entry of a message. A change that is not kept for ever is none: hosts that
// come later would not know it.
func newEntry(seq uint64, at time.Time, h nats.Header, data []byte) engine.Entry {
	entry := engine.Entry{Revision: engine.Revision(seq), At: at.UTC()}
	switch {
	case h.Get(noteKey) != "":
		entry.Note = data
	case h.Get(headerTTL) != "" || data == nil:
		entry.Lines = []byte{}
	default:
		entry.Lines = data
	}
	return entry
}

func (e *Engine) last(ctx context.Context, room string) (engine.Entry, bool, error) {
	return e.get(ctx, fmt.Sprintf(`{"last_by_subj":%q}`, e.subject("ttlog", room)))
}

func (e *Engine) nextAfter(ctx context.Context, room string, after engine.Revision) (engine.Entry, bool, error) {
	return e.get(ctx, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, after+1, e.subject("ttlog", room)))
}

// fewEntries is how many entries are asked for one by one before they are asked for in
// batches, which any server answers, also one that is behind.
const fewEntries = 4

// Read implements [engine.Engine]. The leader says which entry is the last one. Those
// before it come from any server; what that one does not have yet comes from the leader.
// Each request has its own time: a long room takes as long as it takes.
func (e *Engine) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	last, found, err := e.last(ctx, room)
	switch {
	case err != nil:
		return err
	case !found && from == 0:
		return nil
	case !found || last.Revision < from:
		return e.rewound(ctx, room, last.Revision)
	}
	after, first := max(from, 1)-1, from
	deliver := func(entry engine.Entry) error {
		if first > 0 && entry.Revision != first {
			return e.rewound(ctx, room, last.Revision)
		}
		first, after = 0, entry.Revision
		return fn(entry)
	}
	for n := 0; after < last.Revision; n++ {
		entry := last
		switch {
		case n == fewEntries: // as far as the server that answers has got
			err := e.scan(ctx, stream, e.subject("ttlog", room), uint64(after)+1, func(seq uint64, at time.Time, m *nats.Msg) error {
				if engine.Revision(seq) > last.Revision {
					return errEnough
				}
				err := deliver(newEntry(seq, at, m.Header, m.Data))
				if err == nil && after == last.Revision {
					err = errEnough
				}
				return err
			})
			if err != nil && err != errEnough {
				return err
			}
			n = -1
			continue
		case after+1 < last.Revision:
			if entry, found, err = e.nextAfter(ctx, room, after); err != nil {
				return err
			}
			if !found {
				return nil // the rest were notes that have expired
			}
		}
		if err := deliver(entry); err != nil {
			return err
		}
	}
	return nil
}

// rewound returns ErrRewound if a majority of the servers agree on the last revision: a
// server that is cut off may believe to be the leader and know an old one. In a store that was
// copied back a repair takes what it finds: other hosts repair it too, at revisions of their own.
func (e *Engine) rewound(ctx context.Context, room string, last engine.Revision) error {
	err := e.Confirm(ctx, room, last)
	if err != nil && !(e.repairing.Load() && code.Of(err) == code.EngineRestored) {
		return &engine.BehindError{Err: err}
	}
	return engine.ErrRewound
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// scan calls fn with the messages of a stream from a sequence number on whose subjects match,
// as far as the server that answers has got.
func (e *Engine) scan(ctx context.Context, stream, subject string, from uint64,
	fn func(seq uint64, at time.Time, m *nats.Msg) error) error {
	for {
		query := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":8192,"max_bytes":4194304}`, from, subject)
		next, done, err := e.ask(ctx, "$JS.API.DIRECT.GET."+stream, query)
		if err != nil {
			return err
		}
		after, err := scanBatch(next, from, fn)
		done()
		if err != nil || after == from {
			return err // this server has no more
		}
		from = after
	}
}

// scanBatch calls fn with the messages of one batch, and returns where the next one begins.
func scanBatch(next func() (*nats.Msg, error), from uint64, fn func(seq uint64, at time.Time, m *nats.Msg) error) (uint64, error) {
	for {
		m, err := next()
		if err != nil {
			return from, err
		}
		if m.Header.Get(headerStatus) != "" || len(m.Header) == 0 {
			return from, nil
		}
		seq, err := strconv.ParseUint(m.Header.Get(headerSequence), 10, 64)
		if err != nil {
			return from, fmt.Errorf("an answer of the server: %w", err)
		}
		if seq < from {
			continue
		}
		at, _ := time.Parse(time.RFC3339Nano, m.Header.Get(headerTime))
		if err := fn(seq, at.UTC(), m); err != nil {
			return from, err
		}
		from = seq + 1
	}
}

// ReadAll implements [engine.Engine].
func (e *Engine) ReadAll(ctx context.Context, prefix string, fn func(room string, entry engine.Entry) error) error {
	all := "ttlog." + e.ns + "."
	return e.scan(ctx, stream, all+wildcard(prefix), 1, func(seq uint64, at time.Time, m *nats.Msg) error {
		room := strings.TrimPrefix(m.Header.Get(headerSubject), all)
		if !strings.HasPrefix(room, prefix) {
			return nil
		}
		return fn(room, newEntry(seq, at, m.Header, m.Data))
	})
}

// wildcard returns what matches all subjects that begin with the prefix, and maybe others.
func wildcard(prefix string) string { return prefix[:strings.LastIndexByte(prefix, '.')+1] + ">" }
