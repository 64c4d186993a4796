package tools_test

import (
	"strings"
	"testing"
)

// TestWrongArguments: each row is INVALID_ARGUMENT, and the text names the
// argument. In the arguments T is the topic and Q a question.
func TestWrongArguments(t *testing.T) {
	rows := []struct{ name, tool, args, argument string }{
		{"no object", "topic_create", `[1]`, "arguments"},
		{"12 metadata", "topic_create", `{"metadata":[1]}`, "metadata must be an object"},
		{"12 metadata", "topic_create", `{"metadata":"plain"}`, "metadata"},
		{"13 mode", "topic_create", `{"mode":"bogus"}`, "mode must be one of reuse, new"},
		{"name is no text", "topic_create", `{"name":5}`, "name must be a string"},
		{"name breaks the line", "topic_create", `{"name":"a\nb"}`, "name"},
		{"name too long", "topic_create", `{"name":"` + strings.Repeat("n", 201) + `"}`, "name"},
		{"metadata too big", "topic_create", `{"metadata":{"a":"` + strings.Repeat("m", 65536) + `"}}`, "metadata"},
		{"13 status", "topic_list", `{"status":"done"}`, "status"},
		{"22 empty name", "topic_resolve", `{"name":""}`, "name"},
		{"22 no name", "topic_resolve", `{}`, "name is required"},
		{"allow_closed", "topic_resolve", `{"name":"x","allow_closed":"maybe"}`, "allow_closed"},
		{"no topic", "topic_close", `{}`, "topic_id"},
		{"long reason", "topic_close", `{"topic_id":"T","reason":"` + strings.Repeat("r", 1001) + `"}`, "reason"},
		{"27 both", "topic_join", `{"agent_name":"x","topic_id":"T","name":"pink"}`, "exactly one of topic_id and name"},
		{"27 none", "topic_join", `{"agent_name":"x","name":""}`, "exactly one of topic_id and name"},
		{"28 empty", "topic_join", `{"topic_id":"T","agent_name":""}`, "agent_name"},
		{"28 blank", "topic_join", `{"topic_id":"T","agent_name":" \t "}`, "agent_name"},
		{"28 65 chars", "topic_join", `{"topic_id":"T","agent_name":"` + strings.Repeat("a", 65) + `"}`, "agent_name"},
		{"28 newline", "topic_join", `{"topic_id":"T","agent_name":"a\nb"}`, "agent_name"},
		{"28 missing", "topic_join", `{"topic_id":"T"}`, "agent_name"},
		{"38 empty", "ask", `{"topic_id":"T","question":""}`, "question must not be blank"},
		{"blank question", "ask", `{"topic_id":"T","question":" \t\n"}`, "question must not be blank"},
		{"to oneself", "ask", `{"topic_id":"T","question":"?","to":" cat "}`, "to names yourself"},
		{"to a blank name", "ask", `{"topic_id":"T","question":"?","to":""}`, "to must not be blank"},
		{"to nobody", "ask", `{"topic_id":"T","question":"?","to":"a\nb"}`, "to must not contain line breaks"},
		{"blank name", "topic_create", `{"name":"  "}`, "name must not be blank"},
		{"blank name", "topic_resolve", `{"name":"  "}`, "name must not be blank"},
		{"blank name", "topic_join", `{"agent_name":"x","name":" "}`, "name must not be blank"},
		{"blank answer", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":" \n","suggested_followups":["a"]}]}`, "responses[0].answer_markdown must not be blank"},
		{"blank follow-up", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"y","suggested_followups":["a"," "]}]}`, "responses[0].suggested_followups[1] must not be blank"},
		{"too deep", "topic_create", `{"metadata":` + strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101) + `}`, "nested deeper than 100"},
		{"no answers", "ask_poll", `{"topic_id":"T","question_id":"Q","min_answers":0}`, "min_answers must be 1 or more"},
		{"38 missing", "ask", `{"topic_id":"T","question":null}`, "question is required"},
		{"40 8001", "ask", `{"topic_id":"T","question":"` + strings.Repeat("é", 8001) + `"}`, "exceeds the maximum"},
		{"41 negative", "ask", `{"topic_id":"T","question":"?","wait_seconds":-1}`, "wait_seconds must be 0 or more, not -1"},
		{"wait is no number", "ask", `{"topic_id":"T","question":"?","wait_seconds":"soon"}`, `wait_seconds must be an integer, not "soon"`},
		{"half a second", "ask", `{"topic_id":"T","question":"?","wait_seconds":0.5}`, "wait_seconds"},
		{"58 zero", "pending_list", `{"topic_id":"T","limit":0}`, "limit must be 1 or more"},
		{"58 negative", "pending_list", `{"topic_id":"T","limit":"-3"}`, "limit"},
		{"no question", "ask_poll", `{"topic_id":"T","question_id":""}`, "question_id"},
		{"no question", "ask_cancel", `{"topic_id":"T"}`, "question_id"},
		{"no question", "question_mark_answered", `{"topic_id":"T","question_id":[]}`, "question_id must be a string, not a list"},
		{"reason", "ask_cancel", `{"topic_id":"T","question_id":"Q","reason":{}}`, "reason"},
		{"no responses", "answer", `{"topic_id":"T"}`, "responses is required"},
		{"one response", "answer", `{"topic_id":"T","responses":{}}`, "responses must be a list"},
		{"84 no object", "answer", `{"topic_id":"T","responses":["x"]}`, "responses[0] must be an object"},
		{"84 null", "answer", `{"topic_id":"T","responses":[null]}`, "responses[0]"},
		{"84 empty id", "answer", `{"topic_id":"T","responses":[OK,{"question_id":""}]}`, "responses[1].question_id"},
		{"no answer", "answer", `{"topic_id":"T","responses":[{"question_id":"x","suggested_followups":["y"]}]}`, "responses[0].answer_markdown"},
		{"79 long answer", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"` + strings.Repeat("a", 65537) + `"}]}`, "responses[0].answer_markdown"},
		{"80 none", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"y"}]}`, "responses[0].suggested_followups is required"},
		{"80 empty", "answer", `{"topic_id":"T","responses":[OK,{"question_id":"x","answer_markdown":"y","suggested_followups":[]}]}`, "responses[1].suggested_followups"},
		{"80 no texts", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"y","suggested_followups":["a",2]}]}`, "responses[0].suggested_followups[1]"},
		{"80 a text", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"y","suggested_followups":"a"}]}`, "responses[0].suggested_followups must be a list"},
		{"81 a text", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"y","suggested_followups":["a"],"repo_pointers":"main.go"}]}`, "responses[0].repo_pointers"},
		{"long pointer", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"y","suggested_followups":["a"],"repo_pointers":["` + strings.Repeat("p", 4097) + `"]}]}`, "responses[0].repo_pointers[0]"},
		{"long follow-up", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"y","suggested_followups":["` + strings.Repeat("p", 8001) + `"]}]}`, "responses[0].suggested_followups[0]"},
	}
	var scenarios []scenario
	for _, r := range rows {
		scenarios = append(scenarios, scenario{r.tool + " " + r.name, func(t *testing.T, s *stage) {
			q := s.asks("A")
			fill := strings.NewReplacer(`"T"`, f("%q", s.id), `"Q"`, f("%q", q), "OK", item(q, "", ""))
			got := s.refused("INVALID_ARGUMENT", "B", r.tool, fill.Replace(r.args))
			mentions(t, got.text, "INVALID_ARGUMENT: ", r.argument)
			equal(t, "code", got.body["error"].(map[string]any)["code"], "INVALID_ARGUMENT")
			mentions(t, got.body["error"].(map[string]any)["message"].(string), r.argument)
			if got.body["argument"] == nil {
				t.Errorf("no argument in %v", got.body)
			}
		}})
	}
	play(t, scenarios)
}

