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

// anyArguments have one of each kind.
type anyArguments struct {
	tools.None
	N int             `json:"n,omitempty" default:"42"`
	B bool            `json:"b,omitempty"`
	M json.RawMessage `json:"m,omitempty"`
	X []string        `json:"x,omitempty"`
}

func read(text string, a tools.Arguments) ([]tools.Warning, error) {
	limits := topic.DefaultLimits()
	unknown, err := tools.Read(json.RawMessage(text), tools.Schema(a, limits), a)
	if err == nil {
		_, err = a.Check(limits)
	}
	return unknown, err
}

func TestIntegers(t *testing.T) {
	for literal, want := range map[string]int{
		`60`: 60, `"60"`: 60, `60.0`: 60, `1e0`: 1, `" 7 "`: 7, `"1e2"`: 100, `-0`: 0, `null`: 42,
	} {
		var a anyArguments
		if _, err := read(f(`{"n":%s}`, literal), &a); err != nil || a.N != want {
			t.Errorf("%s: %d, %v, want %d", literal, a.N, err, want)
		}
	}
	for _, literal := range []string{`0.5`, `""`, `"inf"`, `"nan"`, `"0x10"`, `true`, `[]`, `{}`, `1e300`, `"1_0"`, `99999999999999999999`} {
		var a anyArguments
		if _, err := read(f(`{"n":%s}`, literal), &a); err == nil {
			t.Errorf("%s was read as %d", literal, a.N)
		}
	}
}

func TestBooleans(t *testing.T) {
	for literal, want := range map[string]bool{`true`: true, `false`: false, `"true"`: true, `"FALSE"`: false, `null`: false} {
		var a anyArguments
		if _, err := read(f(`{"b":%s}`, literal), &a); err != nil || a.B != want {
			t.Errorf("%s: %v, %v", literal, a.B, err)
		}
	}
	for _, literal := range []string{`1`, `"yes"`, `""`, `[true]`} {
		if _, err := read(f(`{"b":%s}`, literal), &anyArguments{}); err == nil {
			t.Errorf("%s was taken", literal)
		}
	}
}

func TestObjectsStayAsTheyAre(t *testing.T) {
	for text, want := range map[string]string{`{"m":{ "b" : 1.50, "a": [ {} ] }}`: `{"b":1.50,"a":[{}]}`, `{"m":{}}`: `{}`} {
		var a anyArguments
		if _, err := read(text, &a); err != nil || string(a.M) != want {
			t.Errorf("%s, %v", a.M, err)
		}
	}
}

func TestUnknownArguments(t *testing.T) {
	got, err := read(`{"zeta":1,"topic_id":"t","Topic_ID":"u","eta":null,"question_id":"q"}`, &tools.OfQuestion{})
	if err != nil {
		t.Error(err)
	}
	same(t, "warnings", got, `[
		{"code":"UNKNOWN_ARGUMENT","message":"Topic_ID was ignored; the arguments are topic_id, question_id","context":{"argument":"Topic_ID"}},
		{"code":"UNKNOWN_ARGUMENT","message":"zeta was ignored; the arguments are topic_id, question_id","context":{"argument":"zeta"}}]`)
}

// Text that could not be kept word for word is refused and never becomes U+FFFD.
func TestTextsAreWhole(t *testing.T) {
	responses := func(rest string) string {
		return f(`{"topic_id":"t","responses":[{"question_id":"q",%s}]}`, rest)
	}
	for _, c := range []struct{ arguments, wrong string }{
		{`{"topic_id":"t","question":"cut \ud83d"}`, "question"},
		{"{\"topic_id\":\"t\",\"question\":\"\xff\"}", "question"},
		{`{"name":"\ude00"}`, "name"},
		{`{"metadata":{"a":["\ud800"]}}`, "metadata.a[0]"},
		{`{"metadata":"{\"a\":[\"\\ud800\"]}"}`, "metadata.a[0]"},
		{`{"metadata":"{\"a\":\"\ud800\"}"}`, "metadata"},
		{responses(`"answer_markdown":"\ud800","suggested_followups":["x"]`), "responses[0].answer_markdown"},
		{responses(`"answer_markdown":"a","suggested_followups":["x","\ud800"]`), "responses[0].suggested_followups[1]"},
		{responses(`"answer_markdown":"a","suggested_followups":"[\"\\ud800\"]"`), "responses[0].suggested_followups[0]"},
		{responses(`"answer_markdown":"a","repo_pointers":["\ud800"],"suggested_followups":["x"]`), "responses[0].repo_pointers[0]"},
		{`{"topic_id":"t","responses":"[{\"question_id\":\"q\",\"answer_markdown\":\"\\ud800\",\"suggested_followups\":[\"x\"]}]"}`, "responses[0].answer_markdown"},
	} {
		var a tools.Arguments = &tools.Create{}
		switch {
		case strings.HasPrefix(c.wrong, "question"):
			a = &tools.Ask{}
		case strings.HasPrefix(c.wrong, "responses"):
			a = &tools.Answer{}
		}
		_, err := read(c.arguments, a)
		var refused *code.Error
		if !errors.As(err, &refused) || refused.Code != topic.InvalidArgument || refused.Details[topic.DetailArgument] != any(c.wrong) {
			t.Errorf("%s: got %v, want a refusal of %s", c.arguments, err, c.wrong)
		}
	}
}

// FuzzArgs: whatever is sent is read, or refused in a few words.
func FuzzArgs(f *testing.F) {
	for _, s := range []string{
		`{"x":"[1,"}`, `"{"`, `{"x":{"x":null}}`, `{"x":"\ud800"}`, ` `, `nul`, `{"x":"[{\"question_id\":1}]"}`, `{"x":1,"x":"1e999"}`, "{\"x\":\"\x1b[2J\u202e\"}",
		"\xef\xbb\xbf{}", "{\"x\":\"\xff\"}", `{"x":9223372036854775808}`, `{"x":"\u0000\u001b[2J"}`, `{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`,
		`{"responses":[{"question_id":"q","answer":"a","\u0000":1},null]}`, `{"x":"{\"x\":\"{}\"}"}`, `{"x":"` + strings.Repeat("x", 3000) + `"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range []tools.Arguments{&anyArguments{}, &tools.None{}, &tools.Create{}, &tools.Join{}, &tools.Answer{}} {
			_, err := read(text, a)
			if err != nil && (code.Of(err) == code.Internal || len(err.Error()) > 1000) {
				t.Errorf("%q: %v", text, err)
			}
			if m, ok := a.(*tools.Create); ok && err == nil && m.Metadata != nil && !json.Valid(m.Metadata) {
				t.Errorf("%q gave the object %q", text, m.Metadata)
			}
		}
	})
}
