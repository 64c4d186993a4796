//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

// A busScene is a tool that changes a topic, used once by a new session.
type busScene struct {
	name   string
	fresh  bool   // there is no data directory before
	agent  string // joins first, "" for none
	tool   string
	args   map[string]any
	leaves map[string]int // how many events of which type
	again  map[string]int // and how many more when it is used a second time
}

// A busStage is a data directory with a topic on which red has asked two
// questions and blue has answered the first.
type busStage struct {
	data      string
	topic     string
	questions []string
	before    map[string][]journal.Event
}

func (st *busStage) scenes() []busScene {
	one := func(event string) map[string]int { return map[string]int{event: 1} }
	on := func(more map[string]any) map[string]any {
		args := map[string]any{"topic_id": st.topic}
		for k, v := range more {
			args[k] = v
		}
		return args
	}
	var responses []any
	for _, q := range st.questions {
		responses = append(responses, response(q))
	}
	create := map[string]any{"name": "green", "mode": "new"}
	return []busScene{
		{name: "topic_create where nothing is", fresh: true, tool: "topic_create", args: create, leaves: one(topic.EventCreated), again: one(topic.EventCreated)},
		{name: "topic_create", tool: "topic_create", args: map[string]any{"name": "green"}, leaves: one(topic.EventCreated)},
		{name: "topic_join", agent: "red", tool: "pending_list", args: on(map[string]any{"wait_seconds": 0})},
		{name: "ask", agent: "red", tool: "ask", args: on(map[string]any{"question": "why?", "wait_seconds": 0}), leaves: one(topic.EventAsked), again: one(topic.EventAsked)},
		{name: "ask_cancel", agent: "red", tool: "ask_cancel", args: on(map[string]any{"question_id": st.questions[1]}), leaves: one(topic.EventCancelled)},
		{name: "question_mark_answered", agent: "red", tool: "question_mark_answered", args: on(map[string]any{"question_id": st.questions[0]}), leaves: one(topic.EventMarked)},
		{name: "answer", agent: "green", tool: "answer", args: on(map[string]any{"responses": responses}), leaves: map[string]int{topic.EventAnswer: 2}},
		{name: "topic_close", agent: "red", tool: "topic_close", args: on(nil), leaves: one(topic.EventClosed)},
	}
}

// sweepBus kills agent-bus at each call of each tool that changes something, and
// lets each call fail.
func sweepBus(g *rig, r *report) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	st, err := g.stageBus()
	if err != nil {
		r.wrong("%v", err)
		return
	}
	faults := []fault{"signal=SIGKILL", "error=EIO"}
	if g.long {
		faults = append(faults, "error=ENOSPC", "error=EINTR", "error=EMFILE", "error=EIO*", "signal=SIGTERM")
	}
	var runs []func()
	for _, f := range faults {
		for _, scene := range st.scenes() {
			t := &busTrial{rig: g, busStage: st, busScene: scene, report: r, fault: f}
			points, err := t.count(changing + opening)
			if err != nil {
				r.wrong("%s: %v", t.name, err)
			}
			for _, p := range points {
				runs = append(runs, func() { t.at(p) })
			}
		}
	}
	r.inParallel(g.sample(runs, 250, len(runs)))
}

// stageBus builds agent-bus and makes the stage. What a kill may have left is
// there: a torn tail and a temporary file.
func (g *rig) stageBus() (st *busStage, err error) {
	if g.bus, err = g.buildProgram("agent-bus", "torture"); err != nil {
		return nil, err
	}
	st = &busStage{data: g.newDir()}
	for _, talk := range []func(*client) error{st.redAsks, st.blueAnswers} {
		if res, err := g.session(st.data, nil, talk); err != nil || res.exit != 0 {
			return nil, fmt.Errorf("agent-bus: %v: %v", err, res)
		}
	}
	if st.before, err = topicEvents(st.data); err != nil {
		return nil, err
	}
	dir := filepath.Join(st.data, "topics", st.topic)
	if err := appendTo(filepath.Join(dir, "journal.jsonl"), `{"event_seq":`); err != nil {
		return nil, err
	}
	return st, os.WriteFile(filepath.Join(dir, "tmp", "left"), nil, 0o600)
}

func (st *busStage) redAsks(c *client) error {
	made, err := c.must("topic_create", map[string]any{"name": "pink"})
	if err != nil {
		return err
	}
	st.topic, _ = made["topic_id"].(string)
	if _, err := c.must("topic_join", map[string]any{"topic_id": st.topic, "agent_name": "red"}); err != nil {
		return err
	}
	for range 2 {
		asked, err := c.must("ask", map[string]any{"topic_id": st.topic, "question": "why?", "wait_seconds": 0})
		if err != nil {
			return err
		}
		id, _ := asked["question_id"].(string)
		st.questions = append(st.questions, id)
	}
	return nil
}

func (st *busStage) blueAnswers(c *client) error {
	_, err := c.must("topic_join", map[string]any{"topic_id": st.topic, "agent_name": "blue"})
	if err == nil {
		_, err = c.must("answer", map[string]any{"topic_id": st.topic, "responses": []any{response(st.questions[0])}})
	}
	return err
}

func response(question string) map[string]any {
	return map[string]any{"question_id": question, "answer_markdown": "so", "suggested_followups": []string{"and?"}}
}
