package main

import (
	"context"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

// A pingResult answers ping.
type pingResult struct {
	OK          bool   `json:"ok"`
	SpecVersion string `json:"spec_version"`
	topic.Notices
}

func (r *pingResult) Text() string { return "ok, agent-bus " + r.SpecVersion }

func ping(context.Context, *call) (topic.Result, error) {
	return &pingResult{OK: true, SpecVersion: specVersion}, nil
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
	infos, warnings, err := c.topics()
	if err != nil {
		return nil, err
	}
	return warned(&topic.ListResult{Topics: topic.Select(infos, status)}, warnings), nil
}

func topicResolve(_ context.Context, c *call) (topic.Result, error) {
	request, err := topic.ParseResolve(c.args)
	if err != nil {
		return nil, err
	}
	info, err := c.resolve(request)
	if err != nil {
		return nil, err
	}
	return info.Result(), nil
}

func (b *bus) resolve(r topic.ResolveRequest) (topic.Info, error) {
	infos, _, err := b.topics()
	if err != nil {
		return topic.Info{}, err
	}
	return topic.Find(infos, r)
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
	by, _ := c.session.agent(id) // who has not joined may close it too
	var warnings []topic.Warning
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []journal.Event, err error) {
		events, warnings, err = s.Close(by, reason)
		return events, err
	})
	if err != nil {
		return nil, err
	}
	return warned(snap.State.CloseResult(), warnings), nil
}

func topicJoin(ctx context.Context, c *call) (topic.Result, error) {
	request, err := topic.ParseJoin(c.args)
	if err != nil {
		return nil, err
	}
	id := request.TopicID
	if request.Name != "" {
		info, err := c.resolve(topic.ResolveRequest{Name: request.Name, AllowClosed: request.AllowClosed})
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
	inUse, err := c.session.join(ctx, r, request.AgentName)
	if err != nil {
		return nil, err
	}
	result := snap.State.Info().Joined(request.AgentName)
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
