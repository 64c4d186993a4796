package tools_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic/topictest"
)

// A world adds sessions with their names to the topics.
type world struct {
	*topictest.World
	names map[[2]string]string   // agent_name by session and topic
	asked map[[2]string][]string // questions likewise
	// What the machine knows.
	harness   string
	listeners int
}

func newWorld(t topictest.T) *world {
	return &world{World: topictest.New(t), names: map[[2]string]string{}, asked: map[[2]string][]string{}}
}

func settingsWith(t topictest.T, env map[string]string) tools.Settings {
	t.Helper()
	s, err := tools.SettingsFrom(func(name string) string { return env[name] })
	if err != nil {
		t.Fatalf("settings: %v", err)
	}
	return s
}

// A reply is what an agent sees of a call.
type reply struct {
	code code.Code // "" for a success
	text string
	body map[string]any
}

// call makes a call of a tool in a session, with arguments as the agent writes
// them. Nothing waits: an ask or pending_list with wait_seconds answers as if
// nothing had happened until its end.
func (w *world) call(session, tool, args string) reply {
	w.T.Helper()
	result, err := w.run(session, tool, json.RawMessage(args))
	r := reply{code: code.Of(err)}
	body := ""
	if err != nil {
		text, structured := tools.ErrorResult(err)
		r.text, body = text, topictest.JSON(structured)
	} else {
		r.text, body = tools.TextOf(result), topictest.JSON(result)
	}
	if err := json.Unmarshal([]byte(body), &r.body); err != nil {
		w.T.Fatalf("%s: %v in %s", tool, err, body)
	}
	if r.text == "" {
		w.T.Fatalf("%s: no text", tool)
	}
	warnings, _ := r.body["warnings"].([]any)
	for _, warning := range warnings {
		if c := warning.(map[string]any)["code"].(string); !strings.Contains(r.text, "warning "+c) {
			w.T.Fatalf("%s: warning %s is not in the text: %s", tool, c, r.text)
		}
	}
	return r
}

// ok is a call that must succeed.
func (w *world) ok(session, tool, args string) map[string]any {
	w.T.Helper()
	r := w.call(session, tool, args)
	if r.code != "" {
		w.T.Fatalf("%s %s: %s", tool, args, r.text)
	}
	return r.body
}

// refused is a call that must fail with the code.
func (w *world) refused(c code.Code, session, tool, args string) reply {
	w.T.Helper()
	r := w.call(session, tool, args)
	if r.code != c {
		w.T.Fatalf("%s %s: code %q, not %q: %s", tool, args, r.code, c, r.text)
	}
	return r
}

// same compares a value with its JSON.
func same(t testing.TB, what string, got any, want string) {
	t.Helper()
	var g, w any
	if err := errors.Join(json.Unmarshal([]byte(topictest.JSON(got)), &g), json.Unmarshal([]byte(want), &w)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s: got %s, want %s", what, topictest.JSON(g), topictest.JSON(w))
	}
}
