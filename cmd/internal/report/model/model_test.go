package model_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/talking-stick/tt/cmd/internal/report/model"
	"github.com/talking-stick/tt/cmd/internal/report/reporttest"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the models in testdata")

// A file in testdata says what it is about, has lines with options (all, redact, since
// TIME, now TIME), a journal, perhaps the journal of the room's topic, and what comes of
// them: the model and the findings.
func TestModels(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b, options := model.Builder{}, model.Options{}
			for line := range strings.Lines(string(archive.Comment)) {
				word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch word {
				case "all":
					b.AllLives = true
				case "redact":
					options.Redact = true
				case "since":
					options.Since = at(t, value)
				case "now":
					options.Now = at(t, value)
				}
			}
			var m *model.Model
			for i := range archive.Files {
				f := &archive.Files[i]
				var got string
				switch f.Name {
				case "journal":
					eachLine(t, f.Data, b.Add)
					continue
				case "topic":
					eachLine(t, f.Data, b.AddQuestion)
					continue
				case "model":
					m = b.Model(options)
					got = indented(t, m)
				case "findings":
					for _, found := range m.Findings(m.Totals()) {
						got += fmt.Sprintf("turn %d, bad %v: %s: %s\n", found.Turn, found.Bad, found.Title, found.Text)
					}
				}
				if *update {
					f.Data = []byte(got)
				} else if string(f.Data) != got {
					t.Errorf("%s is\n%s\nand should be\n%s", f.Name, got, f.Data)
				}
			}
			if strings.Contains(indented(t, m), "lease_id") {
				t.Error("the model has a lease")
			}
			if options.Redact && strings.Contains(indented(t, m)+fmt.Sprint(m.Findings(m.Totals())), "secret") {
				t.Error("the model has a text")
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func at(t *testing.T, value string) int64 {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, value)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.UnixMilli()
}

func eachLine(t *testing.T, data []byte, add func(*event.Event)) {
	t.Helper()
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		e, err := event.Decode(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		add(&e)
	}
}

// indented is the model as JSON, an item of a list on a line.
func indented(t *testing.T, m *model.Model) string {
	t.Helper()
	document, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(document, &fields); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for field := range reflect.TypeFor[model.Model]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		value, there := fields[name]
		if !there {
			continue
		}
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil || len(items) == 0 {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
			continue
		}
		fmt.Fprintf(&text, "%s:\n", name)
		for _, item := range items {
			fmt.Fprintf(&text, "  %s\n", item)
		}
	}
	return text.String()
}

// Above the limit the newest turns are kept, and what is older goes with the others.
func TestOldTurnsAreLeftOut(t *testing.T) {
	const extra = 70
	var b model.Builder
	events := 0
	for e := range reporttest.Events(model.MaxTurns + extra) {
		b.Add(e)
		events++
	}
	m := b.Model(model.Options{})
	if len(m.Turns) != model.MaxTurns || m.Omitted != extra || m.Turns[0].Number != extra+1 {
		t.Errorf("%d turns from %d on, %d left out", len(m.Turns), m.Turns[0].Number, m.Omitted)
	}
	if m.From != m.Turns[0].Start || m.Events >= int64(events) || m.Messages[0].At < m.From || m.Notes[0].At < m.From {
		t.Errorf("it begins at %d with %d events", m.From, m.Events)
	}
}

// A turn that began after the time of the report, on another clock, makes no time negative.
func TestTurnBeginsLater(t *testing.T) {
	var b model.Builder
	b.Add(&event.Event{Seq: 1, Type: "claim", Turn: 1, From: "a:1", CreatedAt: event.NewTime(time.UnixMilli(5_000_001))})
	b.Add(&event.Event{Seq: 2, Type: "message_sent", Turn: 1, From: "a:1", CreatedAt: event.NewTime(time.UnixMilli(1))})
	if m := b.Model(model.Options{Now: 5_000_000, Since: 9_000_000}); m.Totals().Work < 0 {
		t.Errorf("from %d to %d: %+v", m.From, m.To, m.Totals())
	}
}

