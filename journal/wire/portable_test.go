package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/talking-stick/tt/journal/wire"
)

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestPortable(t *testing.T) {
	for _, text := range []string{
		`1`, `null`, `"\ud83d\ude00"`, `"\uD83D\uDE00 \\ud800 \"\\\\ud800"`, `{"\ud83d\ude00":["é","\u0000"]}`, nested(wire.MaxPortableDepth),
	} {
		if at, err := wire.Portable([]byte(text)); err != nil {
			t.Errorf("%.60s: %s %v", text, at, err)
		}
	}
	for _, c := range []struct{ text, at, why string }{
		{`"\ud83d"`, "", `contains \ud83d`},
		{`"\ud83d\n"`, "", `contains \ud83d`},
		{`"\ude00\ud83d"`, "", `contains \ude00`},
		{`"\ud83d\ud83d\ude00"`, "", `contains \ud83d`},
		{`"\\\ud83d"`, "", `contains \ud83d`},
		{`{"a":[1,{"b":"\uDFFF"}]}`, "a[1].b", `contains \uDFFF`},
		{`[[],["\ud800"]]`, "[1][0]", `contains \ud800`},
		{`{"a":1,"\ud800":2}`, "", `contains \ud800`},
		{"{\"a\":\"\xed\xa0\x80\"}", "a", "is not valid UTF-8"},
		{"{\"a\":{\"\xff\":1}}", "a", "is not valid UTF-8"},
		{`{"a":` + nested(wire.MaxPortableDepth) + `}`, "a" + strings.Repeat("[0]", 39) + "[0…", "nested deeper than 100"},
		{`{"` + strings.Repeat("é", 100) + `":"\ud800"}`, strings.Repeat("é", 60) + "…", `contains \ud800`},
	} {
		at, err := wire.Portable([]byte(c.text))
		if err == nil || at != c.at || !strings.HasPrefix(err.Error(), c.why) {
			t.Errorf("%.60s: got %q %v, want %q %s", c.text, at, err, c.at, c.why)
		}
	}
}

// FuzzPortable: a portable value decodes to whole characters, and one that is not
// portable for its text loses some.
func FuzzPortable(f *testing.F) {
	for _, text := range []string{`"\ud83d\ude00\ud83d"`, `{"\\u":"\\\ud800"}`, "[\"\xff\"]", `["\ufffd"]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		if !wire.Valid(data) || strings.Count(string(data), "[")+strings.Count(string(data), "{") > wire.MaxPortableDepth || json.Unmarshal(data, &value) != nil {
			return
		}
		again, err := json.Marshal(value)
		if err != nil {
			return
		}
		lost := strings.Count(string(again), "\uFFFD") > 0 && !strings.Contains(strings.ToLower(string(data)), `\ufffd`) && utf8.Valid(data) &&
			!strings.Contains(string(data), "\uFFFD")
		if at, err := wire.Portable(data); lost && err == nil {
			t.Errorf("%q is portable, and reads as %q", data, again)
		} else if err != nil && utf8.Valid(data) && !strings.Contains(strings.ToLower(string(data)), `\ud`) {
			t.Errorf("%q: %s %v", data, at, err)
		}
	})
}
