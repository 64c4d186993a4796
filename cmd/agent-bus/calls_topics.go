package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// A pingResult is the result of ping.
type pingResult struct {
	OK          bool   `json:"ok"`
	SpecVersion string `json:"spec_version"`
	DataDir     string `json:"data_dir"`
	Engine      string `json:"engine,omitempty"`
	tools.Notices
}

func (r *pingResult) Text() string {
	return "ok, agent-bus " + r.SpecVersion + "\ndata_dir: " + r.DataDir + tools.EngineLine(r.Engine)
}

func ping(_ context.Context, c *call, _ *tools.None) (tools.Result, error) {
	return &pingResult{OK: true, SpecVersion: specVersion, DataDir: c.home, Engine: c.engine}, nil
}

func topicCreate(ctx context.Context, c *call, a *tools.Create) (tools.Result, error) {
	s, doubtful, err := c.Create(ctx, topic.CreateRequest{Name: a.Name, Metadata: a.Metadata, Mode: a.Mode})
	if err != nil {
		return nil, withUnreadable(err, doubtful, a.Name)
	}
	return warned(tools.NewTopicResult(s), warningsOf(doubtful)...), nil
}

func topicList(_ context.Context, c *call, a *tools.List) (tools.Result, error) {
	all, err := c.Index()
	if err != nil {
		return nil, err
	}
	return warned(tools.NewListResult(all.States, a.Status), warningsOf(all.Unreadable)...), nil
}

func topicResolve(_ context.Context, c *call, a *tools.Resolve) (tools.Result, error) {
	s, warnings, err := c.resolve(topic.ResolveRequest{Name: a.Name, AllowClosed: a.AllowClosed})
	if err != nil {
		return nil, err
	}
	return warned(tools.NewTopicResult(s), warnings...), nil
}

func topicClose(ctx context.Context, c *call, a *tools.Close) (tools.Result, error) {
	s, changed, err := questions.Close(ctx, c.topic, c.agent, a.Reason)
	if err != nil {
		return nil, err
	}
	return closeResult(s, changed), nil
}

// closeResult returns the result of topic_close, with a warning if the topic was
// closed before.
func closeResult(s *topic.State, changed bool) *tools.CloseResult {
	result := tools.NewCloseResult(s)
	if !changed {
		result.Warn(tools.Already(tools.WarnAlreadyClosed, "topic_id", s.TopicID))
	}
	return result
}

func topicJoin(ctx context.Context, c *call, a *tools.Join) (tools.Result, error) {
	agent, err := a.Agent(c.defaultName)
	if err != nil {
		return nil, err
	}
	id := a.TopicID
	var warnings []tools.Warning
	if a.Name != "" {
		found, doubtful, err := c.resolve(topic.ResolveRequest{Name: a.Name, AllowClosed: a.AllowClosed})
		if err != nil {
			return nil, err
		}
		id, warnings = found.TopicID, doubtful
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	s, inUse, err := c.session.join(ctx, r, agent)
	if err != nil {
		return nil, err
	}
	if inUse {
		warnings = append(warnings, tools.NameInUse(id, agent))
	}
	result := tools.NewJoinResult(s, agent, c.home)
	result.Engine = c.engine
	if a.Agents {
		others, err := questions.Listeners(r, agent)
		if err != nil {
			return nil, err
		}
		result.Presence = tools.NewPresence(presentOf(others))
	}
	return warned(result, warnings...), nil
}

// presentOf returns the agents as results list them.
func presentOf(holders []fsroom.Holder) []tools.Present {
	agents := []tools.Present{}
	for _, h := range holders {
		agents = append(agents, tools.Present{AgentName: h.ID, Connected: true, LastSeenAt: event.NewTime(h.Marked)})
	}
	return agents
}
