package tools_test

import (
	"encoding/json"
	"strings"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// run strings the rules together as a server does.
func (w *world) run(session, tool string, raw json.RawMessage) (tools.Result, error) {
	a, err := tools.ParseArgs(raw)
	if err != nil {
		return nil, err
	}
	switch tool {
	case "topic_create":
		return w.create(a)
	case "topic_list":
		status := a.Choice("status", topic.ListOpen, topic.ListClosed, topic.ListAll)
		return tools.NewListResult(w.Infos(), status), a.Err()
	case "topic_resolve":
		r := topic.ResolveRequest{Name: strings.TrimSpace(a.Required("name")), AllowClosed: a.Boolean("allow_closed")}
		if a.Err() != nil {
			return nil, a.Err()
		}
		found, err := topic.Find(w.Infos(), r)
		return tools.NewTopicResult(&found), err
	case "topic_join":
		return w.join(session, a)
	}
	id := a.Required("topic_id")
	if a.Err() != nil {
		return nil, a.Err()
	}
	if tool == "topic_close" {
		return w.close(id, a)
	}
	if tool == "ask_poll" {
		return w.poll(id, a)
	}
	agent := w.names[[2]string{session, id}]
	if agent == "" {
		return nil, tools.NotJoined(id)
	}
	switch tool {
	case "ask":
		return w.ask(session, id, agent, a)
	case "pending_list":
		return w.pending(id, agent, a)
	case "answer":
		return w.answer(id, agent, a)
	case "ask_cancel":
		return w.cancel(id, agent, a)
	}
	return w.mark(id, agent, a)
}

func (w *world) create(a *tools.Args) (tools.Result, error) {
	r, err := tools.ParseCreate(a, w.Limits)
	if err != nil {
		return nil, err
	}
	info := w.Create(r)
	return tools.NewTopicResult(&info), nil
}

func (w *world) join(session string, a *tools.Args) (tools.Result, error) {
	r, err := tools.ParseJoin(a, func() string { return w.harness })
	if err != nil {
		return nil, err
	}
	if r.Name != "" {
		found, err := topic.Find(w.Infos(), topic.ResolveRequest{Name: r.Name, AllowClosed: r.AllowClosed})
		if err != nil {
			return nil, err
		}
		r.TopicID = found.TopicID
	}
	s := w.Topic(r.TopicID).State
	if !s.Exists() {
		return nil, topic.NotFound("topic_id", r.TopicID)
	}
	key := [2]string{session, r.TopicID}
	if err := s.CheckRejoin(w.names[key], r.AgentName, w.asked[key]); err != nil {
		return nil, err
	}
	w.names[key] = r.AgentName
	return tools.NewJoinResult(s, r.AgentName, "/data"), nil
}

func (w *world) close(id string, a *tools.Args) (tools.Result, error) {
	reason := a.Reason(w.Limits)
	if a.Err() != nil {
		return nil, a.Err()
	}
	events, err := w.Topic(id).State.Close("", reason)
	if err != nil {
		return nil, err
	}
	r := tools.NewCloseResult(w.Commit(id, events))
	if events == nil {
		r.Warn(tools.Already(tools.WarnAlreadyClosed, "topic_id", id))
	}
	return r, nil
}

func (w *world) poll(id string, a *tools.Args) (tools.Result, error) {
	question, skip := a.Required("question_id"), a.Integer("skip", 0, 0)
	if a.Integer("min_answers", 1, 1); a.Err() != nil {
		return nil, a.Err()
	}
	m := w.Topic(id)
	r, err := tools.Poll(m.State, question, skip, m.Lookup)
	return r, w.mismatch(err, id, question)
}

// mismatch turns "not found" into TOPIC_MISMATCH if the question is elsewhere.
func (w *world) mismatch(err error, id, question string) error {
	if code.Of(err) == topic.QuestionNotFound {
		for _, m := range w.Topics {
			if m.State.Question(question) != nil {
				return tools.Mismatch(question, id)
			}
		}
	}
	return err
}

func (w *world) ask(session, id, agent string, a *tools.Args) (tools.Result, error) {
	r, waitSeconds, err := tools.ParseAsk(a, w.Limits)
	if err != nil {
		return nil, err
	}
	events, question, err := w.Topic(id).State.Ask(agent, r, w.NewID, w.Limits)
	if err != nil {
		return nil, err
	}
	w.Commit(id, events)
	key := [2]string{session, id}
	w.asked[key] = append(w.asked[key], question)
	if waitSeconds == 0 {
		return tools.NewQueuedResult(id, question, agent, r.To), nil
	}
	return w.waited(id, question)
}

// waited is what an ask answers that waited until now.
func (w *world) waited(id, question string) (tools.Result, error) {
	m := w.Topic(id)
	r, err := tools.Poll(m.State, question, 0, m.Lookup)
	if err != nil {
		return nil, err
	}
	return r.AskResult(w.listeners), nil
}

func (w *world) pending(id, agent string, a *tools.Args) (tools.Result, error) {
	r, err := tools.ParsePending(a)
	if err != nil {
		return nil, err
	}
	m := w.Topic(id)
	return tools.PendingList(m.State, agent, r, m.Lookup)
}

func (w *world) answer(id, agent string, a *tools.Args) (tools.Result, error) {
	responses, warnings, err := tools.ParseResponses(a, w.Limits)
	if err != nil {
		return nil, err
	}
	events, tally, err := w.Topic(id).State.Answer(agent, responses, w.NewID)
	if err != nil {
		return nil, err
	}
	r := tools.NewSavedResult(w.Commit(id, events), tally)
	r.Warn(warnings...)
	return r, nil
}

func (w *world) cancel(id, agent string, a *tools.Args) (tools.Result, error) {
	question, reason := a.Required("question_id"), a.Reason(w.Limits)
	if a.Err() != nil {
		return nil, a.Err()
	}
	events, err := w.Topic(id).State.Cancel(agent, question, reason)
	if err != nil {
		return nil, w.mismatch(err, id, question)
	}
	r := tools.NewSettledResult(w.Commit(id, events), question)
	if events == nil {
		r.Warn(tools.Already(tools.WarnAlreadyCancelled, "question_id", question))
	}
	return r, nil
}

func (w *world) mark(id, agent string, a *tools.Args) (tools.Result, error) {
	question := a.Required("question_id")
	if a.Err() != nil {
		return nil, a.Err()
	}
	events, err := w.Topic(id).State.MarkAnswered(agent, question)
	if err != nil {
		return nil, w.mismatch(err, id, question)
	}
	r := tools.NewSettledResult(w.Commit(id, events), question)
	if events == nil {
		r.Warn(tools.Already(tools.WarnAlreadyAnswered, "question_id", question))
	}
	return r, nil
}