// TestForgivenArguments: what is meant is clear, so it is taken.
func TestForgivenArguments(t *testing.T) {
	rows := []struct{ name, tool, args string }{
		{"null for optional ones", "topic_create", `{"name":null,"metadata":null,"mode":null}`},
		{"arguments in a string", "topic_create", `"{\"name\":\"x\"}"`},
		{"8 object in a string", "topic_create", `{"metadata":"{\"a\": 1}"}`},
		{"30 64 characters", "topic_join", `{"topic_id":"T","agent_name":"` + strings.Repeat("鼠", 64) + `"}`},
		{"emoji with joiners", "topic_join", "{\"topic_id\":\"T\",\"agent_name\":\"\U0001F469\u200d\U0001F52C\"}"},
		{"false in a string", "topic_join", `{"topic_id":"T","agent_name":"x","allow_closed":" False "}`},
		{"40 8000", "ask", `{"topic_id":"T","question":"` + strings.Repeat("é", 8000) + `"}`},
		{"question like a list", "ask", `{"topic_id":"T","question":"[1]"}`},
		{"60.0", "ask", `{"topic_id":"T","question":"?","wait_seconds":60.0}`},
		{"6e1 in a string", "ask", `{"topic_id":"T","question":"?","wait_seconds":" 6e1 "}`},
		{"079", "ask", `{"topic_id":"T","question":"?","wait_seconds":"079"}`},
		{"name with spaces around it", "topic_resolve", `{"name":" pink\t"}`},
		{"100 levels", "topic_create", `{"metadata":` + strings.Repeat(`{"a":`, 99) + `{"[{[{":"\"[[["}` + strings.Repeat("}", 99) + `}`},
		{"79 65536", "answer", `{"topic_id":"T","responses":[{"question_id":"x","answer_markdown":"` + strings.Repeat("鼠", 65536) +
			`","suggested_followups":["a"]},{"question_id":"y","answer_markdown":"y","suggested_followups":["a"]}]}`},
	}
	var scenarios []scenario
	for _, r := range rows {
		scenarios = append(scenarios, scenario{r.tool + " " + r.name, func(t *testing.T, s *stage) {
			warned(t, s.ok("B", r.tool, strings.ReplaceAll(r.args, `"T"`, f("%q", s.id))))
		}})
	}
	play(t, scenarios)
}
