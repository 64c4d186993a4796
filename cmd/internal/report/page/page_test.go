package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/talking-stick/tt/cmd/internal/report/model"
	"github.com/talking-stick/tt/cmd/internal/report/reporttest"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// sample returns the model of an invented history, whose last turn is still held.
func sample(turns int) *model.Model {
	var b model.Builder
	var last time.Time
	for e := range reporttest.Events(turns) {
		b.Add(e)
		last = e.CreatedAt.Time
	}
	for e := range reporttest.Questions() {
		b.AddQuestion(e)
	}
	return b.Model(model.Options{Now: last.Add(6 * time.Minute).UnixMilli()})
}

func rendered(t testing.TB, m *model.Model) string {
	t.Helper()
	b, err := Render(m, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hostileTexts try to end a script, an attribute, a comment or a template, and to load
// something.
var hostileTexts = []string{
	"\u202eevil\u202c", "\x1b[2J\u009b2J\u007f\u200b\ufeff\a\r\n",
	`</script><script>window.hurt=1</script>`, `<img src=x onerror="window.hurt=1">`, `"><svg onload=window.hurt=1>`, `<!--<script>`, `]]>`, `{{.}}`, "`${window.hurt=1}`",
	`'-window.hurt=1-'`, `javascript:window.hurt=1`, `</style><style>@import "//example.org"</style>`, `</title>`, `</textarea>`, `&lt;b&gt;`, "\u2028\u2029\u202e\u0000\x1b[2J", strings.Repeat("x", 5000), "a b\tc\nd",
}

// hidden reports whether a character of a page is none to look at.
func hidden(r rune) bool {
	return !unicode.IsGraphic(r) && !strings.ContainsRune("\n\t\u200c\u200d", r)
}

// hostile returns a model with these texts wherever a text can stand, also as the names of
// agents, keys and event types.
func hostile() *model.Model {
	var b model.Builder
	seq := int64(0)
	add := func(e event.Event, payload any) {
		seq++
		e.Seq, e.RoomID, e.CreatedAt = seq, hostileTexts[0], event.NewTime(reporttest.Begin.Add(time.Duration(seq)*time.Minute))
		if payload != nil {
			e.Payload, _ = json.Marshal(payload)
		}
		b.Add(&e)
	}
	add(event.Event{Type: turn.RoomOpened, From: "a"}, map[string]any{"canonical_path": "/src/" + hostileTexts[0]})
	for i, x := range hostileTexts {
		other := hostileTexts[(i+1)%len(hostileTexts)]
		handoff, _ := json.Marshal(map[string]any{
			"status": x, "next_action": other, "artifacts": []any{map[string]any{"path": x, "note": x, "role": x}}, "open_questions": []string{x}, "do_not": []string{x}, x: x, "__proto__": x,
		})
		add(event.Event{Type: turn.MemberJoined, From: x}, nil)
		add(event.Event{Type: turn.Takeover, From: other, To: x, Turn: int64(i + 1), Reason: x}, map[string]any{"kind": x})
		add(event.Event{Type: turn.MessageSent, From: x, To: other}, map[string]any{"body": x})
		add(event.Event{Type: turn.NoteAdded, From: x}, map[string]any{"note_id": x, "body": x, "severity": "page"})
		add(event.Event{Type: "type " + x, From: x}, nil)
		add(event.Event{Type: turn.Released, From: x, To: other, Handoff: handoff}, nil)
		q := event.Event{Seq: seq, Type: "question_asked", From: x, To: other, CreatedAt: event.NewTime(reporttest.Begin)}
		q.Payload, _ = json.Marshal(map[string]any{"question_id": x, "question_text": x})
		b.AddQuestion(&q)
	}
	add(event.Event{Type: turn.Closed, From: hostileTexts[0], Reason: hostileTexts[1]}, nil)
	return b.Model(model.Options{})
}

// TestPageIsWellFormed checks that every element is closed in order, that no text of
// the model has become an element, and that no attribute runs something.
func TestPageIsWellFormed(t *testing.T) {
	var empty model.Builder
	for name, m := range map[string]*model.Model{"sample": sample(55), "hostile": hostile(), "empty": empty.Model(model.Options{})} {
		t.Run(name, func(t *testing.T) {
			html := rendered(t, m)
			if strings.ContainsFunc(html, hidden) || name == "hostile" && (!strings.Contains(html, `\u202eevil`) || !strings.Contains(html, `\\u202eevil`)) {
				t.Error("text reads otherwise than it is")
			}
			known := map[string]bool{}
			for _, tag := range regexp.MustCompile(`<([a-z0-9]+)`).FindAllStringSubmatch(source+policy("", "")+string(when(0)), -1) {
				known[tag[1]] = true
			}
			raw := regexp.MustCompile(`(?s)(<(script|style)[^>]*>)(.*?)(</(script|style)>)`)
			if n := len(raw.FindAllString(html, -1)); n != 3 {
				t.Errorf("%d scripts and style sheets, want 3", n)
			}
			text := raw.ReplaceAllString(html, "$1$4")
			d := xml.NewDecoder(strings.NewReader(text))
			d.Strict, d.AutoClose, d.Entity = true, []string{"meta", "input"}, xml.HTMLEntity
			text = regexp.MustCompile(`<(meta|input)([^>]*)>`).ReplaceAllString(text, "<$1$2/>")
			text = regexp.MustCompile(` (hidden|checked)([ />])`).ReplaceAllString(text, ` $1=""$2`)
			text = strings.ReplaceAll(text, "<!doctype html>", "")
			text = strings.NewReplacer("\x00", "", "\x1b", "").Replace(text)
			d = xml.NewDecoder(strings.NewReader(text))
			for {
				token, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%v at %d: %.200s", err, d.InputOffset(), text[max(0, d.InputOffset()-100):])
				}
				e, ok := token.(xml.StartElement)
				if !ok {
					continue
				}
				if !known[e.Name.Local] {
					t.Errorf("an element %s", e.Name.Local)
				}
				for _, a := range e.Attr {
					if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
						t.Errorf("an attribute %s=%q", a.Name.Local, a.Value)
					}
				}
			}
		})
	}
}

