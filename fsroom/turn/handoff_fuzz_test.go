package turn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// FuzzHandoff: a handoff is refused with the field that is wrong, or is kept as
// it was given, on one line, means to every reader what it means to us, and
// comes out of a journal as it went in.
func FuzzHandoff(f *testing.F) {
	for _, in := range []string{
		note, "{\r\n\t\"status\" : \"two  words\",\n\"next_action\":\"\\\" \\\\\" }", " \r\n\t" + note + "\r\n", "\ufeff" + note, note + note, note + "\x00", "", "null", "[]",
		with(`"artifacts":[{"path":"a.go","lines":[1,2],"role":"edit","note":"here","sha":"…"}],"open_questions":["why?"],"do_not":["x"],"mood":1e999`),
		with(`"artifacts":[{"path":"../../etc/passwd\u0000","lines":[1,9223372036854775808]}]`), with(`"artifacts":[{},null,[]]`),
		with(`"artifacts":[{"path":"a","path":null}],"artifacts":null`), with(`"status":" ","status":"s"`), with(`"\u0073tatus":7`),
		with(`"x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500)), with(`"x":"\ud800\ud83d\ude00\u001b[2J\u202e"`),
		"{\"status\":\"\xff\",\"next_action\":\"n\"}", "{\"status\":\"\x1b[2J\",\"next_action\":\"n\"}", "{\"status\":\"\\u00a0\",\"next_action\":\"\\u2028\"}",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := turn.CheckHandoff(in)
		if err != nil {
			if field, _ := detail(t, err, "field").(string); code.Of(err) != code.InvalidHandoff || field == "" || len(err.Error()) > 1000 {
				t.Fatalf("%q: %v", in, err)
			}
			return
		}
		if bytes.ContainsAny(out, "\n\r\t\x00\x1b") || len(out) > len(in) {
			t.Fatalf("%q was kept as %q", in, out)
		}
		if again, err := turn.CheckHandoff(out); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q was kept as %q, and that as %q (%v)", in, out, again, err)
		}
		if at, err := wire.Portable(out); err != nil {
			t.Fatalf("%q was kept, though %s %v", in, at, err)
		}
		readsAlike(t, out)
		e := event.Event{Seq: 1, Type: turn.Released, Handoff: out}
		if read, err := event.Decode(e.Append(nil)); err != nil || !bytes.Equal(read.Handoff, out) {
			t.Fatalf("%q comes out of a journal as %q (%v)", out, read.Handoff, err)
		}
	})
}

// readsAlike compares with encoding/json, which stands for jq and all the others.
// It reads into a map, as with a struct it would ignore the case of names.
func readsAlike(t *testing.T, out []byte) {
	t.Helper()
	ours := turn.ReadHandoff(out)
	var theirs map[string]json.RawMessage
	if err := json.Unmarshal(out, &theirs); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	for key, read := range map[string]any{
		"status": ours.Status, "next_action": ours.NextAction, "open_questions": ours.OpenQuestions, "do_not": ours.DoNot,
	} {
		want := reflect.New(reflect.TypeOf(read))
		if raw, given := theirs[key]; given {
			if err := json.Unmarshal(raw, want.Interface()); err != nil {
				t.Fatalf("%q: %s: %v", out, key, err)
			}
		}
		if read, want := fmt.Sprintf("%q", read), fmt.Sprintf("%q", want.Elem()); read != want {
			t.Fatalf("%q: %s is %s, and %s to others", out, key, read, want)
		}
	}
}
