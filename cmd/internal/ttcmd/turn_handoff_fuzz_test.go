package ttcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

// FuzzHandoffForms: a handoff given by flags, by the editor's template or on
// standard input is the same handoff, word for word, or is refused with the
// field that is wrong.
func FuzzHandoffForms(f *testing.F) {
	f.Add("done", "go on", "a.go:1-2=edit", "why?", "x")
	f.Add(" s\t", "n\r\nn", "a b:0-0", "", "\x00\x1b[2J\u202e")
	f.Add("\ufeffs", "[status]\n# n", "C:\\x:7=review=edit", "[do not]", "#x")
	f.Add("\xff", "n", "\xfe:1=edit", "q\xc3", "{}")
	f.Add("[WIP] half done\n[half]", "  ", "=edit", "\u2028", "-")
	f.Add("[WIP]", "n", "b.go", "[open questions] ?", "[x]")
	f.Add(`{"status":"s"}`, "n", "a:99999999999999999999-1", ":1-2", "a:+1--2=contxt")
	f.Add("s", "n", "x="+strings.Repeat("y", 5000), "a:2-1=", strings.Repeat("日", 300))
	tt := newSpeaker()
	f.Fuzz(func(t *testing.T, status, next, artifact, question, doNot string) {
		s := tt.speak("release", "--status="+status, "--next-action="+next, "--artifact="+artifact, "--question="+question, "--do-not="+doNot)
		if len(s.calls) != 1 {
			t.Fatal(s.stderr)
		}
		out, err := flagHandoff(s.calls[0])
		if err != nil {
			checkNoHandoff(t, err)
			return
		}
		h := turn.ReadHandoff(out)
		if len(h.Artifacts) != 1 || h.Status != status || h.NextAction != next || !slices.Equal(h.OpenQuestions, []string{question}) || !slices.Equal(h.DoNot, []string{doNot}) {
			t.Fatalf("%q, %q, %q and %q are %s", status, next, question, doNot, out)
		}
		again, err := turn.ParseArtifact(spellArtifact(h.Artifacts[0]))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(h.Artifacts[0]) {
			t.Fatalf("%q is %+v, and that is %+v (%v)", artifact, h.Artifacts[0], again, err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, out, "", "\t"); err != nil {
			t.Fatal(err)
		}
		piped, err := readHandoff(strings.NewReader("\ufeff" + strings.ReplaceAll(indented.String(), "\n", "\r\n")))
		if err != nil || !bytes.Equal(piped, out) {
			t.Fatalf("%s is %s on standard input (%v)", out, piped, err)
		}
		checkTemplate(t, h, out)
	})
}

// checkTemplate writes the handoff into the editor's template, if it can be
// written there: the template is made of lines.
func checkTemplate(t *testing.T, h turn.Handoff, out []byte) {
	t.Helper()
	a := spellArtifact(h.Artifacts[0])
	for _, text := range []string{h.Status, h.NextAction, a, h.OpenQuestions[0], h.DoNot[0]} {
		if text == "" || text != strings.TrimSpace(text) || text[0] == '#' || strings.ContainsAny(text, "\r\n") || heading(text) != "" {
			return
		}
	}
	text := editorTemplate
	for heading, line := range map[string]string{"status": h.Status, "next action": h.NextAction, "artifacts": a, "open questions": h.OpenQuestions[0], "do not": h.DoNot[0]} {
		text = strings.Replace(text, "\n["+heading+"]\n", "\n["+heading+"]\r\n"+line+"\n\n", 1)
	}
	if edited, err := parseTemplate(text); err != nil || !bytes.Equal(edited, out) {
		t.Fatalf("%s is %s in the editor (%v):\n%s", out, edited, err, text)
	}
}

func spellArtifact(a turn.Artifact) string {
	text := a.Path
	if a.Lines != nil {
		text += fmt.Sprintf(":%d-%d", a.Lines[0], a.Lines[1])
	}
	if a.Role != "" {
		text += "=" + a.Role
	}
	return text
}

func checkNoHandoff(t *testing.T, err error) {
	t.Helper()
	e, ok := err.(*code.Error)
	if !ok || e.Code != code.InvalidHandoff || e.Details["field"] == nil || len(e.Error()) > 2000 {
		t.Fatalf("%v", err)
	}
}
