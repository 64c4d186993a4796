package event

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/talking-stick/tt/journal/wire"
	"pgregory.net/rapid"
)

func TestEncode(t *testing.T) {
	at := NewTime(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC))
	tests := []struct {
		name  string
		event Event
		want  string
	}{
		{"empty", Event{}, `{"event_seq":0,"event_id":"","room_id":"","turn_id":0,"event_type":"","created_at":"0001-01-01T00:00:00.000Z"}`},
		{"full", Event{7, "e", "r", 3, "release", "a:1", "b:2", json.RawMessage(`{"status":"s"}`), "why", json.RawMessage(`[1]`), at, true},
			`{"event_seq":7,"event_id":"e","room_id":"r","turn_id":3,"event_type":"release","from_agent_id":"a:1","to_agent_id":"b:2",` +
				`"handoff":{"status":"s"},"reason":"why","payload":[1],"created_at":"2026-01-02T03:04:05.678Z","more":true}`},
		{"null is nothing", Event{Seq: 1, Type: "t", Handoff: json.RawMessage(" null\n"), Payload: json.RawMessage{}, CreatedAt: at},
			`{"event_seq":1,"event_id":"","room_id":"","turn_id":0,"event_type":"t","created_at":"2026-01-02T03:04:05.678Z"}`},
		{"strings", Event{Seq: 1, Type: "t", Reason: "<&>\"\\/\n\r\t\b\x00\x1f\x7f é\u2028 \xff\xfe.", CreatedAt: at},
			`{"event_seq":1,"event_id":"","room_id":"","turn_id":0,"event_type":"t","reason":"<&>\"\\/\n\r\t\u0008\u0000\u001f` +
				"\x7f é\u2028 \uFFFD.\"" + `,"created_at":"2026-01-02T03:04:05.678Z"}`},
		{"raw", Event{Seq: 1, Type: "t", Payload: json.RawMessage(" { \"a b\" :\r\n [ 1 , \"\\\" \\\\\" ,\t\"<\xff>\" ] } \n"), CreatedAt: at},
			`{"event_seq":1,"event_id":"","room_id":"","turn_id":0,"event_type":"t","payload":{"a b":[1,"\" \\","<` + "\uFFFD" + `>"]},"created_at":"2026-01-02T03:04:05.678Z"}`},
		{"raw that is no JSON", Event{Seq: 1, Type: "t", Payload: json.RawMessage("{\n\"a\""), CreatedAt: at},
			`{"event_seq":1,"event_id":"","room_id":"","turn_id":0,"event_type":"t","payload":"{\n\"a\"","created_at":"2026-01-02T03:04:05.678Z"}`},
	}
	for _, tt := range tests {
		if got := string(tt.event.Append([]byte("before "))); got != "before "+tt.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestDecode(t *testing.T) {
	want := Event{Seq: 2, ID: "e", Type: "t\n", From: "a", Payload: json.RawMessage(`{"b": null}`), More: true,
		CreatedAt: NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	accepted := map[string]string{
		"other order and spacing": ` { "more" : true , "created_at":"2026-01-02T03:04:05Z", "payload": {"b": null} ,` + "\t" + `"from_agent_id":"a","event_type":"t\u000a","event_id":"e","event_seq":2 } ` + "\n",
		"null is absent":          `{"event_seq":2,"event_id":"e","event_type":"t\n","from_agent_id":"a","to_agent_id":null,"handoff":null,"turn_id": null,"room_id":null,"reason":null,"payload":{"b": null},"created_at":"2026-01-02T04:04:05+01:00","more":true}`,
		"unknown keys":            `{"v":[1,{"x":"}"}],"event_seq":2,"event_id":"e","event_type":"t\n","from_agent_id":"a","payload":{"b": null},"created_at":"2026-01-02T03:04:05.0001Z","more":true,"Reason":"other case","z":-1.5e+3}`,
		"last wins":               `{"event_seq":9,"event_seq":2,"reason":null,"event_id":"e","event_type":"x","event_type":"t\n","from_agent_id":"a","payload":1,"payload":{"b": null},"created_at":"2026-01-02T03:04:05Z","more":false,"more":true}`,
		"escaped key":             `{"event\u005fseq":2,"event_id":"e","event_type":"t\n","from_agent_id":"\u0061","payload":{"b": null},"created_at":"\u0032026-01-02T03:04:05Z","more":true}`,
	}
	for name, line := range accepted {
		if got, err := Decode([]byte(line)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	refused := []string{
		``, ` `, `null`, `[]`, `"x"`, `1`, `{`, `{}`, `{"event_seq":1}`, `{"event_type":"t"}`,
		`{"event_seq":0,"event_type":"t"}`, `{"event_seq":-1,"event_type":"t"}`, `{"event_seq":null,"event_type":"t"}`,
		`{"event_seq":1,"event_type":""}`, `{"event_seq":1,"event_type":null}`,
	}
	for _, rest := range []string{
		`} x`, `}{}`, `},`, `,}`, `,"a"}`, `,"a":}`, `,"a" 1}`, `,a:1}`, ``, `]`, `,"x":tru}`, `,"x":nul}`, `,"x":01}`, `,"x":1.}`, `,"x":+1}`, `,"x":.5}`,
		`,"x":1e}`, `,"x":"\x"}`, `,"x":"\u12g4"}`, `,"x":"` + "\n" + `"}`, `,"x":"` + "\xff" + `"}`, `,"x":"}`, `,"x":[1,]}`, `,"x":[1 2]}`, `,"x":{1:2}}`, `,"\q":1}`,
		`,"event_seq":"1"}`, `,"event_seq":1.0}`, `,"event_seq":1e3}`, `,"event_seq":9223372036854775808}`, `,"event_seq":-}`, `,"event_seq":true}`,
		`,"turn_id":"1"}`, `,"event_id":1}`, `,"room_id":{}}`, `,"event_type":[]}`, `,"from_agent_id":true}`, `,"to_agent_id":1}`, `,"reason":[]}`,
		`,"more":1}`, `,"more":"true"}`, `,"more":truE}`, `,"created_at":5}`, `,"created_at":"today"}`, `,"created_at":""}`, `,"payload":}`, `,"handoff":{"a":}}`,
		`,"payload":` + strings.Repeat("[", wire.MaxDepth) + strings.Repeat("]", wire.MaxDepth) + `}`,
	} {
		refused = append(refused, `{"event_seq":1,"event_type":"t"`+rest)
	}
	for _, line := range refused {
		if e, err := Decode([]byte(line)); err == nil || !reflect.DeepEqual(e, Event{}) {
			t.Errorf("%.80s was read as %.80v, %v", line, e, err)
		}
	}
}

// TestDecodeDepth: the limit is on nesting, not on how many values there are.
func TestDecodeDepth(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, payload := range []string{nested(wire.MaxDepth - 1), "[" + strings.Repeat(`[],{},`, wire.MaxDepth) + "1]"} {
		line := []byte(`{"event_seq":1,"event_type":"t","payload":` + payload + `}`)
		if e, err := Decode(line); err != nil || string(e.Payload) != payload || !json.Valid(line) {
			t.Errorf("%.80s: %v", line, err)
		}
	}
}

func TestDecodeSaysWhere(t *testing.T) {
	for line, want := range map[string]string{
		`{"event_seq":1,"turn_id":"x"}`:     `turn_id: an integer expected at byte 26, not '"'`,
		`{"event_seq":1,"event_type":"t"`:   `ends early, a comma or } expected`,
		`{"event_seq":1,"event_type":"t"}}`: `the end expected at byte 33, not '}'`,
		`{"event_seq":1}`:                   `event_type missing`,
	} {
		if _, err := Decode([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", line, err, want)
		}
	}
}

func drawEvent(t *rapid.T) Event {
	text := func(name string) string { return rapid.String().Draw(t, name) }
	raw := func(name string) json.RawMessage {
		if rapid.Bool().Draw(t, "no "+name) {
			return nil
		}
		b, err := json.Marshal(map[string]any{text(name + " key"): rapid.SliceOf(rapid.String()).Draw(t, name)})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return Event{
		Seq: rapid.Int64Range(1, math.MaxInt64).Draw(t, "seq"), ID: text("id"), RoomID: text("room"),
		Turn: rapid.Int64().Draw(t, "turn"), Type: "t" + text("type"), From: text("from"), To: text("to"),
		Handoff: raw("handoff"), Reason: text("reason"), Payload: raw("payload"),
		CreatedAt: NewTime(time.UnixMilli(rapid.Int64Range(-62167219200000, 253402300799999).Draw(t, "ms"))),
		More:      rapid.Bool().Draw(t, "more"),
	}
}

func TestEncodeAndDecodeAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		line := e.Append(nil)
		if bytes.IndexByte(line, '\n') != len(line)-1 || !utf8.Valid(line) {
			t.Fatalf("not one line of UTF-8: %q", line)
		}
		if got, err := Decode(line); err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%v\n got %+v\nwant %+v", err, got, e)
		}
		var std Event
		if err := json.Unmarshal(line, &std); err != nil || !reflect.DeepEqual(std, e) {
			t.Fatalf("encoding/json: %v\n got %+v\nwant %+v", err, std, e)
		}
	})
}

// TestDecodeReadsWhatOthersWrite: encoding/json stands for the tools that rewrite a journal.
func TestDecodeReadsWhatOthersWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		var members map[string]any // sorts the keys
		d := json.NewDecoder(bytes.NewReader(e.Append(nil)))
		d.UseNumber()
		if err := d.Decode(&members); err != nil {
			t.Fatal(err)
		}
		line, err := json.MarshalIndent(members, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if again, want := reencoded(t, got), reencoded(t, e); again != want {
			t.Fatalf("\n got %s\nwant %s", again, want)
		}
	})
}

