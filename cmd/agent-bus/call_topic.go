package main

import (
	"context"
	"strings"

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

func ping(_ context.Context, c *call) (tools.Result, error) {
	return &pingResult{OK: true, SpecVersion: specVersion, DataDir: c.home, Engine: c.engine}, nil
}

func topicCreate(ctx context.Context, c *call) (tools.Result, error) {
	request, err := tools.ParseCreate(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	info, doubtful, err := c.Create(ctx, request)
	if err != nil {
		return nil, withUnreadable(err, doubtful, request.Name)
	}
	return warned(tools.NewTopicResult(&info), warningsOf(doubtful)...), nil
}

func topicList(_ context.Context, c *call) (tools.Result, error) {
	status := c.args.Choice("status", topic.ListOpen, topic.ListClosed, topic.ListAll)
	if err := c.args.Err(); err != nil {
		return nil, err
	}
	all, err := c.Index()
	if err != nil {
		return nil, err
	}
	return warned(tools.NewListResult(all.Infos(), status), warningsOf(all.Unreadable)...), nil
}

func topicResolve(_ context.Context, c *call) (tools.Result, error) {
	request := topic.ResolveRequest{Name: strings.TrimSpace(c.args.Required("name")), AllowClosed: c.args.Boolean("allow_closed")}
	if err := c.args.Err(); err != nil {
		return nil, err
	}
	info, warnings, err := c.resolve(request)
	if err != nil {
		return nil, err
	}
	return warned(tools.NewTopicResult(&info), warnings...), nil
}

func topicClose(ctx context.Context, c *call) (tools.Result, error) {
	reason := c.args.Reason(c.limits)
	if err := c.args.Err(); err != nil {
		return nil, err
	}
	s, changed, err := questions.Close(ctx, c.topic, c.agent, reason)
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

func topicJoin(ctx context.Context, c *call) (tools.Result, error) {
	request, err := tools.ParseJoin(c.args, c.defaultName)
	if err != nil {
		return nil, err
	}
	id := request.TopicID
	var warnings []tools.Warning
	if request.Name != "" {
		var info topic.Info
		info, warnings, err = c.resolve(topic.ResolveRequest{Name: request.Name, AllowClosed: request.AllowClosed})
		if err != nil {
			return nil, err
		}
		id = info.TopicID
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	s, inUse, err := c.session.join(ctx, r, request.AgentName)
	if err != nil {
		return nil, err
	}
	if inUse {
		warnings = append(warnings, tools.NameInUse(id, request.AgentName))
	}
	result := tools.NewJoinResult(s, request.AgentName, c.home)
	result.Engine = c.engine
	if request.Agents {
		others, err := questions.Listeners(r, request.AgentName)
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
