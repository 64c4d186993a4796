package topic

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
)

// Limits bound what agents may send and how long they wait. Characters are
// Unicode code points.
type Limits struct {
	QuestionChars int // of a question
	AnswerChars   int // of an answer_markdown
	Batch         int // responses in one answer
	OpenQuestions int // pending questions on one topic
	MetadataBytes int // of a topic's metadata as compact JSON
	ReasonChars   int // of a reason to close or cancel

	// How often a waiting call looks again where changes cannot be watched.
	PollInitial, PollMax time.Duration
}

// Bounds that no variable changes.
const (
	MaxAgentNameChars = 64
	MaxTopicNameChars = 200
	MaxPointers       = 10   // repo_pointers kept of an answer
	MaxPointerChars   = 4096 // of one of them
	MaxFollowups      = 5    // suggested_followups kept of an answer, and shown of all
	MaxFollowupChars  = 8000 // of one of them

	// MaxWaitSeconds is the longest that ask and pending_list wait whatever they
	// are asked: many clients give up on a call at 60 s.
	MaxWaitSeconds     = 50
	DefaultWaitSeconds = 60
	DefaultListLimit   = 20
)

// maxTextChars is the most that a text limit can be raised to: written as JSON
// with every character escaped, a text must still fit into one journal line
// together with its pointers and follow-ups.
const maxTextChars = 500_000

type setting struct {
	name          string
	value, lo, hi int
	set           func(*Limits, int)
}

func settings() []setting {
	return []setting{
		{"AGENT_BUS_MAX_QUESTION_CHARS", 8000, 1, maxTextChars, func(l *Limits, n int) { l.QuestionChars = n }},
		{"AGENT_BUS_MAX_ANSWER_CHARS", 65536, 1, maxTextChars, func(l *Limits, n int) { l.AnswerChars = n }},
		{"AGENT_BUS_MAX_PUBLISH_BATCH", 50, 1, 1000, func(l *Limits, n int) { l.Batch = n }},
		{"AGENT_BUS_MAX_OPEN_QUESTIONS", 10_000, 1, 1_000_000, func(l *Limits, n int) { l.OpenQuestions = n }},
		{"AGENT_BUS_MAX_METADATA_BYTES", 64 << 10, 2, 1 << 20, func(l *Limits, n int) { l.MetadataBytes = n }},
		{"AGENT_BUS_MAX_REASON_CHARS", 1000, 1, 10_000, func(l *Limits, n int) { l.ReasonChars = n }},
		{"AGENT_BUS_POLL_INITIAL_MS", 250, 1, 60_000, func(l *Limits, n int) { l.PollInitial = milliseconds(n) }},
		{"AGENT_BUS_POLL_MAX_MS", 1000, 1, 60_000, func(l *Limits, n int) { l.PollMax = milliseconds(n) }},
	}
}

// LimitsFrom reads the limits from environment variables; an empty or missing
// one has its default. The error names a variable that is not a number or out
// of range. PollInitial is never more than PollMax.
func LimitsFrom(lookup func(string) string) (Limits, error) {
	var l Limits
	for _, s := range settings() {
		n, err := s.read(lookup(s.name))
		if err != nil {
			return Limits{}, err
		}
		s.set(&l, n)
	}
	l.PollInitial = min(l.PollInitial, l.PollMax)
	return l, nil
}

func (s setting) read(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return s.value, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, code.New(InvalidArgument, "%s must be a whole number, not %q", s.name, clip(text)).With("variable", s.name)
	}
	if n < s.lo || n > s.hi {
		return 0, code.New(InvalidArgument, "%s must be from %d to %d, not %d", s.name, s.lo, s.hi, n).With("variable", s.name)
	}
	return n, nil
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// atMost refuses a text of more than limit characters.
func atMost(argument, text string, limit int) error {
	if len(text) <= limit {
		return nil // a character is at least one byte
	}
	if n := utf8.RuneCountInString(text); n > limit {
		return Invalid(argument, "has %d characters, which exceeds the maximum of %d", n, limit)
	}
	return nil
}
