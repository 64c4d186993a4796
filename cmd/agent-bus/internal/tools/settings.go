package tools

import (
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// Settings are what the AGENT_BUS_ variables set.
type Settings struct {
	topic.Limits
	// PollInitial and PollMax are the shortest and the longest time after which a
	// waiting call looks again where changes cannot be watched.
	PollInitial, PollMax time.Duration
}

// SettingsFrom reads the environment variables. A missing or empty variable has its
// default; one that is not a number or out of range is an error that names it.
// PollInitial is never more than PollMax.
func SettingsFrom(lookup func(string) string) (Settings, error) {
	s := Settings{Limits: topic.DefaultLimits()}
	pollInitial, pollMax := 250, 1000 // milliseconds
	for _, v := range []struct {
		name   string
		lo, hi int
		value  *int
	}{
		{"AGENT_BUS_MAX_QUESTION_CHARS", 1, topic.MaxTextChars, &s.QuestionChars},
		{"AGENT_BUS_MAX_ANSWER_CHARS", 1, topic.MaxTextChars, &s.AnswerChars},
		{"AGENT_BUS_MAX_PUBLISH_BATCH", 1, 1000, &s.Batch},
		{"AGENT_BUS_MAX_OPEN_QUESTIONS", 1, 1_000_000, &s.OpenQuestions},
		{"AGENT_BUS_MAX_METADATA_BYTES", 2, 1 << 20, &s.MetadataBytes},
		{"AGENT_BUS_MAX_REASON_CHARS", 1, 10_000, &s.ReasonChars},
		{"AGENT_BUS_POLL_INITIAL_MS", 1, 60_000, &pollInitial},
		{"AGENT_BUS_POLL_MAX_MS", 1, 60_000, &pollMax},
	} {
		text := strings.TrimSpace(lookup(v.name))
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return Settings{}, code.New(topic.InvalidArgument, "%s must be a whole number, not %q", v.name, topic.Clip(text)).
				With("variable", v.name)
		}
		if n < v.lo || n > v.hi {
			return Settings{}, code.New(topic.InvalidArgument, "%s must be from %d to %d, not %d", v.name, v.lo, v.hi, n).With("variable", v.name)
		}
		*v.value = n
	}
	s.PollMax = time.Duration(pollMax) * time.Millisecond
	s.PollInitial = min(time.Duration(pollInitial)*time.Millisecond, s.PollMax)
	return s, nil
}
