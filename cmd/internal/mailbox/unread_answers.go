package mailbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

// An unreadAnswer is an answer in the refusal of [Mailbox.CheckAnswers].
type unreadAnswer struct {
	QuestionID string `json:"question_id"`
	Question   string `json:"question"`
	Answer     string `json:"answer"`
	From       string `json:"from_agent_id"`
}

// CheckAnswers refuses, once, to end a turn of the agent in which it asked a question whose
// answer it was not shown: its handoff would say that there is none. The refusal has the
// answers, which count as shown by that. What cannot be read refuses nothing.
func (m *Mailbox) CheckAnswers(ctx context.Context, st *turn.State) error {
	if st.Owner != m.Room.Self.ID {
		return nil
	}
	t, s, settled, err := m.questions().SettledTopic(ctx)
	if err != nil || !settled || len(s.Own(m.Room.Self.ID)) == 0 {
		return nil
	}
	at := m.Cursor(st)
	seen := at.TopicSeen(t.Name())
	answers, ids, recent, err := newAnswers(ctx, t, s, m.Room.Self.ID, seen.Answers, st.Grant.At.Wall.Time)
	if err != nil || !recent {
		return nil
	}
	var list []unreadAnswer
	var words []string
	for _, a := range answers {
		words = append(words, fmt.Sprintf("%s answers %s (%s): %s", a.AnsweredBy, a.QuestionID, turn.Preview(a.Question), a.Payload.Markdown))
		list = append(list, unreadAnswer{a.QuestionID, a.Question, a.Payload.Markdown, a.AnsweredBy})
	}
	_ = m.questions().MarkShown(ctx, t, ids) // a question that is not marked stays open, and its answer is known
	m.show(Cursor{JoinedAt: at.JoinedAt, TopicID: t.Name(), AnswersSeq: s.Seq})
	return code.New(code.UnreadAnswers, "you have not seen what was answered to your questions: %s", strings.Join(words, "; ")).
		WithHint("mend the handoff if an answer changes it, and run the command again: it goes through").With("answers", list)
}
