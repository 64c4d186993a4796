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

func isOurs(element json.RawMessage) bool { return strings.Contains(string(element), "tt hook") }

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
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, inserted, undo, err := Append([]byte(tt.before), stop, ours)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
			if !strings.Contains(string(got), inserted) || !strings.Contains(inserted, "tt hook") {
				t.Errorf("inserted text %q is not in the document", inserted)
			}
			back, n, err := RemoveElements(got, stop, isOurs, undo)
			if err != nil || n != 1 || string(back) != tt.before {
				t.Errorf("removed %d, %v, got\n%s\nwant\n%s", n, err, back, tt.before)
			}
		})
	}
}

func TestInsertRefusesOtherShapes(t *testing.T) {
	for _, src := range []string{`[]`, `"x"`, `{"hooks": []}`, `{"hooks": {"Stop": {}}}`, `{"hooks": {"Stop": "beep"}}`, `{"hooks": null}`} {
		if _, _, _, err := Append([]byte(src), stop, ours); !errors.Is(err, ErrShape) {
			t.Errorf("Append to %s: %v, want ErrShape", src, err)
		}
	}
	for _, src := range []string{``, `{`, `{"a":1}}`, "{'a':1}"} {
		if _, _, _, err := Append([]byte(src), stop, ours); err == nil || errors.Is(err, ErrShape) {
			t.Errorf("Append to %s: %v, want a syntax error", src, err)
		}
		if Valid([]byte(src)) {
			t.Errorf("%s is said to be valid", src)
		}
	}
	if _, _, _, err := Set([]byte(`{"mcp": 1}`), nil, "mcp", 2); err == nil {
		t.Error("Set replaced a member")
	}
}

func TestRemoveLeavesWhatOthersAdded(t *testing.T) {
	made, _, undo, err := Append([]byte("{\n  \"a\": 1\n}\n"), stop, ours)
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, _, err := Append(made, stop, hookEntry{Command: "beep"})
	if err != nil {
		t.Fatal(err)
	}
	got, n, err := RemoveElements(theirs, stop, isOurs, undo)
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	want := "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"command\": \"beep\"\n      }\n    ]\n  }\n}\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRemoveKeepsAContainerSomebodyCommented(t *testing.T) {
	src := "{\n  \"hooks\": {\n    // mine to fill\n    \"Stop\": [\n      {\"command\": \"tt hook stop\"}\n    ]\n  }\n}\n"
	got, n, err := RemoveElements([]byte(src), stop, isOurs, Undo{})
	want := "{\n  \"hooks\": {\n    // mine to fill\n  }\n}\n"
	if err != nil || n != 1 || string(got) != want {
		t.Errorf("removed %d, %v, got\n%s\nwant\n%s", n, err, got, want)
	}
}

func TestRemoveElementsTakesAllThatMatch(t *testing.T) {
	src := `{"hooks": {"Stop": ["tt hook 1", "beep", "tt hook 2", /* end */]}}`
	got, n, err := RemoveElements([]byte(src), stop, isOurs, Undo{Kept: 2})
	if want := `{"hooks": {"Stop": [ "beep", /* end */]}}`; err != nil || n != 2 || string(got) != want {
		t.Errorf("removed %d, %v, got %s want %s", n, err, got, want)
	}
}

func TestSetAndRemoveMember(t *testing.T) {
	before := "{\n  \"other\": {\"enabled\": true}\n}\n"
	made, _, undo, err := Set([]byte(before), nil, "talking-stick", map[string]bool{"enabled": true})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Member(made, nil, "talking-stick")
	if err != nil || !strings.Contains(string(raw), "true") {
		t.Fatalf("Member: %s, %v", raw, err)
	}
	after, found, err := RemoveMember(made, nil, "talking-stick", undo)
	if err != nil || !found || string(after) != before {
		t.Errorf("%v %v\n%s", found, err, after)
	}
	if _, found, err := RemoveMember([]byte(before), []string{"mcp"}, "x", undo); found || err != nil {
		t.Errorf("removed what was not there: %v %v", found, err)
	}
}

func TestTheLastOfSeveralMembersCounts(t *testing.T) {
	src := `{"hooks": {"Stop": []}, "hooks": {"Stop": ["beep"]}}`
	got, _, _, err := Append([]byte(src), stop, "tt hook")
	if want := `{"hooks": {"Stop": []}, "hooks": {"Stop": ["beep", "tt hook"]}}`; err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}

func TestAPathGoesThroughArrays(t *testing.T) {
	src := `{"hooks": {"Stop": [1, {"hooks": ["tt hook", "beep"]}]}}`
	got, n, err := RemoveElements([]byte(src), []string{"hooks", "Stop", "1", "hooks"}, isOurs, Undo{Kept: 4})
	if want := `{"hooks": {"Stop": [1, {"hooks": [ "beep"]}]}}`; err != nil || n != 1 || string(got) != want {
		t.Errorf("%d %v %s", n, err, got)
	}
	for _, path := range [][]string{{"hooks", "Stop", "2"}, {"hooks", "Stop", "first", "hooks"}} {
		if _, _, err := RemoveElements([]byte(src), path, isOurs, Undo{}); !errors.Is(err, ErrShape) {
			t.Errorf("%v: %v", path, err)
		}
	}
}