// Whatever is in a journal, and in whatever order, there is a model of it, in which
// nothing ends before it begins and every agent is known.
func TestAnyEvents(t *testing.T) {
	types := []string{"room_opened", "member_joined", "member_left", "claim", "release", "pass", "takeover", "kick",
		"message_sent", "note_added", "note_resolved", "policy_changed", "close", "damaged", "other"}
	agents := []string{"", "a:1", "b:1", "human:x"}
	payloads := []string{"", "null", "7", `{"kind":"x","waited_ms":-5,"note_id":"n","body":"b"}`, `{"waited_ms":99999999999,"target_agent_id":"c:1"}`}
	questions := []string{"question_asked", "answer_saved", "question_closed", "question_cancelled", "topic_created"}
	rapid.Check(t, func(t *rapid.T) {
		b := model.Builder{AllLives: rapid.Bool().Draw(t, "all")}
		draw := func(types []string, seq int) *event.Event {
			return &event.Event{
				Seq: int64(seq), Type: rapid.SampledFrom(types).Draw(t, "type"), Turn: int64(rapid.IntRange(0, 5).Draw(t, "turn")),
				From: rapid.SampledFrom(agents).Draw(t, "from"), To: rapid.SampledFrom(agents).Draw(t, "to"),
				Payload:   json.RawMessage(rapid.SampledFrom(payloads).Draw(t, "payload")),
				CreatedAt: event.NewTime(time.UnixMilli(rapid.Int64Range(1, 9_000_000).Draw(t, "at"))),
			}
		}
		n := rapid.IntRange(0, 40).Draw(t, "events")
		for i := range n {
			b.Add(draw(types, i+1))
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "questions") {
			b.AddQuestion(draw(questions, i+1))
		}
		m := b.Model(model.Options{Now: 5_000_000, Since: rapid.Int64Range(0, 9_000_000).Draw(t, "since"), Redact: rapid.Bool().Draw(t, "redact")})
		for i := range m.Turns {
			turn := &m.Turns[i]
			if m.Finish(turn) < turn.Start || turn.End == 0 && i < len(m.Turns)-1 || turn.Agent >= len(m.Agents) {
				t.Fatalf("turn %+v of %d", turn, len(m.Turns))
			}
		}
		for _, s := range append(m.Here, m.Offered...) {
			if s.End != 0 && s.End < s.Start || s.Agent >= len(m.Agents) {
				t.Fatalf("span %+v", s)
			}
		}
		sums := m.Totals()
		if m.To < m.From || sums.Work < 0 || sums.Held < 0 {
			t.Fatalf("from %d to %d, %+v", m.From, m.To, sums)
		}
		m.Findings(sums)
		if _, err := json.Marshal(m.Trace()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDuration(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "0 ms", 999: "999 ms", 1000: "1 s", 59_400: "59 s", 59_600: "1 min", 210_000: "3 min 30 s", 600_000: "10 min", 3_599_000: "59 min",
		3_600_000: "1 h 00", 17_460_000: "4 h 51", 172_800_000: "2 d 0 h", 900_000_000: "10 d 10 h",
	} {
		if got := model.Duration(ms); got != want {
			t.Errorf("%d: %q, want %q", ms, got, want)
		}
	}
}

// A trace has a thread for every agent, a slice for every turn, and flows in pairs.
func TestTrace(t *testing.T) {
	var b model.Builder
	for e := range reporttest.Events(40) {
		b.Add(e)
	}
	m := b.Model(model.Options{})
	phases := map[string]int{}
	for _, e := range m.Trace().Events {
		phases[e.Phase]++
		if e.At < 0 || e.Phase == "X" && e.Duration <= 0 {
			t.Errorf("%+v", e)
		}
	}
	if phases["M"] != len(m.Agents)+1 || phases["X"] != len(m.Turns) || phases["s"] == 0 || phases["s"] != phases["f"] || phases["i"] == 0 {
		t.Error(phases)
	}
}

// TestEveryEventIsKnown: no type of event is one that this version does not know, a turn has its
// files, and a shortened journal the number of events that it has lost.
func TestEveryEventIsKnown(t *testing.T) {
	var b model.Builder
	for i, name := range turn.EventTypes() {
		b.Add(&event.Event{Seq: int64(i + 1), Turn: 3, Type: name, From: "a:1", To: "b:1",
			Payload: []byte(`{"span":"turn","turn_id":3,"files":2,"added":5,"paths":[{"path":"a"},{"path":"d/b"}],"lost_from":5,"lost_to":6}`)})
	}
	m := b.Model(model.Options{})
	if len(m.Unknown) > 0 {
		t.Errorf("not known: %v", m.Unknown)
	}
	files, paths := int64(0), ""
	for _, x := range m.Turns {
		files, paths = max(files, x.Files), paths+strings.Join(x.Paths, " ")
	}
	if files != 2 || paths != "a d/b" || len(m.Damaged) != 1 || m.Damaged[0].Seq != 5 || m.Damaged[0].To != 6 {
		t.Errorf("%d files: %s, damaged %v", files, paths, m.Damaged)
	}
}
