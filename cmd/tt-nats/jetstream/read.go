package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

const (
	stream  = "TT"
	agents  = "TTAGENTS"
	noteKey = "Tt-Note" // a header of notes

	metaID       = "tt-id"       // where the metadata of the stream name the engine
	metaRestored = "tt-restored" // there in a stream that takes repairs alone, see tt-natsd
)

// info returns what the leader says of the stream.
func (e *Engine) info(ctx context.Context, opts ...jetstream.StreamInfoOpt) (v *jetstream.StreamInfo, err error) {
	err = e.call(ctx, "$JS.API.STREAM.INFO."+stream, e.patience(), func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		if v = s.CachedInfo(); len(opts) > 0 {
			v, err = s.Info(ctx, opts...)
		}
		return err
	})
	return v, err
}

// Info implements [engine.Engine]. Whether it is durable say the servers, if each is a tt-natsd: JetStream tells clients
// nothing of it.
func (e *Engine) Info(ctx context.Context) (engine.Info, error) {
	if err := e.connect(ctx); err != nil {
		return engine.Info{}, e.explain(err)
	}
	answers, err := e.conn.SubscribeSync(e.conn.NewInbox())
	if err == nil {
		defer func() { _ = answers.Unsubscribe() }()
		err = e.conn.PublishRequest("ttserver", answers.Subject, nil)
	}
	if err != nil {
		return engine.Info{}, e.explain(err)
	}
	v, err := e.info(ctx)
	if err != nil {
		return engine.Info{}, err
	}
	return engine.Info{ID: v.Config.Metadata[metaID], Now: v.TimeStamp.UTC(), Durable: e.isDurable(ctx, answers, v.Cluster),
		Restored: v.Config.Metadata[metaRestored] != ""}, nil
}

// isDurable reports whether all servers that keep the stream, and are not down, answer that they sync.
func (e *Engine) isDurable(ctx context.Context, answers *nats.Subscription, servers *jetstream.ClusterInfo) bool {
	missing := make(map[string]bool)
	if servers != nil {
		missing[servers.Leader] = servers.Leader != ""
		for _, peer := range servers.Replicas {
			missing[peer.Name] = !peer.Offline
		}
	}
	maps.DeleteFunc(missing, func(_ string, is bool) bool { return !is })
	ctx, cancel := context.WithTimeout(ctx, e.patience())
	defer cancel()
	for {
		var answer struct {
			Server  string
			Durable bool
		}
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil || json.Unmarshal(m.Data, &answer) != nil || !answer.Durable {
			return false
		}
		if delete(missing, answer.Server); len(missing) == 0 {
			return true
		}
	}
}

// ask decodes the answer to a request into v.
func (e *Engine) ask(ctx context.Context, subject string, query []byte, v any) error {
	var answer *nats.Msg
	err := e.call(ctx, subject, e.patience(), func(ctx context.Context) (err error) {
		answer, err = e.conn.RequestWithContext(ctx, subject, query)
		return err
	})
	if err == nil {
		err = e.explain(json.Unmarshal(answer.Data, v))
	}
	return err
}

// leader asks the stream's leader for a message; the revision is 0 if there is none. [jetstream.Stream.GetMsg] asks
// any server where the stream allows direct gets, and one that is behind knows an older last entry.
func (e *Engine) leader(ctx context.Context, query string) (engine.Entry, error) {
	var v struct {
		Error   *jetstream.APIError
		Message struct {
			Seq        uint64
			Hdrs, Data []byte
			Time       time.Time
		}
	}
	switch err := e.ask(ctx, "$JS.API.STREAM.MSG.GET."+stream, []byte(query), &v); {
	case err != nil:
		return engine.Entry{}, err
	case v.Error != nil && v.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return engine.Entry{}, nil
	case v.Error != nil:
		return engine.Entry{}, e.explain(v.Error)
	}
	header, _ := nats.DecodeHeadersMsg(v.Message.Hdrs)
	return newEntry(&jetstream.RawStreamMsg{Sequence: v.Message.Seq, Time: v.Message.Time, Header: header, Data: v.Message.Data}), nil
}

func (e *Engine) last(ctx context.Context, room string) (engine.Entry, error) {
	return e.leader(ctx, fmt.Sprintf(`{"last_by_subj":%q}`, e.subject("ttlog", room)))
}

func (e *Engine) nextAfter(ctx context.Context, room string, after engine.Revision) (engine.Entry, error) {
	return e.leader(ctx, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, after+1, e.subject("ttlog", room)))
}

