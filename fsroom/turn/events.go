package turn

import (
	"encoding/json"
	"slices"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// The event types of a room.
const (
	RoomOpened    = "room_opened"
	MemberJoined  = "member_joined"
	MemberLeft    = "member_left"
	Claim         = "claim"
	Released      = "release"
	Passed        = "pass"
	Takeover      = "takeover"
	Kicked        = "kick"
	MessageSent   = talk.MessageSent
	NoteAdded     = talk.NoteAdded
	NoteResolved  = talk.NoteResolved
	PolicyChanged = "policy_changed"
	Closed        = "close"
	TreeChanged   = "tree_changed"
	JobEnded      = talk.JobEnded
	// JournalDamaged tells that events were lost, see [event.Loss].
	JournalDamaged = event.JournalDamaged
)

// EventTypes returns every type.
func EventTypes() []string {
	return []string{RoomOpened, MemberJoined, MemberLeft, Claim, Released, Passed, Takeover, Kicked,
		MessageSent, NoteAdded, NoteResolved, PolicyChanged, Closed, TreeChanged, JobEnded, JournalDamaged}
}

// KnownEventType reports whether name is one of [EventTypes].
func KnownEventType(name string) bool { return slices.Contains(EventTypes(), name) }

// The payloads of events. Lease and clock are read on replay only and never shown,
// see [Public].
type (
	openedPayload struct {
		Format        int    `json:"format"`
		CanonicalPath string `json:"canonical_path"`
		WorkspaceRoot string `json:"workspace_root"`
		Policy        Policy `json:"policy"`
	}
	joinedPayload struct {
		DisplayName string `json:"display_name,omitempty"`
		SessionKind string `json:"session_kind,omitempty"`
		Override    bool   `json:"agent_override,omitempty"`
		Observer    bool   `json:"observer,omitempty"`
	}
	grantPayload struct {
		Lease   string `json:"lease_id"`
		TTL     int64  `json:"lease_ttl_ms,omitempty"` // of the lease, in milliseconds
		Host    string `json:"host,omitempty"`
		Clock   clock  `json:"clock"`
		Handoff int64  `json:"handoff_event_seq,omitempty"`
		Kind    string `json:"kind"`
		Waited  int64  `json:"waited_ms"` // milliseconds
		Woken   bool   `json:"woken,omitempty"`
		Before  string `json:"tree_before,omitempty"` // with At the trees of the turn that was taken over
		At      string `json:"tree_at,omitempty"`
		Auto    bool   `json:"auto,omitempty"`
	}
	releasePayload struct {
		Clock     clock  `json:"clock"`
		Preferred string `json:"preferred,omitempty"`
		Listens   bool   `json:"preferred_listens,omitempty"`
		Auto      bool   `json:"auto,omitempty"`
		Unchanged bool   `json:"unchanged,omitempty"` // of an automatic turn: it has changed nothing
	}
	policyPayload struct {
		Policy Policy `json:"policy"`
	}
	// clock is the monotonic half of an Instant; the event's created_at is the other.
	clock struct {
		Boot string `json:"boot_id,omitempty"`
		Mono int64  `json:"mono_ms,omitempty"`
	}
)

func clockOf(i Instant) clock { return clock{Boot: i.Boot, Mono: i.Mono} }

func (c clock) at(created event.Time) Instant {
	return Instant{Wall: created, Boot: c.Boot, Mono: c.Mono}
}

// payload encodes one of the types above.
func payload(v any) json.RawMessage { return wire.Append(nil, v) }

// Concerns reports whether a stream for the agent shows the event: the event is meant
// for the agent, and is neither the grant of a turn to the agent, which has its result, nor a
// change of the tree, which comes with a turn.
func Concerns(e *event.Event, agent string) bool {
	own := (e.Type == Claim || e.Type == Takeover) && e.To == agent
	return talk.MeantFor(e, agent) && !own && e.Type != TreeChanged
}

// Public returns the event as streams show it: without the lease, which only the results of its owner
// contain, without its time to live, its host, the readings of clocks and the state of the room, and
// with the preview of a note instead of its body.
func Public(e event.Event) event.Event {
	e.More = false
	switch e.Type {
	case Claim, Takeover, Released, Passed:
		e.Payload = without(e.Payload, "lease_id", "lease_ttl_ms", "host", "clock")
	case NoteAdded:
		e.Payload = without(e.Payload, "body", "note_turn_id")
	case JobEnded:
		e.Payload = without(e.Payload, "oldest_job_id")
	case JournalDamaged:
		e.Payload = without(e.Payload, "state")
	}
	return e
}

// without removes keys from a JSON object. It returns nil if no other key is left.
func without(raw json.RawMessage, keys ...string) json.RawMessage {
	return edited(raw, func(key string, value json.RawMessage) json.RawMessage {
		if slices.Contains(keys, key) {
			return nil
		}
		return value
	})
}

// edited returns a JSON object with the values that edit returns, without the keys for which that is
// nil. It returns nil if no key is left.
func edited(raw json.RawMessage, edit func(key string, value json.RawMessage) json.RawMessage) json.RawMessage {
	p := wire.NewParser(raw)
	var kept []byte
	err := p.Object(func(name []byte) error {
		value, err := p.Raw()
		if err != nil || value == nil {
			return err
		}
		if value = edit(string(name), value); value != nil {
			kept = append(append(wire.AppendString(append(kept, ','), string(name)), ':'), value...)
		}
		return nil
	})
	if err != nil || len(kept) == 0 {
		return nil
	}
	kept[0] = '{'
	return append(kept, '}')
}
