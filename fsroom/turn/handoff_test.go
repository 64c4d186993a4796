package turn_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"pgregory.net/rapid"
)

// with is a handoff with more keys.
func with(more string) string { return `{"status":"s","next_action":"n",` + more + `}` }

func TestHandoffAccepted(t *testing.T) {
	for name, in := range map[string]string{
		"the least":                 note,
		"85 everything":             with(`"artifacts":[{"path":"a.go","lines":[1,2],"role":"edit","note":"here"}],"open_questions":["why?"],"do_not":["x"]`),
		"one line":                  with(`"artifacts":[{"path":"a.go","lines":[7,7]}]`),
		"the highest line":          with(`"artifacts":[{"path":"a.go","lines":[1,9223372036854775807]}]`),
		"unknown keys":              with(`"mood":"good","nested":{"a":[1,2.50,1e400,{"b":null}]},"Status":7`),
		"unknown keys of artifacts": with(`"artifacts":[{"path":"a","sha256":"…","Lines":"all"}]`),
		"null is absent":            with(`"artifacts":null,"open_questions":null,"do_not":null`),
		"null in an artifact":       with(`"artifacts":[{"path":"a","lines":null,"role":null,"note":null}]`),
		"empty lists":               with(`"artifacts":[],"open_questions":[],"do_not":[]`),
		"escapes are not touched":   `{"status":"\u003cb\u003e <b> \u2028 \ud83d\ude00 😀","next_action":"\/"}`,
	} {
		t.Run(name, func(t *testing.T) {
			out, err := turn.CheckHandoff([]byte(in))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "verbatim", string(out), in)
		})
	}
	for _, role := range turn.Roles() {
		if _, err := turn.CheckHandoff([]byte(with(`"artifacts":[{"path":"a","role":"` + role + `"}]`))); err != nil {
			t.Errorf("role %s: %v", role, err)
		}
	}
	equal(t, "roles", strings.Join(turn.Roles(), " "), "examine review edit context output")
}

func TestHandoffOnOneLine(t *testing.T) {
	out, err := turn.CheckHandoff([]byte("\n {\n\t\"status\" : \"two  words\",\r\n \"next_action\": \"n\" } \n"))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "line", string(out), `{"status":"two  words","next_action":"n"}`)
}

