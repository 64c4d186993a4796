package jetstream

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// What the server republishes is an entry only with all that the server says of it, and with
// nothing that a client has said in its place.
func TestRepublished(t *testing.T) {
	message := func(change func(*nats.Msg)) *nats.Msg {
		m := nats.NewMsg("ttchanged.ns.rooms.a")
		m.Header = nats.Header{jetstream.SequenceHeader: {"9"}, headerLast: {"7"}, jetstream.TimeStampHeaer: {"2026-11-22T10:00:00.5Z"}}
		m.Data = []byte("line")
		change(m)
		return m
	}
	next := republished(message(func(*nats.Msg) {}))
	if next == nil || next.After != 7 || next.Revision != 9 || string(next.Lines) != "line" || next.At.Nanosecond() == 0 {
		t.Errorf("got %+v", next)
	}
	if next := republished(message(func(m *nats.Msg) { m.Header.Set(noteKey, "1") })); next == nil || string(next.Note) != "line" || next.Lines != nil {
		t.Errorf("of a note: %+v", next)
	}
	if next := republished(message(func(m *nats.Msg) { m.Header.Set(jetstream.MsgTTLHeader, "1s") })); next == nil || next.Lines == nil || len(next.Lines) > 0 {
		t.Errorf("of what is not kept for ever: %+v", next)
	}
	for name, change := range map[string]func(*nats.Msg){
		"headers alone":      func(m *nats.Msg) { m.Data = nil },
		"no headers":         func(m *nats.Msg) { m.Header = nil },
		"two numbers":        func(m *nats.Msg) { m.Header.Add(jetstream.SequenceHeader, "10") },
		"two numbers before": func(m *nats.Msg) { m.Header.Add(headerLast, "8") },
		"two times":          func(m *nats.Msg) { m.Header.Add(jetstream.TimeStampHeaer, "2026-11-22T10:00:01Z") },
		"no number":          func(m *nats.Msg) { m.Header.Set(headerLast, "x") },
	} {
		if next := republished(message(change)); next != nil {
			t.Errorf("%s: %+v", name, next)
		}
	}
}

// What a server tells after the connection was made again may not follow what it told before.
func TestToldAfterAReconnection(t *testing.T) {
	var connections uint64
	var got []bool
	handle := sinceReconnection(func() uint64 { return connections }, func(_ *nats.Msg, same bool) { got = append(got, same) })
	for _, connections = range []uint64{0, 0, 1, 1, 3} {
		handle(nil)
	}
	if want := []bool{true, true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
