//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// withTopic builds agent-bus and makes a topic for askers.
func (g *rig) withTopic(data string) error {
	if g.bus == "" {
		g.bus = filepath.Join(g.base, "agent-bus")
		if err := goBuild(g.bus, "agent-bus"); err != nil {
			return err
		}
	}
	cmd := exec.Command(g.bus)
	cmd.Env, cmd.Dir = g.env(data), g.workspace
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"torture","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"topic_create","arguments":{"name":"pink"}}}
`)
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "topic_id") {
		return fmt.Errorf("topic_create: %v: %s", err, out)
	}
	return nil
}

// asker asks questions on the agent bus, as talkers talk in the room.
func (l *load) asker() {
	random := l.random()
	l.lanes.Go(func() {
		for n := 0; ; n++ {
			question := fmt.Sprintf("question %d of %d", n, random.Uint64())
			o, ok := l.do(random, 8*time.Millisecond, "cli", "ask", "pink", question, "--agent", agents[n%3])
			if !ok {
				return
			}
			if l.done(o, "TOPIC_FULL") {
				l.note(func(a *acks) { a.asked = append(a.asked, question) })
			}
		}
	})
}

// inTopic reports an error unless each acknowledged question is in the journal of a
// topic exactly once, and no other one twice.
func (a acks) inTopic(data string) error {
	journals, err := filepath.Glob(filepath.Join(data, "topics", "*", "journal.jsonl"))
	if err != nil {
		return err
	}
	asked := map[string]int{}
	for _, path := range journals {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			var e struct {
				Payload struct {
					Question string `json:"question_text"`
				}
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Payload.Question != "" {
				asked[e.Payload.Question]++
			}
		}
	}
	return counted(asked, a.asked)
}
