package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// A pingResult answers ping.
type pingResult struct {
	OK          bool   `json:"ok"`
	SpecVersion string `json:"spec_version"`
	DataDir     string `json:"data_dir"`
	tools.Notices
}

func (r *pingResult) Text() string {
	return "ok, agent-bus " + r.SpecVersion + "\ndata_dir: " + r.DataDir
}

func ping(_ context.Context, c *call) (tools.Result, error) {
	return &pingResult{OK: true, SpecVersion: specVersion, DataDir: c.Path}, nil
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
	return warned(tools.NewTopicResult(&info), warningsOf(doubtful)), nil
}

func topicList(_ context.Context, c *call) (tools.Result, error) {
	status, err := tools.ParseList(c.args)
	if err != nil {
		return nil, err
	}
	all, err := c.Index()
	if err != nil {
		return nil, err
	}
	return warned(tools.NewListResult(all.Infos(), status), warningsOf(all.Unreadable)), nil
}

func topicResolve(_ context.Context, c *call) (tools.Result, error) {
	request, err := tools.ParseResolve(c.args)
	if err != nil {
		return nil, err
	}
	info, warnings, err := c.resolve(request)
	if err != nil {
		return nil, err
	}
	return warned(tools.NewTopicResult(&info), warnings), nil
}

func topicClose(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	reason, err := tools.ParseReason(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	by, _ := c.session.agent(id) // "" for a session that has not joined, which may close it too
	result, err := closeTopic(ctx, r, by, reason)
	if err != nil {
		return nil, err
	}
	return result, nil
}

// closeTopic closes the topic. The result has a warning if it was closed before.
func closeTopic(ctx context.Context, r *topics.Room, by, reason string) (*tools.CloseResult, error) {
	var changes []event.Event
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		changes, err = s.Close(by, reason)
		return changes, err
	})
	if err != nil {
		return nil, err
	}
	result := tools.NewCloseResult(snap.State)
	if len(changes) == 0 {
		result.Warn(tools.Already(tools.WarnAlreadyClosed, "topic_id", result.TopicID))
	}
	return result, nil
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
	snap, err := r.View()
	if err != nil {
		return nil, err
	}
	if !snap.State.Exists() {
		return nil, topic.NotFound("topic_id", id)
	}
	inUse, err := c.session.join(ctx, r, request.AgentName)
	if err != nil {
		return nil, err
	}
	result := tools.NewJoinResult(snap.State, request.AgentName, c.Path)
	result.Warn(warnings...)
	if inUse {
		result.Warn(tools.NameInUse(id, request.AgentName))
	}
	return result, nil
}

// warned returns the result with the warnings.
func warned(r tools.Result, warnings []tools.Warning) tools.Result {
	r.Warn(warnings...)
	return r
}
