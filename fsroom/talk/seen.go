package talk

import "slices"

// An Unread counts words that an agent was not shown.
type Unread struct {
	Messages  int64 `json:"messages,omitempty"`
	Notes     int64 `json:"notes,omitempty"`     // open ones, without the pages
	Pages     int64 `json:"pages,omitempty"`     // open notes of severity page
	Questions int64 `json:"questions,omitempty"` // that the agent owes an answer
	Answers   int64 `json:"answers,omitempty"`   // to questions of its own
	Jobs      int64 `json:"jobs,omitempty"`      // of its own that have ended
}

// Of returns the count of a kind.
func (u *Unread) Of(kind string) *int64 {
	return map[string]*int64{KindMessage: &u.Messages, KindNote: &u.Notes, KindPage: &u.Pages, KindAnswer: &u.Answers,
		KindQuestion: &u.Questions, KindJob: &u.Jobs}[kind]
}

// Written counts those that others have written.
func (u Unread) Written() int64 { return u.Messages + u.Notes + u.Pages + u.Questions + u.Answers }

// A Seen says what an agent was shown of a room and of the room's questions: of each kind of words all up to
// an event, and single messages. The zero Seen has nothing.
type Seen struct {
	EventSeq   int64   `json:"event_seq"`                   // messages
	TopicSeq   int64   `json:"topic_seq"`                   // questions and answers
	NotesSeq   int64   `json:"notes_event_seq,omitempty"`   // notes, but the pages
	PagesSeq   int64   `json:"pages_event_seq,omitempty"`   // notes of severity page
	JobsSeq    int64   `json:"jobs_event_seq,omitempty"`    // ends of jobs
	Topic      string  `json:"topic,omitempty"`             // the topic, and which life of it, that TopicSeq and AnswersSeq count in
	AnswersSeq int64   `json:"answers_topic_seq,omitempty"` // answers, also those after TopicSeq
	Singly     []int64 `json:"single_event_seqs,omitempty"` // messages after EventSeq, in order, the newest 200
}

// At returns the place for words of a kind.
func (s *Seen) At(kind string) *int64 {
	return map[string]*int64{KindMessage: &s.EventSeq, KindNote: &s.NotesSeq, KindPage: &s.PagesSeq, KindAnswer: &s.AnswersSeq,
		KindQuestion: &s.TopicSeq, KindJob: &s.JobsSeq}[kind]
}

// Has reports whether the word of a kind in the event with the number was shown.
func (s *Seen) Has(kind string, seq int64) bool {
	return seq <= *s.At(kind) || kind == KindAnswer && seq <= s.TopicSeq || kind == KindMessage && slices.Contains(s.Singly, seq)
}

// Advance moves s over what b, which is of the same topic, has in addition. No part of it goes back.
func (s *Seen) Advance(b Seen) {
	for _, kind := range Kinds {
		*s.At(kind) = max(*s.At(kind), *b.At(kind))
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.Singly, b.Singly))))
	first, _ := slices.BinarySearch(all, s.EventSeq+1)
	s.Singly = all[max(first, len(all)-200):]
}

// IsZero reports whether s has nothing.
func (s *Seen) IsZero() bool {
	return len(s.Singly) == 0 && !slices.ContainsFunc(Kinds, func(kind string) bool { return *s.At(kind) > 0 })
}

// Pass moves s over the words for which shown returns true, and returns the others. Those of a kind are in the
// order of their events, and end with the first for which shown returns false: what follows it is not shown
// either. Questions end with answers, too.
func (s *Seen) Pass(words []Word, shown func(*Word) bool) (left []*Word) {
	ended := map[string]bool{}
	for i := range words {
		switch w := &words[i]; {
		case ended[w.Kind] || w.Kind == KindQuestion && ended[KindAnswer] || !shown(w):
			ended[w.Kind] = true
			left = append(left, w)
		default:
			*s.At(w.Kind) = max(*s.At(w.Kind), w.Seq)
		}
	}
	return left
}
