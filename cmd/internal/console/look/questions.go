package look

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/topic"
)

// topicID returns the id of the topic that has a room's questions. It follows from the
// hash in the name of the room.
func topicID(room string) string {
	const hash, digits = 16, 11
	if len(room) < hash {
		return ""
	}
	return "t" + room[len(room)-hash:][:digits]
}

// openTopic returns the topic with a room's questions, nil if nobody has asked any.
func (l *Looker) openTopic(room string) *topics.Room {
	r, err := l.topics.Topic(topicID(room))
	if err != nil {
		return nil
	}
	return r
}

// topic returns the state of a room's topic, nil if there is none that can be read.
func (l *Looker) topic(room string) *topic.State {
	r := l.openTopic(room)
	if r == nil {
		return nil
	}
	snap, err := r.View()
	if err != nil {
		return nil
	}
	return snap.State
}

// questions returns the open questions of a room, oldest first.
func (l *Looker) questions(ctx context.Context, room string) []Question {
	s := l.topic(room)
	if s == nil {
		return nil
	}
	texts, done, err := topics.OpenLookup(ctx, l.openTopic(room))
	if err != nil {
		return nil
	}
	defer done()
	var list []Question
	for i := range s.Questions {
		q := &s.Questions[i]
		if q.Status != topic.Pending {
			continue
		}
		text, at, err := texts.Question(q)
		if err != nil {
			text = "its text cannot be read"
		}
		list = append(list, Question{ID: q.ID, From: q.AskedBy, To: q.To, At: at.Time, Text: text, Answers: len(q.Answers), ForMe: q.OfferedTo(l.me)})
	}
	return list
}
