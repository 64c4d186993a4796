package questions

import (
	"context"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// QuestionLog returns what happened to the questions of the room since a moment, oldest
// first: at most so many entries, the newest.
func (r *Room) QuestionLog(ctx context.Context, since time.Time, most int) ([]turn.LogEntry, error) {
	var entries []turn.LogEntry
	newest := slices.Collect(topicsOfRoom(r.Room.Client.Store, r.Room.FS.Name()))
	for _, t := range slices.Backward(newest) {
		_, err := t.Events(ctx, 0, func(e *event.Event) error {
			kind := ""
			switch e.Type {
			case topic.EventAsked:
				kind = "question"
			case topic.EventAnswer:
				kind = "answer"
			case topic.EventMarked, topic.EventCancelled:
				kind = "question_settled"
			}
			if kind != "" && !e.CreatedAt.Before(since) {
				id, text := topic.Words(e)
				entries = append(entries, turn.LogEntry{
					Kind: kind, TopicSeq: e.Seq, At: e.CreatedAt, Agent: e.From, To: e.To, Event: e.Type, Reason: e.Reason, Text: text, Question: id,
				})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return entries[max(0, len(entries)-most):], nil
}

// MergeLog returns the entries of two logs, each oldest first, in the order of time.
func MergeLog(a, b []turn.LogEntry) []turn.LogEntry {
	merged := make([]turn.LogEntry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].At.Before(a[0].At.Time) {
			merged, b = append(merged, b[0]), b[1:]
		} else {
			merged, a = append(merged, a[0]), a[1:]
		}
	}
	return append(append(merged, a...), b...)
}