// newEntry returns the entry of a message. A change that is not kept for ever is none: hosts that
// come later would not know it.
func newEntry(m *jetstream.RawStreamMsg) engine.Entry {
	entry := engine.Entry{Revision: engine.Revision(m.Sequence), At: m.Time.UTC()}
	switch {
	case m.Header.Get(noteKey) != "":
		entry.Note = m.Data
	case m.Header.Get(jetstream.MsgTTLHeader) != "" || m.Data == nil:
		entry.Lines = []byte{}
	default:
		entry.Lines = m.Data
	}
	return entry
}

// Read implements [engine.Engine]. The leader says which entry is the last one. Those
// before it come from any server; what that one does not have yet comes from the leader.
// Each request has its own time: a long room takes as long as it takes.
func (e *Engine) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	last, err := e.last(ctx, room)
	switch {
	case err != nil:
		return err
	case last.Revision < from:
		return e.rewound(ctx, room, last.Revision)
	}
	after, first := max(from, 1)-1, from
	deliver := func(entry engine.Entry) error {
		first, after = 0, entry.Revision
		return fn(entry)
	}
	if after+1 < last.Revision {
		for m, err := range e.scan(ctx, stream, e.subject("ttlog", room), uint64(after)+1) {
			entry := engine.Entry{}
			if err == nil {
				entry = newEntry(m)
			}
			if err != nil || entry.Revision > last.Revision || first > 0 && entry.Revision != first {
				break
			}
			if err := deliver(entry); err != nil || after == last.Revision {
				return err
			}
		}
	}
	for after < last.Revision {
		entry := last
		if after+1 < last.Revision {
			if entry, err = e.nextAfter(ctx, room, after); err != nil || entry.Revision == 0 {
				return err // the rest were notes that have expired
			}
		}
		if first > 0 && entry.Revision != first {
			return e.rewound(ctx, room, last.Revision)
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

const (
	batchMessages = 8192
	batchBytes    = 1 << 20
)

// scan goes through the messages of a stream from a sequence number on whose subjects match, as far as the server
// that answers has got.
func (e *Engine) scan(ctx context.Context, stream, subject string, from uint64) iter.Seq2[*jetstream.RawStreamMsg, error] {
	return func(yield func(*jetstream.RawStreamMsg, error) bool) {
		for before := uint64(0); from != before; {
			before = from
			goOn := true
			err := e.batch(ctx, stream, func(ctx context.Context) (messages, error) {
				return jetstreamext.GetBatch(ctx, e.js, stream, batchMessages, jetstreamext.GetBatchSubject(subject),
					jetstreamext.GetBatchSeq(before), jetstreamext.GetBatchMaxBytes(batchBytes))
			}, func(m *jetstream.RawStreamMsg) bool {
				if m.Sequence >= from {
					from = m.Sequence + 1
					goOn = yield(m, nil)
				}
				return goOn
			})
			if !goOn || err != nil && !yield(nil, err) || err != nil {
				return
			}
		}
	}
}

type messages = iter.Seq2[*jetstream.RawStreamMsg, error]

// batch makes a request that several messages answer, until fn says that it has enough. The iterators of jetstreamext
// end without an error when nobody answers any more.
func (e *Engine) batch(ctx context.Context, stream string, get func(context.Context) (messages, error),
	fn func(*jetstream.RawStreamMsg) bool) error {
	return e.call(ctx, "$JS.API.DIRECT.GET."+stream, callTimeout+engine.Slack, func(ctx context.Context) error {
		all, err := get(ctx)
		if err != nil {
			return err
		}
		for m, err := range all {
			if errors.Is(err, jetstreamext.ErrNoMessages) {
				return nil
			}
			if err != nil {
				return err
			}
			if !fn(m) {
				return nil
			}
		}
		return ctx.Err()
	})
}

// Rooms implements [engine.Engine].
func (e *Engine) Rooms(ctx context.Context, prefix string) (map[string]int, error) {
	all := "ttlog." + e.ns + "."
	wildcard := prefix[:strings.LastIndexByte(prefix, '.')+1] + ">" // matches what begins with the prefix, and maybe others
	v, err := e.info(ctx, jetstream.WithSubjectFilter(all+wildcard))
	if err != nil {
		return nil, err
	}
	rooms := make(map[string]int)
	for subject, entries := range v.State.Subjects {
		if name := strings.TrimPrefix(subject, all); strings.HasPrefix(name, prefix) {
			rooms[name] = int(entries)
		}
	}
	return rooms, nil
}
