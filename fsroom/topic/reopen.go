package topic

import "github.com/talking-stick/tt/journal/event"

// Reopen returns the event that would create the topic as the state knows it,
// to stand for one that was damaged.
func Reopen(s *State) event.Event {
	return event.Event{Type: EventCreated, Payload: payload(&createdPayload{
		Format: Format, Name: s.Name, Ordinal: s.Ordinal, Metadata: s.Metadata,
	})}
}