func TestHandoffRefused(t *testing.T) {
	const list, object = "artifacts", "artifacts[0]"
	art := func(fields string) string { return with(`"artifacts":[` + fields + `]`) }
	for _, c := range []struct{ name, in, field string }{
		{"84 nothing", "", "handoff"},
		{"84 blank", " \n", "handoff"},
		{"84 null", "null", "handoff"},
		{"84 a text", `"done"`, "handoff"},
		{"84 a number", "7", "handoff"},
		{"84 a list", "[" + note + "]", "handoff"},
		{"broken", `{"status":"s","next_action":"n"`, "handoff"},
		{"two of them", note + note, "handoff"},
		{"not JSON, but nearly", `{"status":"s","next_action":"n",}`, "handoff"},
		{"a raw newline in a text", "{\"status\":\"a\nb\",\"next_action\":\"n\"}", "handoff"},
		{"bad UTF-8", "{\"status\":\"\xff\",\"next_action\":\"n\"}", "status"},
		{"bad UTF-8 outside of texts", "{\"status\":\"s\",\"next_action\":\"n\"\xff}", "handoff"},
		{"bad UTF-8 in a name", with("\"x\xff\":1"), "handoff"},
		{"half a surrogate pair", `{"status":"cut \ud83d","next_action":"n"}`, "status"},
		{"half a surrogate pair in a list", with(`"do_not":["a","\ude00"]`), "do_not[1]"},
		{"half a surrogate pair in an artifact", art(`{"path":"a","note":"\uD83D\u0041"}`), object + ".note"},
		{"half a surrogate pair in an unknown part", with(`"mood":{"now":["\ud83d\ud83d\ude00"]}`), "mood.now[0]"},
		{"half a surrogate pair in a name", with(`"mood":{"\udfff":1}`), "mood"},
		{"nested too deep for other readers", with(`"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100)), "x" + strings.Repeat("[0]", 39) + "[0…"},
		{"nested too deep for a journal", with(`"x":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999)), "handoff"},
		{"83 no status", `{"next_action":"n"}`, "status"},
		{"83 status blank", `{"status":" \t ","next_action":"n"}`, "status"},
		{"status null", `{"status":null,"next_action":"n"}`, "status"},
		{"status no text", `{"status":["s"],"next_action":"n"}`, "status"},
		{"status by another case", `{"Status":"s","next_action":"n"}`, "status"},
		{"the last of two counts, null", `{"status":"s","next_action":"n","status":null}`, "status"},
		{"the last of two counts, artifacts", with(`"artifacts":[{"path":"a"}],"artifacts":[{}]`), "artifacts"},
		{"the last of two counts", `{"status":"s","next_action":"n","status":""}`, "status"},
		{"nothing in it", `{}`, "status"},
		{"84 no next_action", `{"status":"s"}`, "next_action"},
		{"next_action blank", `{"status":"s","next_action":"\n"}`, "next_action"},
		{"next_action no text", `{"status":"s","next_action":1}`, "next_action"},
		{"artifacts no list", with(`"artifacts":{}`), list},
		{"an artifact that is a text", art(`"a.go"`), object},
		{"an artifact that is null", art(`null`), object},
		{"an artifact that is a list", art(`[]`), object},
		{"no path", art(`{}`), object + ".path"},
		{"path blank", art(`{"path":" "}`), object + ".path"},
		{"path no text", art(`{"path":1}`), object + ".path"},
		{"path by another case", art(`{"Path":"a"}`), object + ".path"},
		{"the second artifact", art(`{"path":"a"},{"path":""}`), "artifacts[1].path"},
		{"one line number", art(`{"path":"a","lines":[1]}`), object + ".lines"},
		{"three line numbers", art(`{"path":"a","lines":[1,2,3]}`), object + ".lines"},
		{"no line numbers", art(`{"path":"a","lines":[]}`), object + ".lines"},
		{"line 0", art(`{"path":"a","lines":[0,2]}`), object + ".lines"},
		{"a negative line", art(`{"path":"a","lines":[-1,2]}`), object + ".lines"},
		{"lines backwards", art(`{"path":"a","lines":[3,2]}`), object + ".lines"},
		{"half a line", art(`{"path":"a","lines":[1,2.5]}`), object + ".lines"},
		{"a line too far", art(`{"path":"a","lines":[1,9223372036854775808]}`), object + ".lines"},
		{"a line of text", art(`{"path":"a","lines":["1","2"]}`), object + ".lines"},
		{"a line that is null", art(`{"path":"a","lines":[null,2]}`), object + ".lines"},
		{"lines no list", art(`{"path":"a","lines":"1-2"}`), object + ".lines"},
		{"an unknown role", art(`{"path":"a","role":"delete"}`), object + ".role"},
		{"a role in capitals", art(`{"path":"a","role":"Edit"}`), object + ".role"},
		{"role no text", art(`{"path":"a","role":1}`), object + ".role"},
		{"note no text", art(`{"path":"a","note":{}}`), object + ".note"},
		{"open_questions a text", with(`"open_questions":"why?"`), "open_questions"},
		{"open_questions not of texts", with(`"open_questions":[1]`), "open_questions"},
		{"open_questions with null", with(`"open_questions":["a",null]`), "open_questions"},
		{"do_not a text", with(`"do_not":"x"`), "do_not"},
		{"do_not not of texts", with(`"do_not":[["x"]]`), "do_not"},
		{"do_not with null", with(`"do_not":[null]`), "do_not"},
		{"a key twice", with(`"status":"b"`), "status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := turn.CheckHandoff([]byte(c.in))
			if err == nil {
				t.Fatalf("accepted as %.80s", out)
			}
			equal(t, "code", code.Of(err), code.InvalidHandoff)
			equal(t, "field", detail(t, err, "field"), any(c.field))
		})
	}
}

