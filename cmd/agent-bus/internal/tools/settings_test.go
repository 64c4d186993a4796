package tools_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/topic/topictest"
	"github.com/talking-stick/tt/journal"
)

func TestLimits(t *testing.T) {
	equal(t, "defaults", settingsWith(t, nil), tools.Settings{
		Limits:      topic.Limits{QuestionChars: 8000, AnswerChars: 65536, Batch: 50, OpenQuestions: 10000, MetadataBytes: 65536, ReasonChars: 1000},
		PollInitial: 250 * time.Millisecond, PollMax: time.Second,
	})
	equal(t, "39 changed", settingsWith(t, map[string]string{"AGENT_BUS_MAX_QUESTION_CHARS": " 3 "}).QuestionChars, 3)
	equal(t, "initial above max", settingsWith(t, map[string]string{"AGENT_BUS_POLL_MAX_MS": "100"}).PollInitial, 100*time.Millisecond)
}

func TestLimitsThatAreNone(t *testing.T) {
	for _, value := range []string{"many", "-1", "0", "1.5", "1e3", "99999999999999999999"} {
		for _, name := range []string{"AGENT_BUS_MAX_QUESTION_CHARS", "AGENT_BUS_MAX_ANSWER_CHARS", "AGENT_BUS_MAX_PUBLISH_BATCH", "AGENT_BUS_POLL_INITIAL_MS"} {
			_, err := tools.SettingsFrom(func(n string) string {
				if n == name {
					return value
				}
				return ""
			})
			if code.Of(err) != topic.InvalidArgument {
				t.Errorf("%s=%s: %v", name, value, err)
				continue
			}
			mentions(t, err.Error(), name)
		}
	}
}

func TestQuestionLimit(t *testing.T) {
	play(t, []scenario{{"39 three characters", func(t *testing.T, s *stage) {
		s.Limits.QuestionChars = 3
		mentions(t, s.refused("INVALID_ARGUMENT", "A", "ask", f(`{"topic_id":%q,"question":"hello"}`, s.id)).text, "exceeds the maximum of 3")
		s.ok("A", "ask", f(`{"topic_id":%q,"question":"鼠鼠鼠"}`, s.id))
	}}})
}

// TestTheLongestAnswerFitsALine: with every limit at its highest and every
// character one that JSON writes in six bytes.
func TestTheLongestAnswerFitsALine(t *testing.T) {
	list := func(n, chars int) string {
		return topictest.JSON(slices.Repeat([]string{strings.Repeat("\x01", chars)}, n))
	}
	play(t, []scenario{{"longest", func(t *testing.T, s *stage) {
		s.Limits = settingsWith(t, map[string]string{"AGENT_BUS_MAX_ANSWER_CHARS": "500000", "AGENT_BUS_MAX_QUESTION_CHARS": "500000"}).Limits
		long := topictest.JSON(strings.Repeat("\x01", 500_000))
		q := s.ok("A", "ask", f(`{"topic_id":%q,"question":%s}`, s.id, long))["question_id"]
		s.ok("B", "answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,"answer_markdown":%s,"repo_pointers":%s,"suggested_followups":%s}]}`,
			s.id, q, long, list(topic.MaxPointers, topic.MaxPointerChars), list(topic.MaxFollowups, topic.MaxFollowupChars)))
		for _, e := range s.Topic(s.id).Log {
			if n := len(topictest.JSON(e)); n > journal.MaxLine {
				t.Errorf("%s takes %d bytes", e.Type, n)
			}
		}
	}}})
}
