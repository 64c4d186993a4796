//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/kinds"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

// A busTrial is a scene of agent-bus under one kind of fault.
type busTrial struct {
	*rig
	*busStage
	busScene
	report *report
	fault  fault
}

// session runs what a client does between its handshake and its leaving.
func (g *rig) session(data string, under []string, do func(*client) error) (result, error) {
	c, err := g.connect(data, under)
	if err != nil {
		return result{}, err
	}
	if err = c.greet(); err == nil {
		err = do(c)
	}
	return c.leave(), err
}

// use joins and uses the tool.
func (t *busTrial) use(data string, under []string) (told answer, res result, err error) {
	res, err = t.session(data, under, func(c *client) error {
		if t.agent != "" {
			if joined, err := c.call("topic_join", map[string]any{"topic_id": t.topic, "agent_name": t.agent}); err != nil || joined.IsError {
				told = joined
				return err
			}
		}
		var err error
		told, err = c.call(t.tool, t.args)
		return err
	})
	return told, res, err
}

func (t *busTrial) count(calls string) ([]point, error) {
	data, err := t.copied()
	if err != nil {
		return nil, err
	}
	defer t.remove(data)
	trace := data + ".trace"
	told, res, err := t.use(data, strace("-e", "trace="+known(t.fault.among(calls)), "-o", trace))
	if err != nil || told.IsError || res.exit != 0 {
		return nil, fmt.Errorf("without a fault: %v %v %v", err, told, res)
	}
	return pointsIn(readTrace(trace)), nil
}

func (t *busTrial) copied() (string, error) {
	data := t.newDir()
	if t.busScene.fresh {
		return data, nil
	}
	return data, copyDir(t.data, data)
}

func (t *busTrial) at(p point) {
	what := fmt.Sprintf("%s, %s at %v", t.name, t.fault, p)
	t.report.reach(what, func() (hit bool) {
		data, err := t.copied()
		if err != nil {
			t.report.wrong("%v", err)
			return true
		}
		defer t.remove(data)
		trace := data + ".trace"
		told, res, err := t.use(data, strace(append(t.fault.at(p), "-o", trace)...))
		acked := err == nil && !told.IsError
		if hit = t.fault.struck(readTrace(trace)); hit {
			t.report.hit(t.fault, res.exit == -1, acked)
		}
		if err := t.judge(data, told, acked, err); err != nil {
			t.report.wrong("%s: %v\n    %v %v", what, err, told.Structured, res)
		}
		return hit
	})
}

// judge: an answer is true, also "it failed"; without one the change is there as a
// whole or not at all. Then a new session does the same again.
func (t *busTrial) judge(data string, told answer, acked bool, err error) error {
	left, err2 := t.news(data)
	switch happened := maps.Equal(left, t.leaves); {
	case err2 != nil:
		return err2
	case err != nil && !errors.Is(err, errMute):
		return err
	case !happened && len(left) > 0:
		return fmt.Errorf("it happened in part: %v", left)
	case acked && !happened:
		return fmt.Errorf("acknowledged, but not in the journal")
	case told.IsError && happened && len(t.leaves) > 0 && !strings.Contains(fmt.Sprint(told.Structured), "IN_DOUBT"):
		return fmt.Errorf("it happened, but failure was told")
	}
	if err := t.retry(data, left); err != nil {
		return err
	}
	return t.busMended(data)
}

// retry uses the tool again and counts what there is then.
func (t *busTrial) retry(data string, left map[string]int) error {
	told, res, err := t.use(data, nil)
	refused := told.IsError && !(len(left) > 0 && strings.Contains(fmt.Sprint(told.Structured), string(topic.ForbiddenAlreadyAnswered)))
	if err != nil || refused || res.exit != 0 {
		return fmt.Errorf("a new session cannot do it: %v %v %v", err, told.Structured, res)
	}
	now, err := t.news(data)
	want := maps.Clone(t.leaves)
	for event, n := range t.again {
		if len(left) > 0 {
			want[event] += n
		}
	}
	if err == nil && !maps.Equal(now, want) {
		err = fmt.Errorf("after doing it again there are %v, want %v", now, want)
	}
	return err
}

// news counts the events that were not there before, by type.
func (t *busTrial) news(data string) (map[string]int, error) {
	now, err := topicEvents(data)
	if err != nil {
		return nil, err
	}
	before := t.before
	if t.busScene.fresh {
		before = nil
	}
	for name, events := range before {
		if err := kept(events, now[name]); err != nil {
			return nil, err
		}
	}
	news := map[string]int{}
	for name, events := range now {
		for _, e := range events[len(before[name]):] {
			news[e.Type]++
		}
	}
	return news, nil
}

// topics are all topics of a data directory.
func topics(data string) (all []*fsroom.Room[topic.State], err error) {
	store, err := fsroom.Open(data, fsroom.Options{NoWatch: true})
	if err != nil {
		return nil, err
	}
	names, err := fsroom.Rooms(store, kinds.Topics())
	for _, name := range names {
		all = append(all, fsroom.At(store, kinds.Topics(), name))
	}
	return all, err
}

// topicEvents are the committed events of each topic.
func topicEvents(data string) (map[string][]journal.Event, error) {
	rooms, err := topics(data)
	if err != nil {
		return nil, err
	}
	events := map[string][]journal.Event{}
	for _, r := range rooms {
		if events[r.Name()], err = eventsOf(r); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// busMended is a change on each topic, and then no problem.
func (g *rig) busMended(data string) error {
	rooms, err := topics(data)
	if err != nil {
		return err
	}
	res, err := g.session(data, nil, func(c *client) error {
		for _, r := range rooms {
			if err := c.change(r.Name()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || res.exit != 0 {
		return fmt.Errorf("a fresh session fails: %v: %v", err, res)
	}
	found := second(data, kinds.Topics())
	for _, r := range rooms {
		found = append(found, checked(r)...)
	}
	if len(found) > 0 {
		return fmt.Errorf("after a fresh session: %s", strings.Join(found, "; "))
	}
	return nil
}

// change asks something on a topic; if that is closed, it answers something.
func (c *client) change(id string) error {
	on := map[string]any{"topic_id": id, "wait_seconds": 0, "question": "fresh?"}
	if _, err := c.must("topic_join", map[string]any{"topic_id": id, "agent_name": "fresh"}); err != nil {
		return err
	}
	told, err := c.call("ask", on)
	if err != nil || !told.IsError {
		return err
	}
	told, err = c.call("pending_list", on)
	pending, _ := told.Structured["pending"].([]any)
	if err != nil || len(pending) == 0 {
		return fmt.Errorf("nothing to change on topic %s: %v %v", id, err, told.Structured)
	}
	question, _ := pending[0].(map[string]any)["question_id"].(string)
	_, err = c.must("answer", map[string]any{"topic_id": id, "responses": []any{response(question)}})
	return err
}
