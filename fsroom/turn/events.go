package turn

import (
	"encoding/json"

	"github.com/talking-stick/tt/journal"
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
	MessageSent   = "message_sent"
	NoteAdded     = "note_added"
	NoteResolved  = "note_resolved"
	PolicyChanged = "policy_changed"
	Closed        = "close"
)

// EventTypes lists every type, for filters and their suggestions.
func EventTypes() []string {
	return []string{RoomOpened, MemberJoined, MemberLeft, Claim, Released, Passed, Takeover, Kicked,
		MessageSent, NoteAdded, NoteResolved, PolicyChanged, Closed}
}

// The payloads. Lease and clock are for replay only and are never shown, see
// [Public].
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
	}
	grantPayload struct {
		Lease   string `json:"lease_id"`
		Clock   clock  `json:"clock"`
		Handoff int64  `json:"handoff_event_seq,omitempty"`
		Kind    string `json:"kind"`
	}
	releasePayload struct {
		Clock     clock  `json:"clock"`
		Preferred string `json:"preferred,omitempty"`
	}
	policyPayload struct {
		Policy Policy `json:"policy"`
	}
	// clock is the monotonic half of an Instant; created_at is the other.
	clock struct {
		Boot string `json:"boot_id,omitempty"`
		Mono int64  `json:"mono_ms,omitempty"`
	}
)

func clockOf(i Instant) clock { return clock{Boot: i.Boot, Mono: i.Mono} }

func (c clock) at(created journal.Time) Instant {
	return Instant{Wall: created, Boot: c.Boot, Mono: c.Mono}
}

// payload encodes one of the types above, which cannot fail.
func payload(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("turn: payload: " + err.Error())
	}
	return b
}

// Public returns the event as agents may see it: without the lease, which only
// its holder's own results carry, and without the clock readings.
func Public(e journal.Event) journal.Event {
	e.More = false
	switch e.Type {
	case Claim, Takeover, Released, Passed:
		e.Payload = without(e.Payload, "lease_id", "clock")
	}
	return e
}

// without drops keys from a JSON object; nil when nothing is left.
func without(raw json.RawMessage, keys ...string) json.RawMessage {
	var m map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	for _, k := range keys {
		delete(m, k)
	}
	if len(m) == 0 {
		return nil
	}
	return payload(m)
}
