package topic

import (
	"cmp"
	"encoding/json"
	"slices"
	"sort"
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

	Counts  Counts `json:"counts"`
	ordinal int64
}

// Info returns the topic as lists show it.
func (s *State) Info() Info {
	i := Info{
		TopicID: s.TopicID, Name: s.Name, Status: s.Status, CreatedAt: s.CreatedAt,
		ClosedAt: s.ClosedAt, Metadata: s.Metadata, Counts: s.Counts(), ordinal: s.Ordinal,
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
func Create(existing []Info, r CreateRequest, topicID string) (reused *Info, events []event.Event) {
	if r.Name != "" && r.Mode != ModeNew {
		if found, err := Find(existing, ResolveRequest{Name: r.Name}); err == nil {
			return &found, nil
		}
	}
	if r.Name == "" {
		r.Name = "topic-" + topicID
	}
	return nil, CreateNamed(r.Name, r.Metadata, nextOrdinal(existing))
}

// CreateNamed returns the events that make a topic with a name, metadata as in
// [CreateRequest], and a number that is higher than that of every other topic.
func CreateNamed(name string, metadata json.RawMessage, ordinal int64) []event.Event {
	return []event.Event{{Type: EventCreated, Payload: payload(&createdPayload{Format: Format, Name: name, Ordinal: ordinal,
		Metadata: metadata})}}
}

// nextOrdinal numbers topics in the order of their creation, because two topics may
// be created within one millisecond.
func nextOrdinal(existing []Info) int64 {
	last := int64(0)
	for i := range existing {
		last = max(last, existing[i].ordinal)
	}
	return last + 1
}

// Find returns the newest open topic of exactly that name; if there is none and
// AllowClosed is set, the newest closed one.
func Find(topics []Info, r ResolveRequest) (Info, error) {
	wanted := []string{Open}
	if r.AllowClosed {
		wanted = append(wanted, Closed)
	}
	topics = slices.Clone(topics)
	newestFirst(topics)
	for _, status := range wanted {
		i := slices.IndexFunc(topics, func(t Info) bool { return strings.TrimSpace(t.Name) == r.Name && t.Status == status })
		if i >= 0 {
			return topics[i], nil
		}
	}
	return Info{}, NotFound("name", r.Name)
}

// Select returns the topics of the status, newest first, never nil. Status is
// one of [ListOpen], [ListClosed] and [ListAll].
func Select(topics []Info, status string) []Info {
	selected := []Info{}
	for _, t := range topics {
		if status == ListAll || t.Status == status {
			selected = append(selected, t)
		}
	}
	newestFirst(selected)
	return selected
}

// newestFirst sorts by the ordinals, because the clock may have been set back
// between two creations. Only topics of two data directories that were put into one
// can have the same ordinal.
func newestFirst(topics []Info) {
	compare := func(a, b Info) int {
		return cmp.Or(cmp.Compare(b.ordinal, a.ordinal), b.CreatedAt.Compare(a.CreatedAt.Time), cmp.Compare(a.TopicID, b.TopicID))
	}
	sort.Slice(topics, func(i, j int) bool { return compare(topics[i], topics[j]) < 0 })
}
