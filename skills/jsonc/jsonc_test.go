package jsonc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type hookEntry struct {
	Matcher string `json:"matcher,omitempty"`
	Command string `json:"command"`
}

var (
	ours = hookEntry{Matcher: "Write", Command: "tt hook <edit> && true"}
	stop = []string{"hooks", "Stop"}
)

func parse(t *testing.T, src string) *Document {
	t.Helper()
	d, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAppend(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"nothing there", `{}`, "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"Write\",\n        \"command\": \"tt hook <edit> && true\"\n      }\n    ]\n  }\n}"},
		{"one line", `{"a":1}`, `{"a":1, "hooks": {"Stop":[{"matcher":"Write","command":"tt hook <edit> && true"}]}}`},
		{
			"tabs, comments and a trailing comma",
			"{\n\t// theirs\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"command\": \"beep\"}, // rings\n\t\t],\n\t},\n}\n",
			"{\n\t// theirs\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"command\": \"beep\"}, // rings\n\t\t\t{\n\t\t\t\t\"matcher\": \"Write\",\n\t\t\t\t\"command\": \"tt hook <edit> && true\"\n\t\t\t},\n\t\t],\n\t},\n}\n",
		},
		{
			"a comment stays with what it is about",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"command\": \"beep\"} // rings, loudly\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"command\": \"beep\"}, // rings, loudly\n      {\n        \"matcher\": \"Write\",\n        \"command\": \"tt hook <edit> && true\"\n      }\n    ]\n  }\n}\n",
		},
		{
			"CRLF and a byte order mark",
			"\ufeff{\r\n  \"a\": 1\r\n}\r\n",
			"\ufeff{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n      {\r\n        \"matcher\": \"Write\",\r\n        \"command\": \"tt hook <edit> && true\"\r\n      }\r\n    ]\r\n  }\r\n}\r\n",
		},
		{
			"a comma inside a comment is none",
			"{\n  \"a\": 1 /* b, c */\n}",
			"{\n  \"a\": 1, /* b, c */\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"Write\",\n        \"command\": \"tt hook <edit> && true\"\n      }\n    ]\n  }\n}",
		},
	}
	tests = append(tests, struct{ name, before, after string }{
		"a line comment at the very end", "{\"hooks\": {\"Stop\": [1]}} // end", "{\"hooks\": {\"Stop\": [1, {\"matcher\":\"Write\",\"command\":\"tt hook <edit> && true\"}]}} // end",
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := parse(t, tt.before)
			if err := d.Append(ours, stop...); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	tests := []struct{ name, before, path, after string }{
		{"the first", `{"a": [1, 2]}`, "a 0", `{"a": [2]}`},
		{"the last", `{"a": [1, 2]}`, "a 1", `{"a": [1]}`},
		{"the only one", "{\n  \"a\": [\n    1\n  ]\n}", "a 0", "{\n  \"a\": []\n}"},
		{"one with a trailing comma", "[\n  1,\n  2,\n]", "1", "[\n  1,\n]"},
		{"one behind a trailing comma's comment", "[1 /*one*/, 2]", "1", "[1 /*one*/]"},
		{"comments stay", "[\n  1, // one\n  2, // two\n  3 // three\n]", "1", "[\n  1, // one\n // two\n  3 // three\n]"},
		{"a comment at the end stays", "[\n  1, // one\n  2 // two\n]", "1", "[\n  1 // one\n // two\n]"},
		{"a member, the last of its name", `{"a": 1, "b": 2, "a": 3}`, "a", `{"a": 1, "b": 2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := parse(t, tt.before)
			if found, err := d.Remove(strings.Fields(tt.path)...); err != nil || !found {
				t.Fatal(found, err)
			}
			if got := string(d.Bytes()); got != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
			if found, err := d.Remove("nothing", "here"); found || (err != nil && !errors.Is(err, ErrShape)) {
				t.Error(found, err)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	tests := []struct{ name, before, like, after string }{
		{"what is empty goes", `{"hooks": {"Stop": []}}`, `{}`, `{}`},
		{"what was there stays", `{"hooks": {"Stop": []}}`, `{"hooks": {}}`, `{"hooks": {}}`},
		{"what has something in it stays", `{"hooks": {"Stop": [], "a": 1}}`, `{}`, `{"hooks": {"a": 1}}`},
		{"a comment in it keeps it", "{\"hooks\": {\"Stop\": [ /* mine */ ]}}", `{}`, "{\"hooks\": {\"Stop\": [ /* mine */ ]}}"},
	}
	for _, tt := range tests {
		d := parse(t, tt.before)
		if err := d.Prune(parse(t, tt.like), stop...); err != nil || string(d.Bytes()) != tt.after {
			t.Errorf("%s: %v, got %s", tt.name, err, d.Bytes())
		}
	}
}

func TestGetAndSet(t *testing.T) {
	d := parse(t, "{\n  // of others\n  \"other\": {\"enabled\": true,},\n}\n")
	if err := d.Set(map[string]bool{"on": true}, "ours"); err != nil {
		t.Fatal(err)
	}
	if raw, err := d.Get("ours"); err != nil || string(raw) != "{\n    \"on\": true\n  }" {
		t.Errorf("%s %v", raw, err)
	}
	if raw, err := d.Get("other"); err != nil || !json.Valid(raw) {
		t.Errorf("not standard JSON: %s %v", raw, err)
	}
	if raw, err := d.Get("other", "missing"); raw != nil || err != nil {
		t.Errorf("%s %v", raw, err)
	}
	if d.Set(1, "ours") == nil {
		t.Error("a member was replaced")
	}
	if d := parse(t, " \r\n"); string(d.Bytes()) != "{}\n" {
		t.Errorf("white space is read as %q", d.Bytes())
	}
}

func TestOtherShapesAreRefused(t *testing.T) {
	for _, src := range []string{`[]`, `"x"`, `{"hooks": []}`, `{"hooks": {"Stop": {}}}`, `{"hooks": {"Stop": "beep"}}`, `{"hooks": null}`} {
		d := parse(t, src)
		if err := d.Append(ours, stop...); !errors.Is(err, ErrShape) || string(d.Bytes()) != src {
			t.Errorf("%s: %v, now %s", src, err, d.Bytes())
		}
	}
	for _, src := range []string{`{`, `{"a":1}}`, "{'a':1}", "{\"a\": \"\xff\"", "nul"} {
		if _, err := Parse([]byte(src)); err == nil || errors.Is(err, ErrShape) || strings.Contains(err.Error(), "hujson") {
			t.Errorf("%s: %v", src, err)
		}
	}
}
