package main

import (
	"context"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

// A pingResult answers ping.
type pingResult struct {
	OK          bool   `json:"ok"`
	SpecVersion string `json:"spec_version"`
	DataDir     string `json:"data_dir"`
	topic.Notices
}

func (r *pingResult) Text() string {
	return "ok, agent-bus " + r.SpecVersion + "\ndata_dir: " + r.DataDir
}

func ping(_ context.Context, c *call) (topic.Result, error) {
	return &pingResult{OK: true, SpecVersion: specVersion, DataDir: c.dir}, nil
}

func topicCreate(ctx context.Context, c *call) (topic.Result, error) {
	request, err := topic.ParseCreate(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	info, warnings, err := c.create(ctx, request)
	if err != nil {
		return nil, err
	}
	return warned(info.Result(), warnings), nil
}

func topicList(_ context.Context, c *call) (topic.Result, error) {
	status, err := topic.ParseList(c.args)
	if err != nil {
		return nil, err
	}
	all, err := c.index()
	if err != nil {
		return nil, err
	}
	return warned(topic.List(all.infos(), status), warningsOf(all.unreadable)), nil
}

func topicResolve(_ context.Context, c *call) (topic.Result, error) {
	request, err := topic.ParseResolve(c.args)
	if err != nil {
		return nil, err
	}
	info, warnings, err := c.resolve(request)
	if err != nil {
		return nil, err
	}
	return warned(info.Result(), warnings), nil
}

func topicClose(ctx context.Context, c *call) (topic.Result, error) {
	id, err := topic.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	reason, err := topic.ParseReason(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	r, err := c.topic(id)
	if err != nil {
		return nil, err
	}
	by, _ := c.session.agent(id) // "" for a session that has not joined, which may close it too
	var warnings []topic.Warning
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		events, warnings, err = s.Close(by, reason)
		return events, err
	})
	if err != nil {
		return nil, err
	}
	return warned(snap.State.CloseResult(), warnings), nil
}

func topicJoin(ctx context.Context, c *call) (topic.Result, error) {
	request, err := topic.ParseJoin(c.args, c.defaultName)
	if err != nil {
		return nil, err
	}
	id := request.TopicID
	var warnings []topic.Warning
	if request.Name != "" {
		var info topic.Info
		info, warnings, err = c.resolve(topic.ResolveRequest{Name: request.Name, AllowClosed: request.AllowClosed})
		if err != nil {
			return nil, err
		}
		id = info.TopicID
	}
	r, err := c.topic(id)
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
	result := snap.State.Info().Joined(request.AgentName, c.dir)
	result.Warn(warnings...)
	if inUse {
		result.Warn(topic.NameInUse(id, request.AgentName))
	}
	return result, nil
}

// warned returns the result with the warnings.
func warned(r topic.Result, warnings []topic.Warning) topic.Result {
	r.Warn(warnings...)
	return r
}