// reencoded gives an event with its raw values in encoding/json's spelling.
func reencoded(t *rapid.T, e Event) string {
	for _, raw := range []*json.RawMessage{&e.Handoff, &e.Payload} {
		if *raw == nil {
			continue
		}
		var v any
		if err := json.Unmarshal(*raw, &v); err != nil {
			t.Fatal(err)
		}
		*raw, _ = json.Marshal(v)
	}
	return string(e.Append(nil))
}

func TestEncodeAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		junk := func(name string) []byte { return rapid.SliceOf(rapid.Byte()).Draw(t, name) }
		e := Event{Seq: 1, Type: "t" + string(junk("type")), Reason: string(junk("reason")), Payload: junk("payload")}
		line := e.Append(nil)
		got, err := Decode(line)
		if err != nil || bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("%v: %q", err, line)
		}
		if want := strings.ToValidUTF8(e.Reason, "\uFFFD"); got.Reason != want {
			t.Fatalf("reason %q, want %q", got.Reason, want)
		}
	})
}

// FuzzDecode: what is read is JSON, and there is one way to write it down: it
// reads back as the same event, and is the same bytes the second time.
func FuzzDecode(f *testing.F) {
	e := sample(1)
	f.Add(e.Append(nil))
	for _, members := range []string{
		``, `,"event_seq":2`, `,"more":null`, `,"more":true,"more":false`, `,"\u0065vent_id":"x"`, `,"turn_id":-0`, `,"turn_id":1e3`,
		`,"turn_id":9223372036854775807`, `,"turn_id":-9223372036854775809`, `,"reason":"a\u0000\u001b[2J\r\n\u2028\u202e\/"`,
		`,"reason":"\ud800\ud83d\ude00"`, `,"payload":[ 1.5e-3 , {"a" :"\\\"} "} , 1e999 ]`, `,"handoff":"\ud800","payload":null`,
		`,"created_at":"2026-01-02T03:04:05+01:00"`, `,"created_at":"0000-01-01T00:00:00+23:59"`, `,"created_at":"9999-12-31T23:59:60Z"`,
		`,"payload":` + strings.Repeat("[", 200) + strings.Repeat("]", 200), `,"":{}`, "\r", "\x00", `,"reason":"` + "\xff" + `"`,
	} {
		f.Add([]byte(`{"event_seq":1,"event_type":"t"` + members + `}`))
	}
	f.Add([]byte("\xef\xbb\xbf" + `{"event_seq":1,"event_type":"t"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		first, err := Decode(line)
		if err != nil {
			return
		}
		if !json.Valid(line) {
			t.Fatalf("read what is not JSON: %q", line)
		}
		encoded := first.Append(nil)
		if bytes.IndexByte(encoded, '\n') != len(encoded)-1 || len(encoded) > len(line)+256 {
			t.Fatalf("%q is written as %q", line, encoded)
		}
		second, err := Decode(encoded)
		if err != nil {
			t.Fatalf("%q was read, and not again as %q: %v", line, encoded, err)
		}
		for _, raw := range []*json.RawMessage{&first.Handoff, &first.Payload} {
			var compact bytes.Buffer
			if *raw != nil && json.Compact(&compact, *raw) == nil {
				*raw = compact.Bytes()
			}
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("%q\nfirst  %+v\nsecond %+v", line, first, second)
		}
		if again := second.Append(nil); !bytes.Equal(again, encoded) {
			t.Fatalf("%q is written as %q and then as %q", line, encoded, again)
		}
	})
}

// FuzzValid compares the parser with encoding/json's.
func FuzzValid(f *testing.F) {
	for _, s := range []string{`{}`, `[1,-0.5e+7,"\u00e9\n",null,true,false,{"a":[]}]`, `"` + "\x7f\x00" + `"`, `-`, `00`, `1.e1`, `[,]`, `{"a":1,}`, "\xef\xbb\xbf{}", ` nul`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := wire.Valid(data), json.Valid(data); got != want {
			t.Fatalf("%q: valid %v, encoding/json says %v", data, got, want)
		}
	})
}

func TestValidIsEncodingJSONs(t *testing.T) {
	tokens := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"`, `\`, "1", "-", "0", ".", "e", "true", "null", " ", "\n", "\x00", "é"}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 8).Draw(t, "tokens"), ""))
		if got, want := wire.Valid(text), json.Valid(text); got != want {
			t.Fatalf("%q: valid %v, encoding/json says %v", text, got, want)
		}
	})
}
