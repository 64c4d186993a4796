package topic_test

import (
	"encoding/json"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// run strings the rules together as a server does.
func (w *world) run(session, tool string, raw json.RawMessage) (topic.Result, error) {
	a, err := topic.ParseArgs(raw)
	if err != nil {
		return nil, err
	}
	switch tool {
	case "topic_create":
		return w.create(a)
	case "topic_list":
		status, err := topic.ParseList(a)
		return topic.List(w.infos(), status), err
	case "topic_resolve":
		r, err := topic.ParseResolve(a)
		if err != nil {
			return nil, err
		}
		found, err := topic.Find(w.infos(), r)
		return found.Result(), err
	case "topic_join":
		return w.join(session, a)
	}
	id, err := topic.ParseTopicID(a)
	if err != nil {
		return nil, err
	}
	if tool == "topic_close" {
		return w.close(id, a)
	}
	if tool == "ask_poll" {
		return w.poll(id, a)
	}
	agent := w.names[[2]string{session, id}]
	if agent == "" {
		return nil, topic.NotJoined(id)
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

func (w *world) create(a topic.Args) (topic.Result, error) {
	r, err := topic.ParseCreate(a, w.limits)
	if err != nil {
		return nil, err
	}
	id := w.newID()
	reused, events := topic.Create(w.infos(), r, id)
	if reused != nil {
		return reused.Result(), nil
	}
	return w.commit(id, events).Info().Result(), nil
}

func (w *world) join(session string, a topic.Args) (topic.Result, error) {
	r, err := topic.ParseJoin(a, func() string { return w.harness })
	if err != nil {
		return nil, err
	}
	if r.Name != "" {
		found, err := topic.Find(w.infos(), topic.ResolveRequest{Name: r.Name, AllowClosed: r.AllowClosed})
		if err != nil {
			return nil, err
		}
		r.TopicID = found.TopicID
	}
	s := w.topic(r.TopicID).state
	if !s.Exists() {
		return nil, topic.NotFound("topic_id", r.TopicID)
	}
	key := [2]string{session, r.TopicID}
	if err := s.CheckRejoin(w.names[key], r.AgentName, w.asked[key]); err != nil {
		return nil, err
	}
	w.names[key] = r.AgentName
	return s.Info().Joined(r.AgentName, "/data"), nil
}

func (w *world) close(id string, a topic.Args) (topic.Result, error) {
	reason, err := topic.ParseReason(a, w.limits)
	if err != nil {
		return nil, err
	}
	events, warnings, err := w.topic(id).state.Close("", reason)
	if err != nil {
		return nil, err
	}
	r := w.commit(id, events).CloseResult()
	r.Warn(warnings...)
	return r, nil
}

func (w *world) poll(id string, a topic.Args) (topic.Result, error) {
	request, err := topic.ParsePoll(a)
	if err != nil {
		return nil, err
	}
	m := w.topic(id)
	r, err := m.state.Poll(request.QuestionID, request.Skip, m.lookup)
	return r, w.mismatch(err, id, request.QuestionID)
}

// mismatch turns "not found" into TOPIC_MISMATCH if the question is elsewhere.
func (w *world) mismatch(err error, id, question string) error {
	if code.Of(err) == topic.QuestionNotFound {
		for _, m := range w.topics {
			if m.state.Question(question) != nil {
				return topic.Mismatch(question, id)
			}
		}
	}
	return err
}

func (w *world) ask(session, id, agent string, a topic.Args) (topic.Result, error) {
	r, err := topic.ParseAsk(a, w.limits)
	if err != nil {
		return nil, err
	}
	events, question, err := w.topic(id).state.Ask(agent, r, w.newID, w.limits)
	if err != nil {
		return nil, err
	}
	w.commit(id, events)
	key := [2]string{session, id}
	w.asked[key] = append(w.asked[key], question)
	if topic.WaitSeconds(r.WaitSeconds) == 0 {
		return topic.Queued(id, question, agent, r.To), nil
	}
	return w.waited(id, question)
}

// waited is what an ask answers that waited until now.
func (w *world) waited(id, question string) (topic.Result, error) {
	m := w.topic(id)
	r, err := m.state.Poll(question, 0, m.lookup)
	if err != nil {
		return nil, err
	}
	return r.AskResult(w.listeners), nil
}

func (w *world) pending(id, agent string, a topic.Args) (topic.Result, error) {
	r, err := topic.ParsePending(a)
	if err != nil {
		return nil, err
	}
	m := w.topic(id)
	return m.state.PendingList(agent, r, m.lookup)
}

func (w *world) answer(id, agent string, a topic.Args) (topic.Result, error) {
	responses, warnings, err := topic.ParseResponses(a, w.limits)
	if err != nil {
		return nil, err
	}
	events, tally, err := w.topic(id).state.Answer(agent, responses, w.newID)
	if err != nil {
		return nil, err
	}
	r := w.commit(id, events).SavedResult(tally)
	r.Warn(warnings...)
	return r, nil
}

func (w *world) cancel(id, agent string, a topic.Args) (topic.Result, error) {
	question, err := topic.ParseQuestionID(a)
	if err != nil {
		return nil, err
	}
	reason, err := topic.ParseReason(a, w.limits)
	if err != nil {
		return nil, err
	}
	events, warnings, err := w.topic(id).state.Cancel(agent, question, reason)
	if err != nil {
		return nil, w.mismatch(err, id, question)
	}
	r := w.commit(id, events).CancelResult(question)
	r.Warn(warnings...)
	return r, nil
}

func (w *world) mark(id, agent string, a topic.Args) (topic.Result, error) {
	question, err := topic.ParseQuestionID(a)
	if err != nil {
		return nil, err
	}
	events, warnings, err := w.topic(id).state.MarkAnswered(agent, question)
	if err != nil {
		return nil, w.mismatch(err, id, question)
	}
	r := w.commit(id, events).MarkResult(question)
	r.Warn(warnings...)
	return r, nil
}
