package wire_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/journal/wire"
	"pgregory.net/rapid"
)

// A thing has a field of every kind.
type thing struct {
	Name   string          `json:"name"`
	Nick   string          `json:"nick,omitempty"`
	Size   int64           `json:"size"`
	Spare  int64           `json:"spare,omitempty"`
	Count  int             `json:"count"`
	Extra  int             `json:"extra,omitempty"`
	On     bool            `json:"on"`
	Maybe  bool            `json:"maybe,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Part   part            `json:"part"`
	Other  part            `json:"other,omitzero"`
	Parts  []part          `json:"parts"`
	More   []part          `json:"more,omitempty"`
	Words  []string        `json:"words,omitempty"`
	Digits []int64         `json:"digits,omitempty"`
}

type part struct {
	ID string `json:"id"`
}

func things() *rapid.Generator[thing] {
	text := rapid.String()
	parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) part { return part{text.Draw(t, "id")} }), 1, 3)
	return rapid.Custom(func(t *rapid.T) thing {
		raw := rapid.SampledFrom([]string{"", "1", `{"a":[1,"b"]}`, `"x"`, "true", "[]"}).Draw(t, "raw")
		return thing{
			Name: text.Draw(t, "name"), Nick: text.Draw(t, "nick"), Size: rapid.Int64().Draw(t, "size"), Spare: rapid.Int64().Draw(t, "spare"),
			Count: rapid.Int().Draw(t, "count"), Extra: rapid.Int().Draw(t, "extra"), On: rapid.Bool().Draw(t, "on"), Maybe: rapid.Bool().Draw(t, "maybe"),
			Raw: []byte(raw)[:len(raw):len(raw)], Part: part{text.Draw(t, "part")}, Other: part{text.Draw(t, "other")},
			Parts: parts.Draw(t, "parts"), More: parts.Draw(t, "more"),
			Words: rapid.SliceOfN(text, 1, 3).Draw(t, "words"), Digits: rapid.SliceOfN(rapid.Int64(), 1, 3).Draw(t, "digits"),
		}
	})
}

// What is written is what encoding/json reads, and the other way round.
func TestAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := things().Draw(t, "thing")
		if len(want.Raw) == 0 {
			want.Raw = nil
		}
		document := wire.Append(nil, &want)
		var theirs thing
		if err := json.Unmarshal(document, &theirs); err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		if !reflect.DeepEqual(theirs, want) {
			t.Fatalf("encoding/json reads %+v, want %+v", theirs, want)
		}
		foreign, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var ours thing
		if err := wire.Decode(foreign, &ours); err != nil {
			t.Fatalf("%s: %v", foreign, err)
		}
		if !reflect.DeepEqual(ours, want) {
			t.Fatalf("read %+v, want %+v", ours, want)
		}
	})
}

func TestDecodeIsLenient(t *testing.T) {
	var got thing
	text := ` { "unknown" : [ { } ] , "size" : 7 , "name":null, "parts":null, "part": null, "nick":"\u0061" } `
	if err := wire.Decode([]byte(text), &got); err != nil || got.Size != 7 || got.Nick != "a" || got.Name != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestNullIsAbsent: a field keeps its value, as with encoding/json.
func TestNullIsAbsent(t *testing.T) {
	const text = `{"name":null,"size":null,"count":null,"on":null,"part":{"id":null},"parts":null,"words":null,"digits":null}`
	was := thing{Name: "n", Size: 1, Count: 2, On: true, Part: part{"p"}, Parts: []part{{"q"}}, Words: []string{"w"}}
	got := was
	if err := wire.Decode([]byte(text), &got); err != nil || !reflect.DeepEqual(got, was) {
		t.Errorf("got %+v, %v; want %+v", got, err, was)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `null`, `{`, `{}}`, `{"size":"1"}`, `{"size":1.5}`, `{"on":1}`, `{"name":1}`, `{"parts":{}}`, `{"parts":[1]}`, `{"part":[]}`,
		`{"words":[null]}`, `{"words":[1]}`, `{"digits":["1"]}`, `{"raw":}`, `{"name":"` + "\xff" + `"}`, `{"size":9223372036854775808}`,
		`{"unknown":` + strings.Repeat("[", wire.MaxDepth) + strings.Repeat("]", wire.MaxDepth) + `}`,
	} {
		if err := wire.Decode([]byte(text), new(thing)); err == nil {
			t.Errorf("%.60s was read", text)
		}
	}
}

// A field that is absent keeps what it had, and an empty value is left out only
// where it may be.
func TestEmpty(t *testing.T) {
	want := `{"name":"","size":0,"count":0,"on":false,"part":{"id":""},"parts":[]}`
	if got := string(wire.Append(nil, new(thing))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	kept := thing{Name: "kept"}
	if err := wire.Decode([]byte(`{"size":1}`), &kept); err != nil || kept.Name != "kept" {
		t.Errorf("%+v, %v", kept, err)
	}
}

// stamps has times that may be left out.
type stamps struct {
	At  time.Time  `json:"at,omitzero"`
	End *time.Time `json:"end,omitzero"`
}

func TestTimesThatAreLeftOut(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, s := range map[string]stamps{`{}`: {}, `{"at":"2030-01-02T03:04:05Z","end":"2030-01-02T03:04:05Z"}`: {at, &at}} {
		var got stamps
		if text := string(wire.Append(nil, &s)); text != want {
			t.Errorf("got %s, want %s", text, want)
		} else if err := wire.Decode([]byte(text), &got); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// FuzzDecode: what is read is written in one way, which reads the same again.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"name":"x","parts":[{"id":"1"}],"words":["a"],"digits":[1],"raw":{"a":1}}`, `{"name":"\u0000\ud800\"","name":null,"size":-0}`,
		"\xef\xbb\xbf{}", "{\r\n}\x00", `{"digits":[9223372036854775808]}`, `{"other":{"id":"a","id":"b"},"other":{}}`, `{"raw":[ 1e999 , "\\\"" ]}`,
		`{"raw":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "{\"name\":\"\xff\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second thing
		if wire.Decode(data, &first) != nil {
			return
		}
		written := wire.Append(nil, &first)
		if err := wire.Decode(written, &second); err != nil {
			t.Fatalf("%q is written as %q, which does not read: %v", data, written, err)
		}
		if again := wire.Append(nil, &second); !json.Valid(data) || !bytes.Equal(again, written) {
			t.Fatalf("%q is written as %q and then as %q", data, written, again)
		}
	})
}
