package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/wire"
)

var questionsCommand = &cli.Command{
	Name:   "questions",
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Short:  "list the open questions: who owes whom an answer",
	Long:   "Lists the open questions that the caller has asked or owes an answer, oldest first.",
	Flags: func(f *cli.Flags) {
		f.Bool("mine", "only those that you have asked")
		f.Bool("owed", "only those that you owe an answer")
		f.Bool("all", "every open question of the room")
		f.Int64("limit", "N", defaultNotes, "at most so many, up to 200")
		pathFlag(f)
	},
	Exclusive: [][2]string{{"mine", "owed"}, {"mine", "all"}, {"owed", "all"}},
	Errors:    []code.Code{code.RoomNotFound},
	Run:       runQuestions,
}

// A questionsResult is the result of questions.
type questionsResult struct {
	Questions []questions.Question `json:"questions"`
	Total     int                  `json:"total"` // also those beyond --limit
}

// MarshalJSON writes the result by its tags.
func (r *questionsResult) MarshalJSON() ([]byte, error) { return wire.Append(nil, r), nil }

func runQuestions(ctx context.Context, c *cli.Invocation) error {
	limit, err := limited(c, defaultNotes, mostNotes)
	if err != nil {
		return err
	}
	room, st, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	found, err := questions.Of(room).Questions(ctx, st, questions.QuestionQuery{Mine: c.Bool("mine"), Owed: c.Bool("owed"),
		All: c.Bool("all")})
	if err != nil {
		return err
	}
	res := &questionsResult{found[:min(limit, len(found))], len(found)}
	return c.Out.Result(res, func(t *cli.Text) {
		if len(res.Questions) == 0 {
			t.Line("No open questions.")
		}
		for i := range res.Questions {
			writeQuestion(t, &res.Questions[i])
		}
		if left := res.Total - len(res.Questions); left > 0 {
			t.Line("%s", t.Dim(counted(left, "newer question")+" left out; --limit shows more"))
		}
	})
}

// writeQuestion writes who has asked whom what.
func writeQuestion(t *cli.Text, q *questions.Question) {
	mark := t.Dim("open")
	switch {
	case q.Status != topic.Pending && q.Status != "open":
		mark = t.Dim(q.Status)
	case q.Owed:
		mark = t.Yellow("yours to answer")
	case q.Answers > 0:
		mark = t.Green(counted(q.Answers, "answer"))
	}
	t.Line("%s  %s  %s%s → %s%s, %s", t.Bold(q.ID), mark, q.From, unlessHere(q.FromState), forWhom(q.To), whereIs(q), t.Ago(q.AskedAt.Time))
	t.Block("  ", q.Text)
}

// whereIs says how the agent is that a question is for.
func whereIs(q *questions.Question) string {
	if q.ToState == questions.Waiting {
		return " (waits for the stick)"
	}
	return unlessHere(q.ToState)
}

var questionArg = cli.Arg{Name: "question", Show: "ID", Usage: "the question, by its id or the first four or more characters of it"}

var questionsShowCommand = &cli.Command{
	Name:   "questions show",
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{questionArg},
	Short:  "show a question and its answers",
	Long:   "Also a question that is settled. Answers that the asker was shown count as shown.",
	Flags:  pathFlag,
	Errors: []code.Code{code.RoomNotFound, code.UnknownTarget, code.AmbiguousTarget},
	Run:    runQuestionsShow,
}

// A questionResult is the result of questions show.
type questionResult struct {
	questions.Question
	List []topic.Answer `json:"answers"`
}

// MarshalJSON writes the result by its tags.
func (r *questionResult) MarshalJSON() ([]byte, error) { return wire.Append(nil, r), nil }

func runQuestionsShow(ctx context.Context, c *cli.Invocation) error {
	room, st, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	q, answers, shown, err := questions.Of(room).ShowQuestion(ctx, st, c.Arg("question"))
	if err != nil {
		return err
	}
	if err := c.Out.Result(&questionResult{q, answers}, func(t *cli.Text) {
		writeQuestion(t, &q)
		if q.Reason != "" {
			t.Line("  %s: %s", q.Status, q.Reason)
		}
		writeAnswers(t, "", answers)
	}); err != nil {
		return err
	}
	shown()
	return nil
}

var questionsCloseCommand = &cli.Command{
	Name:  "questions close",
	Args:  []cli.Arg{questionArg},
	Short: "settle a question, as answered or as cancelled",
	Long:  "As answered if it has answers, otherwise as cancelled. Its asker may do so, and a person with a reason.",
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; a person needs one for the question of somebody else")
		pathFlag(f)
	},
	Errors: []code.Code{code.NotJoined, code.RoomNotFound, code.UnknownTarget, code.AmbiguousTarget, code.ReasonRequired,
		code.QuestionClosed, code.LockTimeout},
	Run: runQuestionsClose,
}

// A closedQuestionResult is the result of questions close.
type closedQuestionResult struct {
	QuestionID string `json:"question_id"`
	Status     string `json:"status"`
}

func runQuestionsClose(ctx context.Context, c *cli.Invocation) error {
	room, err := openRoom(c)
	if err != nil {
		return err
	}
	q, err := questions.Of(room).CloseQuestion(ctx, c.Arg("question"), c.String("reason"))
	if err != nil {
		return err
	}
	return c.Out.Result(closedQuestionResult{q.ID, q.Status}, func(t *cli.Text) { t.Line("Question %s is %s.", q.ID, q.Status) })
}
