package main

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/fsroom/code"
)

// A reply is what an agent sees of a call.
type reply struct {
	code code.Code // "" for a success
	text string
	body map[string]any
	err  error // of the protocol
}

// call calls a tool, with arguments as the agent writes them, and checks what is
// true of every reply.
func (p *peer) call(tool, args string) reply {
	p.Helper()
	return p.callWith(context.Background(), tool, args)
}

func (p *peer) callWith(ctx context.Context, tool, args string) reply {
	p.Helper()
	result, err := p.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return reply{err: err}
	}
	r := reply{body: map[string]any{}}
	body, ok := result.StructuredContent.(map[string]any)
	if !ok || len(result.Content) != 1 {
		p.Errorf("%s: %T and %d texts", tool, result.StructuredContent, len(result.Content))
		return r
	}
	r.text, r.body = result.Content[0].(*mcp.TextContent).Text, body
	if r.text == "" {
		p.Errorf("%s: no text", tool)
	}
	if w, has := body["warnings"]; has && len(w.([]any)) == 0 {
		p.Errorf("%s: an empty list of warnings", tool)
	}
	warnings, _ := body["warnings"].([]any)
	for _, w := range warnings {
		if code := w.(map[string]any)["code"].(string); !strings.Contains(r.text, "warning "+code) {
			p.Errorf("%s: warning %s is not in the text: %s", tool, code, r.text)
		}
	}
	if result.IsError {
		reported := body["error"].(map[string]any)
		r.code = code.Code(reported["code"].(string))
		if !strings.HasPrefix(r.text, f("%s: %s", reported["code"], reported["message"])) {
			p.Errorf("%s: the text of %v is %q", tool, reported, r.text)
		}
	}
	return r
}

// ok is a call that must succeed.
func (p *peer) ok(tool, args string) map[string]any {
	p.Helper()
	r := p.call(tool, args)
	if r.code != "" || r.err != nil {
		p.Fatalf("%s %s: %v %s", tool, args, r.err, r.text)
	}
	return r.body
}

// refused is a call that must fail with the code.
func (p *peer) refused(c code.Code, tool, args string) reply {
	p.Helper()
	r := p.call(tool, args)
	if r.code != c {
		p.Fatalf("%s %s: code %q, not %q: %v %s", tool, args, r.code, c, r.err, r.text)
	}
	return r
}

// start makes a call and goes on; the reply comes through the channel.
func (p *peer) start(ctx context.Context, tool, args string) <-chan reply {
	done := make(chan reply, 1)
	go func() { done <- p.callWith(ctx, tool, args) }()
	return done
}

func (p *peer) made(name string) string {
	p.Helper()
	return p.ok("topic_create", f(`{"name":%q,"mode":"new"}`, name))["topic_id"].(string)
}

func (p *peer) join(id, name string) map[string]any {
	p.Helper()
	return p.ok("topic_join", f(`{"topic_id":%q,"agent_name":%q}`, id, name))
}

// asks queues a question on pink and returns its id.
func (p *peer) asks() string {
	p.Helper()
	return p.ok("ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, p.id))["question_id"].(string)
}

func (p *peer) poll(question string) map[string]any {
	p.Helper()
	return p.ok("ask_poll", p.on(question))
}

// on are the arguments of a call about one question, with more members if any.
func (s *stage) on(question string, more ...string) string {
	return f(`{"topic_id":%q,"question_id":%q%s}`, s.id, question, strings.Join(append([]string{""}, more...), ","))
}

func (p *peer) answers(questions ...string) map[string]any {
	p.Helper()
	return p.ok("answer", p.replies(questions...))
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

// offered are the ids that pending_list offers, with more members of the
// arguments if any.
func (p *peer) offered(more ...string) []string {
	p.Helper()
	body := p.ok("pending_list", f(`{"topic_id":%q,"wait_seconds":0%s}`, p.id, strings.Join(append([]string{""}, more...), ",")))
	ids := []string{}
	for _, q := range body["pending"].([]any) {
		ids = append(ids, q.(map[string]any)["question_id"].(string))
	}
	return ids
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

// same compares a value with its JSON.
func same(t testing.TB, what string, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	equal(t, what, got, w)
}

// warned returns the contexts of the warnings, which must have the codes.
func warnedOf(t testing.TB, body map[string]any, codes ...string) []map[string]any {
	t.Helper()
	list, _ := body["warnings"].([]any)
	got := []string{}
	var contexts []map[string]any
	for _, w := range list {
		got = append(got, w.(map[string]any)["code"].(string))
		context, _ := w.(map[string]any)["context"].(map[string]any)
		contexts = append(contexts, context)
	}
	if !reflect.DeepEqual(got, append([]string{}, codes...)) {
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

func quoted(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
