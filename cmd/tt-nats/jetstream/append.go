package jetstream

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

const (
	headerExpected        = "Nats-Expected-Last-Subject-Sequence"
	headerExpectedSubject = "Nats-Expected-Last-Subject-Sequence-Subject"
	headerStream          = "Nats-Expected-Stream"
	headerTTL             = "Nats-TTL"

	shortPause   = 2 * time.Millisecond  // until another message in flight is stored
	leaderPause  = 50 * time.Millisecond // while there is no leader
	confirmTTL   = time.Minute
	maxEntrySize = 4 << 20 // of the stream
)

// publish appends a message to the stream and returns its sequence number. An
// *apiError says that it was refused.
func (e *Engine) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	m.Header.Set(headerStream, stream)
	answer, err := e.request(ctx, m)
	if err != nil {
		return 0, err
	}
	var v struct{ Seq uint64 }
	err = decodeAnswer(answer, &v)
	return v.Seq, err
}

func ttl(d time.Duration) string {
	return strconv.FormatInt(max(1, int64(d/time.Second)), 10) + "s"
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
	conn, err := e.connection(ctx)
	if err != nil {
		return engine.Entry{}, err
	}
	ctx = context.WithValue(ctx, change{}, true)
	began := time.Now()
	data := append(bytes.Clone(entry.Lines), entry.Note...)
	if len(data) > maxEntrySize || int64(len(data)) > conn.MaxPayload() {
		return engine.Entry{}, engine.ErrTooLarge
	}
	sent := false // a message may have got through
	kind := "ttlog"
	for {
		m := nats.NewMsg(e.subject(kind, room))
		m.Header.Set(headerExpected, strconv.FormatUint(uint64(after), 10))
		if entry.Note != nil {
			m.Header.Set(noteKey, "1")
		}
		if keep > 0 {
			m.Header.Set(headerTTL, ttl(keep))
		}
		m.Data = data
		seq, err := e.publish(ctx, m)
		if err == nil {
			entry.Revision = engine.Revision(seq)
			return entry, nil
		}
		if kind == "ttlog" && errors.Is(err, nats.ErrNoResponders) && e.isRestored(ctx) {
			switch {
			case sent: // it may be among what is given back
				return engine.Entry{}, inDoubt(errRestored())
			case !e.repairing.Load():
				return engine.Entry{}, errRestored()
			}
			kind = "ttrepair"
			continue
		}
		over := isDenied(err) || isUnsent(err)
		unsent := over || errors.Is(err, nats.ErrNoResponders) // nobody has taken it
		if sent = sent || !unsent; !sent && (ctx.Err() != nil || over) {
			return engine.Entry{}, e.explain(err)
		}
		if sent {
			found, there, look := e.nextAfter(ctx, room, after)
			switch {
			case look == nil && there && bytes.Equal(append(found.Lines, found.Note...), data):
				entry.Revision, entry.At = found.Revision, found.At
				return entry, nil
			case look == nil && there, look == nil && e.expired(ctx, err, room, after):
				return engine.Entry{}, engine.ErrConflict
			case look == nil && isFinal(err):
				return engine.Entry{}, e.explain(err)
			case ctx.Err() != nil:
				if !errors.Is(ctx.Err(), context.Canceled) { // by the caller
					e.inVain(began, err) // though it answers reads: nothing else is tried now
				}
				return engine.Entry{}, inDoubt(err)
			}
		}
		pause := leaderPause
		if refusal(err) == inFlight {
			pause = shortPause
		}
		wait(ctx, pause)
	}
}

// isUnsent reports whether a request failed because there was no connection to send it on.
func isUnsent(err error) bool {
	var away *engine.UnreachableError
	return errors.As(err, &away) || errors.Is(err, nats.ErrReconnectBufExceeded)
}

// refusal returns the number of the error by which a server has refused a message, 0 for
// other errors.
func refusal(err error) int {
	var refused *apiError
	if errors.As(err, &refused) {
		return refused.ErrCode
	}
	return 0
}

