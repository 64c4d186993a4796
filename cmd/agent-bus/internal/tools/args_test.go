package tools_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

func args(t *testing.T, text string) *tools.Args {
	t.Helper()
	a, err := tools.ParseArgs(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestIntegers(t *testing.T) {
	for literal, want := range map[string]int{
		`60`: 60, `"60"`: 60, `60.0`: 60, `1e0`: 1, `" 7 "`: 7, `"1e2"`: 100, `-0`: 0, `null`: 42,
	} {
		a := args(t, f(`{"n":%s}`, literal))
		n := a.Integer("n", 42, 0)
		if err := a.Err(); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", literal, n, err, want)
		}
	}
	for _, literal := range []string{`0.5`, `""`, `"inf"`, `"nan"`, `"0x10"`, `true`, `[]`, `{}`, `1e300`, `"1_0"`, `99999999999999999999`} {
		a := args(t, f(`{"n":%s}`, literal))
		if n := a.Integer("n", 42, 0); a.Err() == nil {
			t.Errorf("%s was read as %d", literal, n)
		}
	}
}

func TestBooleans(t *testing.T) {
	for literal, want := range map[string]bool{`true`: true, `false`: false, `"true"`: true, `"FALSE"`: false, `null`: false} {
		a := args(t, f(`{"b":%s}`, literal))
		if b := a.Boolean("b"); a.Err() != nil || b != want {
			t.Errorf("%s: %v, %v", literal, b, a.Err())
		}
	}
	for _, literal := range []string{`1`, `"yes"`, `""`, `[true]`} {
		a := args(t, f(`{"b":%s}`, literal))
		if a.Boolean("b"); a.Err() == nil {
			t.Errorf("%s was taken", literal)
		}
	}
}

func TestObjectsStayAsTheyAre(t *testing.T) {
	for text, want := range map[string]string{`{"m":{ "b" : 1.50, "a": [ {} ] }}`: `{"b":1.50,"a":[{}]}`, `{"m":{}}`: `{}`} {
		a := args(t, text)
		if got := a.Object("m"); a.Err() != nil || string(got) != want {
			t.Errorf("%s, %v", got, a.Err())
		}
	}
}

func TestUnknownArguments(t *testing.T) {
	got := args(t, `{"zeta":1,"topic_id":"t","Topic_ID":"u"}`).Unknown([]string{"topic_id", "question"})
	same(t, "warnings", got, `[
		{"code":"UNKNOWN_ARGUMENT","message":"Topic_ID was ignored; the arguments are topic_id, question","context":{"argument":"Topic_ID"}},
		{"code":"UNKNOWN_ARGUMENT","message":"zeta was ignored; the arguments are topic_id, question","context":{"argument":"zeta"}}]`)
}

// Text that could not be kept word for word is refused and never becomes U+FFFD.
func TestTextsAreWhole(t *testing.T) {
	limits := topic.DefaultLimits()
	responses := func(rest string) string {
		return f(`{"responses":[{"question_id":"q",%s}]}`, rest)
	}
	for _, c := range []struct{ arguments, wrong string }{
		{`{"question":"cut \ud83d"}`, "question"},
		{"{\"question\":\"\xff\"}", "question"},
		{`{"name":"\ude00"}`, "name"},
		{`{"metadata":{"a":["\ud800"]}}`, "metadata.a[0]"},
		{`{"metadata":"{\"a\":[\"\\ud800\"]}"}`, "metadata.a[0]"},
		{`{"metadata":"{\"a\":\"\ud800\"}"}`, "metadata"},
		{responses(`"answer_markdown":"\ud800","suggested_followups":["x"]`), "responses[0].answer_markdown"},
		{responses(`"answer_markdown":"a","suggested_followups":["x","\ud800"]`), "responses[0].suggested_followups[1]"},
		{responses(`"answer_markdown":"a","suggested_followups":"[\"\\ud800\"]"`), "responses[0].suggested_followups[0]"},
		{responses(`"answer_markdown":"a","repo_pointers":["\ud800"],"suggested_followups":["x"]`), "responses[0].repo_pointers[0]"},
		{`{"responses":"[{\"question_id\":\"q\",\"answer_markdown\":\"\\ud800\",\"suggested_followups\":[\"x\"]}]"}`, "responses[0].answer_markdown"},
	} {
		a := args(t, c.arguments)
		var err error
		switch {
		case strings.HasPrefix(c.wrong, "question"):
			_, _, err = tools.ParseAsk(a, limits)
		case strings.HasPrefix(c.wrong, "responses"):
			_, _, err = tools.ParseResponses(a, limits)
		default:
			_, err = tools.ParseCreate(a, limits)
		}
		var refused *code.Error
		if !errors.As(err, &refused) || refused.Code != topic.InvalidArgument || refused.Details[topic.DetailArgument] != any(c.wrong) {
			t.Errorf("%s: got %v, want a refusal of %s", c.arguments, err, c.wrong)
		}
	}
}

// FuzzArgs: whatever is sent, the getters answer, or refuse it in a few words.
func FuzzArgs(f *testing.F) {
	for _, s := range []string{
		`{"x":"[1,"}`, `"{"`, `{"x":{"x":null}}`, `{"x":"\ud800"}`, ` `, `nul`, `{"x":"[{\"question_id\":1}]"}`, `{"x":1,"x":"1e999"}`, "{\"x\":\"\x1b[2J\u202e\"}",
		"\xef\xbb\xbf{}", "{\"x\":\"\xff\"}", `{"x":9223372036854775808}`, `{"x":"\u0000\u001b[2J"}`, `{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`,
		`{"responses":[{"question_id":"q","answer":"a","\u0000":1},null]}`, `{"x":"{\"x\":\"{}\"}"}`, `{"x":"` + strings.Repeat("x", 3000) + `"}`,
	} {
		f.Add(s)
	}
	l := topic.DefaultLimits()
	f.Fuzz(func(t *testing.T, text string) {
		refused := func(err error) bool {
			if err != nil && (code.Of(err) == code.Internal || len(err.Error()) > 1000) {
				t.Errorf("%q: %v", text, err)
			}
			return err != nil
		}
		for _, read := range []func(a *tools.Args){
			func(a *tools.Args) { a.Unknown(nil) },
			func(a *tools.Args) { a.Text("x") },
			func(a *tools.Args) { a.Integer("x", 0, 0) },
			func(a *tools.Args) { a.Boolean("x") },
			func(a *tools.Args) { a.Texts("x") },
			func(a *tools.Args) {
				if object := a.Object("x"); a.Err() == nil && object != nil && !json.Valid(object) {
					t.Errorf("%q gave the object %q", text, object)
				}
			},
			func(a *tools.Args) {
				_, _, err := tools.ParseResponses(a, l)
				refused(err)
			},
		} {
			a, err := tools.ParseArgs(json.RawMessage(text))
			if refused(err) {
				return
			}
			read(a)
			refused(a.Err())
		}
	})
}
