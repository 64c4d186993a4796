package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// leaves are the values in a result that its text has to say, too: all strings and all
// numbers but 0, without what names a call, and without the caller's own name.
func leaves(v any, add func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "next_action" && name != "client_plan" && (name != "asked_by" || v["status"] != "queued") {
				leaves(member, add)
			}
		}
	case []any:
		for _, element := range v {
			leaves(element, add)
		}
	case string:
		if v != "" {
			add(v)
		}
	case float64:
		if v != 0 {
			add(fmt.Sprint(v))
		}
	}
}

// Harnesses show their models one half of a result: each must do alone. An answer stands
// in it once.
func TestBothHalvesSayTheSame(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat, gecko := s.as("red"), s.as("cat"), s.as("gecko")
	s.as("owl")
	q, dropped, open := red.asks(), red.asks(), red.asks()
	const answered = `"answer_markdown":"because\nof this","repo_pointers":["a.go","b.go"],"suggested_followups":["and then?","why?"]`
	calls := []struct {
		peer *peer
		tool string
		args string
	}{
		{red, "ping", `{}`},
		{red, "topic_create", `{"name":"pink","metadata":{"a":1},"extra":1}`},
		{red, "topic_create", `{"name":"blue","metadata":{"purpose":"tests"}}`},
		{red, "topic_list", `{"status":"all"}`},
		{red, "topic_resolve", `{"name":"pink"}`},
		{s.peer(), "topic_join", f(`{"agent_name":"red","topic_id":%q,"agents":true}`, s.id)},
		{red, "ask", f(`{"topic_id":%q,"question":"what?","wait_seconds":0,"to":"cat"}`, s.id)},
		{red, "ask", f(`{"topic_id":%q,"question":"what?","wait_seconds":1}`, s.id)},
		{cat, "pending_list", f(`{"topic_id":%q,"limit":2}`, s.id)},
		{red, "pending_list", f(`{"topic_id":%q,"mine":true}`, s.id)},
		{s.as("ant"), "pending_list", f(`{"topic_id":%q,"wait_seconds":0,"limit":1}`, s.id)},
		{cat, "answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,%s},{"question_id":"q000000000",%s}]}`, s.id, q, answered, answered)},
		{gecko, "answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,%s}]}`, s.id, q, strings.Replace(answered, "because", "as", 1))},
		{red, "ask_poll", s.on(q)},
		{red, "ask_poll", s.on(open, `"wait_seconds":1`)},
		{red, "ask_poll", s.on(q, `"skip":1`)},
		{red, "ask_cancel", s.on(dropped, `"reason":"done without"`)},
		{red, "ask_cancel", s.on(dropped, `"reason":"again"`)},
		{red, "question_mark_answered", s.on(q)},
		{cat, "answer", f(`{"topic_id":%q,"responses":[{"question_id":%q,%s}]}`, s.id, q, answered)},
		{red, "topic_close", f(`{"topic_id":%q,"reason":"all is said"}`, s.id)},
		{red, "topic_close", f(`{"topic_id":%q}`, s.id)},
		{red, "topic_list", `{"status":"closed"}`},
		{s.peer(), "topic_join", f(`{"agent_name":"bee","topic_id":%q}`, s.id)},
		{red, "topic_resolve", `{"name":"pink","allow_closed":true}`},
		{red, "pending_list", f(`{"topic_id":%q,"wait_seconds":50}`, s.id)},
		{red, "ask_poll", s.on(q)},
		{red, "ask_poll", s.on(open, `"wait_seconds":50`)},
		{red, "question_mark_answered", s.on(open)},
		{red, "ask_cancel", s.on(dropped)},
	}
	closed := false
	for _, c := range calls {
		r := c.peer.call(c.tool, c.args)
		if r.err != nil || r.code != "" {
			t.Errorf("%s %s: %v %s", c.tool, c.args, r.err, r.text)
			continue
		}
		text := strings.Join(strings.Fields(r.text), " ")
		words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		leaves(r.body, func(leaf string) {
			_, err := strconv.Atoi(leaf) // a number must not be found within another
			if err == nil && !slices.Contains(words, leaf) || !strings.Contains(text, strings.Join(strings.Fields(leaf), " ")) {
				t.Errorf("%s %s: %q is not in the text:\n%s", c.tool, c.args, leaf, r.text)
			}
		})
		for _, half := range []string{r.text, quoted(r.body)} {
			if strings.Count(half, "of this") > 2 || c.tool == "ask_poll" && strings.Count(half, "because") > 1 {
				t.Errorf("%s: an answer stands twice in %s", c.tool, half)
			}
		}
		if closed = closed || c.tool == "topic_close"; closed {
			if !slices.Contains([]any{r.body["topic_status"], r.body["status"]}, any("closed")) && c.tool != "topic_list" || !strings.Contains(r.text, "closed") {
				t.Errorf("%s does not say that the topic is closed: %v\n%s", c.tool, r.body, r.text)
			}
		}
	}
}