func TestHandoffSize(t *testing.T) {
	fill := func(size int) []byte {
		rest := with(`"x":""`)
		return []byte(with(`"x":"` + strings.Repeat("x", size-len(rest)) + `"`))
	}
	if _, err := turn.CheckHandoff(fill(turn.MaxHandoff)); err != nil {
		t.Errorf("256 KiB: %v", err)
	}
	_, err := turn.CheckHandoff(fill(turn.MaxHandoff + 1))
	equal(t, "code", code.Of(err), code.InvalidHandoff)
	equal(t, "field", detail(t, err, "field"), any("handoff"))
	equal(t, "supplied", detail(t, err, "supplied"), any(256*1024+1))
}

// TestHandoffWritten: a handoff made of flags is one that is accepted, and is
// read as it was meant.
func TestHandoffWritten(t *testing.T) {
	for name, h := range map[string]turn.Handoff{
		"the least": {Status: "s", NextAction: "n"},
		"everything": {
			Status: "<done> \"s\"", NextAction: "n\n", OpenQuestions: []string{"why?", ""}, DoNot: []string{"x"},
			Artifacts: []turn.Artifact{{Path: "a.go"}, {Path: "b.go", Lines: []int64{1, 20}, Role: "edit", Note: "here"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := turn.CheckHandoff([]byte(mustJSON(&h)))
			if err != nil {
				t.Fatal(err)
			}
			if read := turn.ReadHandoff(raw); !reflect.DeepEqual(read, h) {
				t.Errorf("%s is read as %+v", raw, read)
			}
		})
	}
	if read := turn.ReadHandoff([]byte(`{"status":1}`)); !reflect.DeepEqual(read, turn.Handoff{}) {
		t.Errorf("a damaged one is read as %+v", read)
	}
}

// TestHandoffNeverLies: whatever is accepted is the same JSON as was given, and
// goes through a journal and back.
func TestHandoffNeverLies(t *testing.T) {
	value := rapid.SampledFrom([]string{
		`"s"`, `" "`, `null`, `7`, `[]`, `{}`, `[1,2]`, `["a"]`, `[null]`, `[{"path":"a"}]`, `[{"path":"a","lines":[1,2],"role":"edit"}]`, `{`, `"`,
	})
	key := rapid.SampledFrom([]string{"status", "next_action", "artifacts", "open_questions", "do_not", "STATUS", "other"})
	rapid.Check(t, func(t *rapid.T) {
		pairs := []string{`"status":"s"`, `"next_action" : "s"`}[rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "without"):]
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			pairs = append(pairs, `"`+key.Draw(t, "key")+`" : `+value.Draw(t, "value"))
		}
		in := "{" + strings.Join(pairs, ",") + "}"
		out, err := turn.CheckHandoff([]byte(in))
		if err != nil {
			if code.Of(err) != code.InvalidHandoff || err.(*code.Error).Details["field"] == nil {
				t.Fatalf("%s: %v", in, err)
			}
			return
		}
		var fields map[string]any
		if json.Unmarshal(out, &fields) != nil || fields["status"] != "s" || fields["next_action"] != "s" {
			t.Fatalf("%s was accepted", in)
		}
		equalJSON(t, out, []byte(in))
		w := newWorld(t)
		w.join("a")
		w.try("a")
		events, _, err := turn.Release(w.state, w.facts(), turn.ReleaseRequest{Fence: w.fence(), Handoff: out})
		e := w.commit(events, err)
		if read := w.onDisk()[e.Seq-1]; string(read.Handoff) != string(out) {
			t.Fatalf("%s is read from the journal as %s", out, read.Handoff)
		}
	})
}

func equalJSON(t *rapid.T, a, b []byte) {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || mustJSON(x) != mustJSON(y) {
		t.Fatalf("%s is not %s", a, b)
	}
}
