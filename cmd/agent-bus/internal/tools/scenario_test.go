package tools_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// A scenario is one numbered expectation of the agent bus, seen from outside.
type scenario struct {
	name string
	run  func(t *testing.T, s *stage)
}

// A stage is a world with an open topic "pink" on which the sessions A, B and C
// are red, cat and gecko.
type stage struct {
	*world
	id string
}

func play(t *testing.T, scenarios []scenario) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			s := &stage{world: newWorld(t)}
			s.id = s.made("pink")
			s.enters("A", s.id, "red")
			s.enters("B", s.id, "cat")
			s.enters("C", s.id, "gecko")
			sc.run(t, s)
		})
	}
}

var f = fmt.Sprintf

func (w *world) made(name string) string {
	w.T.Helper()
	return w.ok("A", "topic_create", f(`{"name":%q,"mode":"new"}`, name))["topic_id"].(string)
}

func (w *world) enters(session, id, name string) {
	w.T.Helper()
	w.ok(session, "topic_join", f(`{"topic_id":%q,"agent_name":%q}`, id, name))
}

// asks queues a question on the stage's topic and returns its id.
func (s *stage) asks(session string) string {
	s.T.Helper()
	return s.ok(session, "ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, s.id))["question_id"].(string)
}

func (s *stage) poll(question string) map[string]any {
	s.T.Helper()
	return s.ok("nobody", "ask_poll", s.on(question))
}

// on are the arguments of a call about one question, with more members if any.
func (s *stage) on(question string, more ...string) string {
	return f(`{"topic_id":%q,"question_id":%q%s}`, s.id, question, strings.Join(append([]string{""}, more...), ","))
}

// replies are the arguments of an answer to each of the questions.
func (s *stage) replies(questions ...string) string {
	items := make([]string, len(questions))
	for i, q := range questions {
		items[i] = item(q, "", "")
	}
	return s.responses(items...)
}

func (s *stage) responses(items ...string) string {
	return f(`{"topic_id":%q,"responses":[%s]}`, s.id, strings.Join(items, ","))
}

// item is a response whose follow-ups and further members are JSON.
func item(question, followups, more string) string {
	if followups == "" {
		followups = `["and then?"]`
	}
	return f(`{"question_id":%q,"answer_markdown":"because","suggested_followups":%s%s}`, question, followups, more)
}

// offered are the ids that pending_list offers the session.
func (s *stage) offered(session string) string {
	s.T.Helper()
	var ids []string
	for _, q := range s.ok(session, "pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, s.id))["pending"].([]any) {
		ids = append(ids, q.(map[string]any)["question_id"].(string))
	}
	return strings.Join(ids, " ")
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

// warned checks that the result has exactly the warnings.
func warned(t testing.TB, body map[string]any, codes ...string) []map[string]any {
	t.Helper()
	list, has := body["warnings"].([]any)
	if has && len(list) == 0 {
		t.Errorf("an empty list of warnings")
	}
	var got []string
	var contexts []map[string]any
	for _, w := range list {
		got = append(got, w.(map[string]any)["code"].(string))
		context, _ := w.(map[string]any)["context"].(map[string]any)
		contexts = append(contexts, context)
	}
	if f("%q", got) != f("%q", codes) {
		t.Fatalf("warnings %q, want %q", got, codes)
	}
	return contexts
}

// mentions checks that a text has all the words.
func mentions(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in: %s", w, text)
		}
	}
}
