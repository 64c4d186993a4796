package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

const (
	shortPause   = 2 * time.Millisecond  // until another message in flight is stored
	leaderPause  = 50 * time.Millisecond // while there is no leader
	confirmTTL   = time.Minute
	maxEntrySize = 4 << 20 // of the stream
)

// publish appends a message to a stream and returns its sequence number. A message that was not sent, since there
// is no connection, has reached nobody.
func (e *Engine) publish(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (seq engine.Revision, sent bool, err error) {
	err = e.call(ctx, m.Subject, e.patience(), func(ctx context.Context) error {
		ack, err := e.js.PublishMsg(ctx, m, append(opts, jetstream.WithRetryAttempts(0))...)
		if sent = !errors.Is(err, nats.ErrReconnectBufExceeded); err == nil {
			seq = engine.Revision(ack.Sequence)
		}
		return err
	})
	return seq, sent, err
}

// keptFor is the option of a message that is kept for a while, of which the shortest is a second.
func keptFor(keep time.Duration) jetstream.PublishOpt {
	return jetstream.WithMsgTTL(max(keep, time.Second))
}

// Append implements [engine.Engine]. All writers of a room expect on its own subject: a
// cluster compares what is in flight by the text of the expectation.
//
// Only an acknowledgement is believed. While leaders change, two servers may answer a message, and
// the one that refuses it need not be the one that stores it. So after a refusal, as without
// an answer, what stands behind the expected revision tells what became of the message:
// it, another one, or nothing yet. If it is nothing, the message is sent again, under the
// same condition.
func (e *Engine) Append(ctx context.Context, room string, after engine.Revision, entry engine.Entry,
	keep time.Duration) (engine.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+engine.Slack)
	defer cancel()
	if err := e.connect(ctx); err != nil {
		return engine.Entry{}, err
	}
	ctx = context.WithValue(ctx, change{}, true)
	began := time.Now()
	data := append(bytes.Clone(entry.Lines), entry.Note...)
	if len(data) > maxEntrySize || int64(len(data)) > e.conn.MaxPayload() {
		return engine.Entry{}, engine.ErrTooLarge
	}
	opts := []jetstream.PublishOpt{jetstream.WithExpectStream(stream), jetstream.WithExpectLastSequencePerSubject(uint64(after))}
	if keep > 0 {
		opts = append(opts, keptFor(keep))
	}
	inDoubt := false // a message may have got through
	for kind := "ttlog"; ; {
		m := nats.NewMsg(e.subject(kind, room))
		m.Data = data
		if entry.Note != nil {
			m.Header.Set(noteKey, "1")
		}
		seq, sent, err := e.publish(ctx, m, opts...)
		if err == nil {
			entry.Revision = seq
			return entry, nil
		}
		if kind == "ttlog" && isNobody(err) && e.isRestored(ctx) {
			switch {
			case inDoubt: // it may be among what is given back
				return engine.Entry{}, errInDoubt(errRestored())
			case !e.repairing.Load():
				return engine.Entry{}, errRestored()
			}
			kind = "ttrepair"
			continue
		}
		over := !sent || isDenied(err)
		if inDoubt = inDoubt || !over && !isNobody(err); !inDoubt && (ctx.Err() != nil || over) {
			return engine.Entry{}, err
		}
		if inDoubt {
			found, look := e.nextAfter(ctx, room, after)
			switch there := found.Revision > 0; {
			case look == nil && there && bytes.Equal(append(found.Lines, found.Note...), data):
				entry.Revision, entry.At = found.Revision, found.At
				return entry, nil
			case look == nil && there, look == nil && e.expired(ctx, err, room, after):
				return engine.Entry{}, engine.ErrConflict
			case look == nil && isFinal(err):
				return engine.Entry{}, err
			case ctx.Err() != nil:
				if !errors.Is(ctx.Err(), context.Canceled) { // by the caller
					e.reach.failed(began, err) // though it answers reads: nothing else is tried now
				}
				return engine.Entry{}, errInDoubt(err)
			}
		}
		pause := leaderPause
		if refusal(err) == jetstream.JSErrCodeStreamWrongLastSequenceConstant {
			pause = shortPause
		}
		engine.Pause(ctx, pause)
	}
}

// isFinal reports whether a message was refused for a reason that another server has as
// well, and that does not pass by itself.
func isFinal(err error) bool {
	switch refusal(err) {
	case 0, jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant, unavailable, notLeader:
		return false
	}
	return true
}