// TestPagePolicy checks that the sums in the policy are those of what is in the page.
func TestPagePolicy(t *testing.T) {
	html := rendered(t, sample(10))
	policy := regexp.MustCompile(`content="(default-src [^"]*)"`).FindStringSubmatch(html)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; style-src 'sha256-") {
		t.Fatalf("policy %q", policy)
	}
	for element, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
		content := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindStringSubmatch(html)
		if content == nil {
			t.Fatalf("there is no %s", element)
		}
		sum := sha256.Sum256([]byte(content[1]))
		if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy[1], want) {
			t.Errorf("%s is not in %s", want, policy[1])
		}
	}
}

// TestPageLoadsNothing checks that there is no address in the page.
func TestPageLoadsNothing(t *testing.T) {
	html := rendered(t, sample(55))
	for _, word := range []string{"http://", "https://", "url(//", "@import", "src=", "sourceMappingURL", "fetch(", "XMLHttpRequest", "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("} {
		page := strings.ReplaceAll(html, "src=x onerror", "") // a message in the sample has it
		if strings.Contains(page, word) {
			t.Errorf("the page has %s", word)
		}
	}
}

// TestPageHasItsData checks that the data in the page is the model, word for word.
func TestPageHasItsData(t *testing.T) {
	for _, m := range []*model.Model{sample(20), hostile()} {
		html := rendered(t, m)
		data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(html)
		want, err := json.Marshal(m)
		if err != nil || data == nil || data[1] != string(visible(want, `\\u%04x`)) {
			t.Errorf("%v: the data differ", err)
		}
		if strings.ContainsAny(data[1], "<>&\u2028\u2029") {
			t.Error("the data have a character that HTML or JavaScript would act on")
		}
	}
}

// TestPageSaysWhatIsMissing checks the remarks about older turns and replaced texts.
func TestPageSaysWhatIsMissing(t *testing.T) {
	m := sample(model.MaxTurns + 5)
	if html := rendered(t, m); !strings.Contains(html, "newest 3000 turns. 5 older ones are left out") || strings.Count(html, "<tr data-n=") != model.MaxTurns {
		t.Error("nothing is said of the older turns")
	}
	m = sample(5)
	m.Redacted, m.Unknown = true, map[string]int{"lock_taken": 2}
	if html := rendered(t, m); !strings.Contains(html, "Every text is replaced by its length") || !strings.Contains(html, "2 lock_taken") {
		t.Error("nothing is said of the texts, or of unknown events")
	}
}

// BenchmarkReport is a report of 2200 turns, from the events to the page.
func BenchmarkReport(b *testing.B) {
	var events []*event.Event
	for e := range reporttest.Events(2200) {
		events = append(events, e)
	}
	for b.Loop() {
		var builder model.Builder
		for _, e := range events {
			builder.Add(e)
		}
		page, err := Render(builder.Model(model.Options{}), "v1")
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(page)))
	}
}
