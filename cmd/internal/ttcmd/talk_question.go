package ttcmd

import (
	"cmp"
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
)

var askCommand = &cli.Command{
	Name: "ask",
	Args: []cli.Arg{
		{Name: "agent", Show: "AGENT|room|human", Usage: `an agent id, the name of one active member, "room" for anybody, or "human" for any person`},
		{Name: "body", Show: "QUESTION", Optional: true, Rest: true, Usage: "the question, at most 8000 characters"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("stdin", "read the question from standard input")
		f.Bool("wait", "wait for the answer and print it")
		f.Duration("timeout", "D", 0, "how long to wait (default: the room's limit, 110s)")
		f.Bool("exit-code", "with --wait: 3 where nobody has answered")
	},
	Signals: true,
	Run:     runAsk,
}

// An askResult is the result of ask.
type askResult struct {
	questions.Asked
	aftermath
	elsewhere
}

func runAsk(ctx context.Context, c *cli.Invocation) error {
	for _, flag := range []string{"timeout", "exit-code"} {
		if c.Given(flag) && !c.Bool("wait") {
			return c.Usagef("--%s goes with --wait", flag)
		}
	}
	body, err := bodyOf(c, talk.KindQuestion)
	if err != nil {
		return err
	}
	own, _, err := openRoom(c)
	if err != nil {
		return err
	}
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	asked, err := questions.Of(own).Ask(ctx, c.Arg("agent"), body)
	if err != nil {
		return interrupted(ctx, err)
	}
	room := asked.In.Room
	res := &askResult{Asked: asked, elsewhere: elsewhereOf(room)}
	in := room.In(c.Env.Dir, room.Directory())
	if !c.Bool("wait") {
		res.aftermath = standing(own)
		return c.Out.Result(res, func(t *cli.Text) {
			writeAsked(t, res, in)
			res.aftermath.write(t)
		})
	}
	if asked.Deadlock {
		c.Notice(asked.To + " waits for the stick, which you hold: it answers when you have released it, unless it waits with --inbox")
	}
	limit, err := waitLimit(c, room)
	if err != nil {
		return interrupted(ctx, err)
	}
	c.Out.Until(ctx)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if res.Asked, err = asked.In.AwaitAnswer(waiting, asked); err != nil {
		return interrupted(ctx, err)
	}
	if err := c.Out.Result(res, func(t *cli.Text) { writeAsked(t, res, in) }); err != nil {
		return interrupted(ctx, err)
	}
	if res.Status == questions.ReplyAnswered {
		asked.In.ReplyShown(context.WithoutCancel(ctx), res.Asked)
		return nil
	}
	if c.Bool("exit-code") && ctx.Err() == nil {
		return cli.Exit(3)
	}
	return interrupted(ctx, nil)
}

// waitLimit returns --timeout, or how long a wait in the room takes without it.
func waitLimit(c *cli.Invocation, room *member.Room) (time.Duration, error) {
	if c.Given("timeout") {
		return c.Duration("timeout"), nil
	}
	snap, err := room.FS.View()
	if err != nil {
		return 0, err
	}
	return time.Duration(snap.State.Policy.WaitForTurn) * time.Millisecond, nil
}

func writeAsked(t *cli.Text, r *askResult, in string) {
	to := forWhom(r.To)
	switch r.Status {
	case questions.ReplyQueued:
		t.Line("Asked %s%s: question %s%s. The answer comes to: tt inbox", to, r.in(), t.Bold(r.ID), unlessHere(r.ToState))
	case questions.ReplyAnswered:
		writeAnswers(t, "", r.Answers)
	case questions.ReplyGone:
		t.Line("Nobody answers question %s: %s is %s. It stays open; withdraw it with: tt questions close %s%s", r.ID, to,
			awayWords(r.ToState), r.ID, in)
	case questions.ReplyCancelled:
		t.Line("Question %s was closed.", r.ID)
	default:
		t.Line("No answer yet. Question %s stays open; the answer comes to: tt inbox", r.ID)
	}
}

// forWhom says whom a question is for.
func forWhom(to string) string {
	return cmp.Or(map[string]string{"": "everybody", talk.AnyPerson: "any person"}[to], to)
}

// unlessHere says how an agent is that may not answer soon.
func unlessHere(state string) string {
	if state == "" || state == questions.Here || state == questions.Waiting {
		return ""
	}
	return " (" + awayWords(state) + ")"
}

func awayWords(state string) string {
	if state == questions.Left || state == "" {
		return "no member of the room"
	}
	return state
}

func writeAnswers(t *cli.Text, indent string, answers []topic.ShownAnswer) {
	for i := range answers {
		a := &answers[i]
		t.Line("%s%s answered %s:", cli.Styled(indent), t.Bold(a.AnsweredBy), t.Ago(a.AnsweredAt.Time))
		t.Block(indent+"  ", a.Markdown)
		for _, p := range a.Pointers {
			t.Line("%s  see %s", cli.Styled(indent), p)
		}
	}
}

var answerCommand = &cli.Command{
	Name: "answer",
	Args: []cli.Arg{
		questionArg,
		{Name: "body", Show: "ANSWER", Optional: true, Rest: true, Usage: "the answer; on a terminal without it the editor opens"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("stdin", "read the answer from standard input")
	},
	Run: runAnswer,
}

// An answerResult is the result of answer.
type answerResult struct {
	QuestionID string `json:"question_id"`
	AnswerID   string `json:"answer_id"`
	Status     string `json:"status"`
	AskedBy    string `json:"asked_by"`
	aftermath
}

func runAnswer(ctx context.Context, c *cli.Invocation) (err error) {
	var body string
	edits := len(c.Rest("body")) == 0 && !c.Bool("stdin") && c.Env.StdinTTY && c.Env.StdoutTTY
	if !edits {
		if body, err = bodyOf(c, talk.KindAnswer); err != nil {
			return err
		}
	}
	room, _, err := openRoom(c)
	if err != nil {
		return err
	}
	var d *draft
	defer func() { d.finish(c, err) }()
	if edits {
		if body, d, err = editAnswer(ctx, c, room); err == nil {
			err = talk.Check(talk.KindAnswer, body)
		}
		if err != nil {
			return err
		}
	}
	q, id, err := questions.Of(room).Answer(ctx, c.Arg("question"), body)
	if err != nil {
		return err
	}
	res := &answerResult{q.ID, id, "saved", q.From, standing(room)}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("Answered question %s of %s.", q.ID, q.From)
		res.aftermath.write(t)
	})
}