// isFinal reports whether a message was refused for a reason that another server has as
// well, and that does not pass by itself.
func isFinal(err error) bool {
	switch refusal(err) {
	case 0, wrongSequence, inFlight, unavailable, notLeader:
		return false
	}
	return true
}

// expired reports whether a message was refused because the entry at the revision is not
// there any more: it was a note. A majority has to say so.
func (e *Engine) expired(ctx context.Context, err error, room string, at engine.Revision) bool {
	if refusal(err) != wrongSequence {
		return false
	}
	last, _, err := e.last(ctx, room)
	return err == nil && last.Revision < at && e.Confirm(ctx, room, last.Revision) == nil
}

func inDoubt(err error) error {
	return code.New(code.InDoubt, "the engine did not say whether the change was made: %v", err).
		WithHint(`find out with "tt events" whether it happened before doing it again`).Because(err)
}

// wait sleeps, for a random time around d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d/2 + rand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Probe implements [engine.Engine]. It waits for a leader for as long as Append does.
func (e *Engine) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+engine.Slack)
	defer cancel()
	defer context.AfterFunc(e.over, cancel)()
	for {
		m := nats.NewMsg(e.subject("ttconfirm", "doctor"))
		m.Header.Set(headerTTL, ttl(time.Second))
		_, err := e.publish(ctx, m)
		leaderless := errors.Is(err, nats.ErrNoResponders) || refusal(err) == unavailable || refusal(err) == notLeader
		switch {
		case err == nil:
			return nil
		case errors.Is(err, nats.ErrNoResponders) && e.isRestored(ctx):
			return errRestored()
		case !leaderless || ctx.Err() != nil:
			return e.explain(err)
		}
		wait(ctx, leaderPause)
	}
}

// lastAlone returns the room's last entry if one server keeps the stream.
func (e *Engine) lastAlone(ctx context.Context, room string) (last engine.Revision, alone bool, err error) {
	type answer struct {
		last engine.Entry
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		last, _, err := e.last(ctx, room)
		read <- answer{last, err}
	}()
	var v streamInfo
	err = e.streamInfo(ctx, "", &v)
	a := <-read
	if err == nil && v.Config.Replicas == 1 && v.Config.Metadata[metaRestored] != "" {
		err = errRestored()
	}
	if err = errors.Join(err, a.err); err != nil {
		return 0, false, e.explain(err)
	}
	return a.last.Revision, v.Config.Replicas == 1, nil
}

// Confirm implements [engine.Engine]. Where one server keeps the stream it is a read: there is
// no other that could know more. Else it appends a message to the stream of the room, to
// another subject and under the condition that the room's last entry is at the revision:
// the acknowledgement says that a majority has stored it behind all that the leader knew.
// A read proves less there: a leader that was cut off answers reads for many seconds.
func (e *Engine) Confirm(ctx context.Context, room string, at engine.Revision) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+engine.Slack)
	defer cancel()
	if last, alone, err := e.lastAlone(ctx, room); err != nil {
		return err
	} else if alone && last != at {
		return engine.ErrConflict
	} else if alone {
		return nil
	}
	for {
		m := nats.NewMsg(e.subject("ttconfirm", room))
		m.Header.Set(headerExpected, strconv.FormatUint(uint64(at), 10))
		m.Header.Set(headerExpectedSubject, e.subject("ttlog", room))
		m.Header.Set(headerTTL, ttl(confirmTTL))
		_, err := e.publish(ctx, m)
		if err == nil {
			return nil
		}
		var refused *apiError
		if !errors.As(err, &refused) {
			if errors.Is(err, nats.ErrNoResponders) && e.isRestored(ctx) {
				return errRestored()
			}
			return e.explain(err)
		}
		switch refused.ErrCode {
		case wrongSequence:
			return engine.ErrConflict
		case inFlight:
			wait(ctx, shortPause)
		default:
			return e.explain(err)
		}
		if ctx.Err() != nil {
			return e.explain(ctx.Err())
		}
	}
}
