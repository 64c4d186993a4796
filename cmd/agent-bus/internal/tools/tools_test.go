package tools_test

import (
	"encoding/json"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// read reads the arguments of a tool, and checks them. It returns the warnings of both.
func (w *world) read(raw json.RawMessage, a tools.Arguments) ([]tools.Warning, error) {
	unknown, err := tools.Read(raw, tools.Schema(a, w.Limits), a)
	if err != nil {
		return nil, err
	}
	warnings, err := a.Check(w.Limits)
	return append(warnings, unknown...), err
}

// run strings the rules together as a server does.
func (w *world) run(session, tool string, raw json.RawMessage) (tools.Result, error) {
	switch tool {
	case "topic_create":
		return w.create(raw)
	case "topic_list":
		var a tools.List
		_, err := w.read(raw, &a)
		return tools.NewListResult(w.States(), a.Status), err
	case "topic_resolve":
		var a tools.Resolve
		if _, err := w.read(raw, &a); err != nil {
			return nil, err
		}
		found, err := topic.Find(w.States(), a.Name, a.AllowClosed)
		if err != nil {
			return nil, err
		}
		return tools.NewTopicResult(found), nil
	case "topic_join":
		return w.join(session, raw)
	}
	var on tools.OnTopic
	if _, err := w.read(raw, &on); err != nil {
		return nil, err
	}
	id := on.TopicID
	if tool == "topic_close" {
		return w.close(id, raw)
	}
	if tool == "ask_poll" {
		return w.poll(id, raw)
	}
	agent := w.names[[2]string{session, id}]
	if agent == "" {
		return nil, tools.NotJoined(id)
	}
	switch tool {
	case "ask":
		return w.ask(session, id, agent, raw)
	case "pending_list":
		return w.pending(id, agent, raw)
	case "answer":
		return w.answer(id, agent, raw)
	case "ask_cancel":
		return w.cancel(id, agent, raw)
	}
	return w.mark(id, agent, raw)
}

func (w *world) create(raw json.RawMessage) (tools.Result, error) {
	var a tools.Create
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	info := w.Create(topic.CreateRequest{Name: a.Name, Metadata: a.Metadata, Mode: a.Mode})
	return tools.NewTopicResult(info), nil
}

func (w *world) join(session string, raw json.RawMessage) (tools.Result, error) {
	var a tools.Join
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	agent, err := a.Agent(func() string { return w.harness })
	if err != nil {
		return nil, err
	}
	if a.Name != "" {
		found, err := topic.Find(w.States(), a.Name, a.AllowClosed)
		if err != nil {
			return nil, err
		}
		a.TopicID = found.TopicID
	}
	s := w.Topic(a.TopicID).State
	if !s.Exists() {
		return nil, topic.NotFound("topic_id", a.TopicID)
	}
	key := [2]string{session, a.TopicID}
	if err := s.CheckRejoin(w.names[key], agent, w.asked[key]); err != nil {
		return nil, err
	}
	w.names[key] = agent
	return tools.NewJoinResult(s, agent, "/data"), nil
}

func (w *world) close(id string, raw json.RawMessage) (tools.Result, error) {
	var a tools.Close
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	events, err := w.Topic(id).State.Close("", a.Reason)
	if err != nil {
		return nil, err
	}
	r := tools.NewCloseResult(w.Commit(id, events))
	if events == nil {
		r.Warn(tools.Already(tools.WarnAlreadyClosed, "topic_id", id))
	}
	return r, nil
}

func (w *world) poll(id string, raw json.RawMessage) (tools.Result, error) {
	var a tools.Poll
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	m := w.Topic(id)
	r, err := tools.NewPollResult(m.State, a.QuestionID, a.Skip, m.Lookup)
	return r, w.mismatch(err, id, a.QuestionID)
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

func (w *world) ask(session, id, agent string, raw json.RawMessage) (tools.Result, error) {
	var a tools.Ask
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	r := topic.AskRequest{Question: a.Question, To: a.To}
	events, question, err := w.Topic(id).State.Ask(agent, r, w.NewID, w.Limits)
	if err != nil {
		return nil, err
	}
	w.Commit(id, events)
	key := [2]string{session, id}
	w.asked[key] = append(w.asked[key], question)
	if a.WaitSeconds == 0 {
		return tools.NewQueuedResult(id, question, agent, r.To), nil
	}
	return w.waited(id, question)
}

// waited is what an ask answers that waited until now.
func (w *world) waited(id, question string) (tools.Result, error) {
	m := w.Topic(id)
	r, err := tools.NewPollResult(m.State, question, 0, m.Lookup)
	if err != nil {
		return nil, err
	}
	return r.AskResult(w.listeners), nil
}

func (w *world) pending(id, agent string, raw json.RawMessage) (tools.Result, error) {
	var a tools.Pending
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	m := w.Topic(id)
	return tools.PendingList(m.State, agent, &a, m.Lookup)
}

func (w *world) answer(id, agent string, raw json.RawMessage) (tools.Result, error) {
	var a tools.Answer
	warnings, err := w.read(raw, &a)
	if err != nil {
		return nil, err
	}
	events, tally, err := w.Topic(id).State.Answer(agent, a.Stored(), w.NewID)
	if err != nil {
		return nil, err
	}
	r := tools.NewSavedResult(w.Commit(id, events), tally)
	r.Warn(warnings...)
	return r, nil
}

func (w *world) cancel(id, agent string, raw json.RawMessage) (tools.Result, error) {
	var a tools.Cancel
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	question := a.QuestionID
	events, err := w.Topic(id).State.Cancel(agent, question, a.Reason)
	if err != nil {
		return nil, w.mismatch(err, id, question)
	}
	r := tools.NewSettledResult(w.Commit(id, events), question)
	if events == nil {
		r.Warn(tools.Already(tools.WarnAlreadyCancelled, "question_id", question))
	}
	return r, nil
}

func (w *world) mark(id, agent string, raw json.RawMessage) (tools.Result, error) {
	var a tools.OfQuestion
	if _, err := w.read(raw, &a); err != nil {
		return nil, err
	}
	question := a.QuestionID
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