var questionsCommand = &cli.Command{
	Name:   "questions",
	Hidden: true,
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Flags: func(f *cli.Flags) {
		f.Bool("mine", "only those that you have asked")
		f.Bool("owed", "only those that you owe an answer")
		f.Bool("all", "every open question of the room")
		f.Int64("limit", "N", defaultNotes, "at most so many, up to 200")
	},
	Exclusive: [][2]string{{"mine", "owed"}, {"mine", "all"}, {"owed", "all"}},
	Run:       runQuestions,
}

func runQuestions(ctx context.Context, c *cli.Invocation) error {
	limit, err := limited(c, defaultNotes, mostNotes)
	if err != nil {
		return err
	}
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	found, err := questions.Of(room).Questions(ctx, seen.State, questions.QuestionQuery{Mine: c.Bool("mine"), Owed: c.Bool("owed"),
		All: c.Bool("all")})
	if err != nil {
		return err
	}
	listed := found[:min(limit, len(found))]
	return c.Out.Result(map[string]any{"questions": listed, "total": len(found)}, func(t *cli.Text) {
		if len(listed) == 0 {
			t.Line("No open questions.")
		}
		for i := range listed {
			writeQuestion(t, &listed[i])
		}
		if left := len(found) - len(listed); left > 0 {
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
	t.Block("  ", cmp.Or(q.Text, topic.LostText))
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
	Hidden: true,
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{questionArg},
	Run:    runQuestionsShow,
}

// A questionResult is the result of questions show.
type questionResult struct {
	questions.Question
	List []topic.ShownAnswer `json:"answers"`
}

func runQuestionsShow(ctx context.Context, c *cli.Invocation) error {
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	q, answers, shown, err := questions.Of(room).ShowQuestion(ctx, seen.State, c.Arg("question"))
	if err != nil {
		return err
	}
	err = c.Out.Result(&questionResult{q, answers}, func(t *cli.Text) {
		writeQuestion(t, &q)
		if q.Reason != "" {
			t.Line("  %s: %s", q.Status, q.Reason)
		}
		writeAnswers(t, "", answers)
	})
	if err == nil {
		shown()
	}
	return err
}

var questionsCloseCommand = &cli.Command{
	Name: "questions close",
	Args: []cli.Arg{questionArg},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; a person needs one for the question of somebody else")
	},
	Run: runQuestionsClose,
}

func runQuestionsClose(ctx context.Context, c *cli.Invocation) error {
	room, _, err := openRoom(c)
	if err != nil {
		return err
	}
	q, err := questions.Of(room).CloseQuestion(ctx, c.Arg("question"), c.String("reason"))
	if err != nil {
		return err
	}
	res := map[string]any{"question_id": q.ID, "status": q.Status}
	return c.Out.Result(res, func(t *cli.Text) { t.Line("Question %s is %s.", q.ID, q.Status) })
}