// expired reports whether a message was refused because the entry at the revision is not
// there any more: it was a note. A majority has to say so.
func (e *Engine) expired(ctx context.Context, err error, room string, at engine.Revision) bool {
	if refusal(err) != jetstream.JSErrCodeStreamWrongLastSequence {
		return false
	}
	last, err := e.last(ctx, room)
	return err == nil && last.Revision < at && e.Confirm(ctx, room, last.Revision) == nil
}

func errInDoubt(err error) error {
	return code.New(code.InDoubt, "the engine did not say whether the change was made: %v", err).
		WithHint(`find out with "tt events" whether it happened before doing it again`).Because(err)
}

// Probe implements [engine.Engine]. It waits for a leader for as long as Append does.
func (e *Engine) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+engine.Slack)
	defer cancel()
	defer context.AfterFunc(e.over, cancel)()
	for {
		_, _, err := e.publish(ctx, nats.NewMsg(e.subject("ttconfirm", "doctor")), keptFor(time.Second))
		switch {
		case err == nil:
			return nil
		case isNobody(err) && e.isRestored(ctx):
			return errRestored()
		case !isNobody(err) && refusal(err) != unavailable && refusal(err) != notLeader, ctx.Err() != nil:
			return err
		}
		engine.Pause(ctx, leaderPause)
	}
}

// Confirm implements [engine.Engine]. Where one server keeps the stream it is a read: there is
// no other that could know more. Else it appends a message to the stream of the room, to
// another subject and under the condition that the room's last entry is at the revision:
// the acknowledgement says that a majority has stored it behind all that the leader knew.
// A read proves less there: a leader that was cut off answers reads for many seconds.
func (e *Engine) Confirm(ctx context.Context, room string, at engine.Revision) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+engine.Slack)
	defer cancel()
	switch v, err := e.info(ctx); {
	case err != nil:
		return err
	case v.Config.Replicas == 1 && v.Config.Metadata[metaRestored] != "":
		return errRestored()
	case v.Config.Replicas == 1:
		last, err := e.last(ctx, room)
		if err == nil && last.Revision != at {
			err = engine.ErrConflict
		}
		return err
	}
	for {
		_, _, err := e.publish(ctx, nats.NewMsg(e.subject("ttconfirm", room)), keptFor(confirmTTL),
			jetstream.WithExpectLastSequenceForSubject(uint64(at), e.subject("ttlog", room)))
		switch {
		case isNobody(err) && e.isRestored(ctx):
			return errRestored()
		case refusal(err) == jetstream.JSErrCodeStreamWrongLastSequence:
			return engine.ErrConflict
		case refusal(err) != jetstream.JSErrCodeStreamWrongLastSequenceConstant, ctx.Err() != nil:
			return err
		}
		engine.Pause(ctx, shortPause) // another one is on its way
	}
}

func errRestored() error {
	return code.New(code.EngineRestored, "the store of the engine was copied back or begun anew, and takes no change until hosts have given it what they have").
		WithHint(`nothing was changed; run "tt doctor --repair" on every host, and then once "tt doctor --repair --open"`)
}

// isRestored reports whether the engine says that it takes repairs alone.
func (e *Engine) isRestored(ctx context.Context) bool {
	v, err := e.info(ctx)
	return err == nil && v.Config.Metadata[metaRestored] != ""
}

// Repair implements [engine.Engine].
func (e *Engine) Repair() { e.repairing.Store(true) }

// Shut implements [engine.Engine].
func (e *Engine) Shut(ctx context.Context, host string, last time.Time) error {
	return e.tell(ctx, word{Lacks: host, Last: last})
}

// Reopen implements [engine.Engine].
func (e *Engine) Reopen(ctx context.Context, host string) error { return e.tell(ctx, word{Has: host}) }

// A word is what becomes of what a host has.
type word struct {
	Lacks string    `json:"lacks,omitempty"`
	Last  time.Time `json:"last,omitzero"`
	Has   string    `json:"has,omitempty"`
}

// tell tells the server a word. One about no host opens the store.
func (e *Engine) tell(ctx context.Context, w word) error {
	query, err := json.Marshal(w)
	if err != nil {
		return err
	}
	var v struct{ Error string }
	err = e.ask(ctx, "ttserver.open", query, &v)
	if err == nil && v.Error != "" {
		err = e.explain(errors.New(v.Error))
	}
	return err
}
