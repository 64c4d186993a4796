package topic

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/talking-stick/tt/journal/event"
)

// An Info is a topic as lists show it. Every member is always there; it is null
// where there is nothing.
type Info struct {
	TopicID     string          `json:"topic_id"`
	Name        string          `json:"name"`
	Status      string          `json:"status"`
	CreatedAt   event.Time      `json:"created_at"`
	ClosedAt    *event.Time     `json:"closed_at"`
	CloseReason *string         `json:"close_reason"`
	Metadata    json.RawMessage `json:"metadata"`

	Counts Counts `json:"counts"`
}

// Info returns the topic as lists show it.
func (s *State) Info() Info {
	i := Info{
		TopicID: s.TopicID, Name: s.Name, Status: s.Status, CreatedAt: s.CreatedAt,
		ClosedAt: s.ClosedAt, Metadata: s.Metadata, Counts: s.Counts(),
	}
	if s.CloseReason != "" {
		i.CloseReason = &s.CloseReason
	}
	return i
}

// Create returns the events that make a topic with the id beside the existing
// ones. With [ModeReuse] it returns the newest open topic of that name instead, if
// there is one, and no events. The caller holds the lock under which topics are
// made, so that two callers do not make the same topic.
func Create(existing []*State, r CreateRequest, topicID string) (reused *State, events []event.Event) {
	if r.Name != "" && r.Mode != ModeNew {
		if found, err := Find(existing, ResolveRequest{Name: r.Name}); err == nil {
			return found, nil
		}
	}
	if r.Name == "" {
		r.Name = "topic-" + topicID
	}
	return nil, CreateNamed(existing, r.Name, r.Metadata)
}

// CreateNamed returns the events that make a topic with a name and metadata as in
// [CreateRequest]. Topics are numbered in the order of their creation, because two may be created
// within one millisecond.
func CreateNamed(existing []*State, name string, metadata json.RawMessage) []event.Event {
	last := int64(0)
	for _, s := range existing {
		last = max(last, s.Ordinal)
	}
	return []event.Event{{Type: EventCreated, Payload: payload(&createdPayload{Format: Format, Name: name, Ordinal: last + 1,
		Metadata: metadata})}}
}

// Find returns the newest open topic of exactly that name; if there is none and
// AllowClosed is set, the newest closed one.
func Find(topics []*State, r ResolveRequest) (*State, error) {
	wanted := []string{Open}
	if r.AllowClosed {
		wanted = append(wanted, Closed)
	}
	for _, status := range wanted {
		for _, s := range Select(topics, status) {
			if strings.TrimSpace(s.Name) == r.Name {
				return s, nil
			}
		}
	}
	return nil, NotFound("name", r.Name)
}

// Select returns the topics of the status, newest first, by their ordinals, because the clock may
// have been set back between two creations. Only topics of two data directories that were put into
// one can have the same ordinal. Status is one of [ListOpen], [ListClosed] and [ListAll].
func Select(topics []*State, status string) (selected []*State) {
	for _, s := range topics {
		if status == ListAll || s.Status == status {
			selected = append(selected, s)
		}
	}
	slices.SortFunc(selected, func(a, b *State) int {
		return cmp.Or(cmp.Compare(b.Ordinal, a.Ordinal), b.CreatedAt.Compare(a.CreatedAt.Time), cmp.Compare(a.TopicID, b.TopicID))
	})
	return selected
}
