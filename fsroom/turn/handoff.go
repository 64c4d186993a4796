package turn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
)

// MaxHandoff is the size of the largest handoff, in bytes of JSON.
const MaxHandoff = 256 << 10

// Roles lists what an artifact can be to its reader.
func Roles() []string { return []string{"examine", "review", "edit", "context", "output"} }

// A Handoff is what one turn leaves to the next.
type Handoff struct {
	Status        string
	NextAction    string
	Artifacts     []Artifact
	OpenQuestions []string
	DoNot         []string
}

// An Artifact points at something the next agent should look at.
type Artifact struct {
	Path  string
	Lines []int64 // first and last line, from 1
	Role  string
	Note  string
}

// CheckHandoff returns the handoff as it goes into the journal: the JSON as it
// was given, on one line, with unknown keys kept. The error names the field
// that is wrong.
func CheckHandoff(raw []byte) (json.RawMessage, error) {
	if len(raw) > MaxHandoff {
		return nil, badHandoff("handoff", "the handoff has %d bytes, at most %d are allowed", len(raw), MaxHandoff).
			With("supplied", len(raw)).WithHint("point at files with artifacts instead of quoting them")
	}
	if !utf8.Valid(raw) {
		return nil, badHandoff("handoff", "the handoff is not valid UTF-8")
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return nil, badHandoff("handoff", "the handoff is not a JSON object").
			WithHint(`give {"status":"…","next_action":"…"}`)
	}
	h, err := decodeHandoff(raw)
	if err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return nil, badHandoff("handoff", "the handoff is not a JSON object")
	}
	return line.Bytes(), nil
}

// decodeHandoff reads field by field, so that a wrong type is reported with
// the name of its field.
func decodeHandoff(raw []byte) (*Handoff, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, badHandoff("handoff", "the handoff is not a JSON object")
	}
	h := &Handoff{}
	for _, f := range []struct {
		name, want string
		into       any
	}{
		{"status", "a text", &h.Status},
		{"next_action", "a text", &h.NextAction},
		{"open_questions", "a list of texts", &h.OpenQuestions},
		{"do_not", "a list of texts", &h.DoNot},
	} {
		if v, ok := fields[f.name]; ok && json.Unmarshal(v, f.into) != nil {
			return nil, badHandoff(f.name, "%s must be %s", f.name, f.want)
		}
	}
	var list []json.RawMessage
	if v, ok := fields["artifacts"]; ok && json.Unmarshal(v, &list) != nil {
		return nil, badHandoff("artifacts", "artifacts must be a list of objects")
	}
	for i, v := range list {
		var a Artifact
		if json.Unmarshal(v, &a) != nil {
			return nil, badArtifact(i, v)
		}
		h.Artifacts = append(h.Artifacts, a)
	}
	return h, nil
}

// badArtifact names the field of an artifact that does not decode.
func badArtifact(i int, raw json.RawMessage) error {
	at := fmt.Sprintf("artifacts[%d]", i)
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return badHandoff(at, "%s must be an object", at)
	}
	var lines []int64
	if v, ok := fields["lines"]; ok && json.Unmarshal(v, &lines) != nil {
		return badHandoff(at+".lines", "%s.lines must be two line numbers, as [10,20]", at)
	}
	for _, name := range []string{"path", "role", "note"} {
		var s string
		if v, ok := fields[name]; ok && json.Unmarshal(v, &s) != nil {
			return badHandoff(at+"."+name, "%s.%s must be a text", at, name)
		}
	}
	return badHandoff(at, "%s is malformed", at)
}

func (h *Handoff) check() error {
	if strings.TrimSpace(h.Status) == "" {
		return badHandoff("status", "status is missing or blank").WithHint("say what was done, learned and left unfinished")
	}
	if strings.TrimSpace(h.NextAction) == "" {
		return badHandoff("next_action", "next_action is missing or blank").WithHint("say what the next agent should do")
	}
	for i, a := range h.Artifacts {
		if err := a.check(fmt.Sprintf("artifacts[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (a Artifact) check(at string) error {
	switch {
	case strings.TrimSpace(a.Path) == "":
		return badHandoff(at+".path", "%s.path is missing or blank", at)
	case a.Lines != nil && (len(a.Lines) != 2 || a.Lines[0] < 1 || a.Lines[1] < a.Lines[0]):
		return badHandoff(at+".lines", "%s.lines must be two line numbers from 1, the first not after the last", at)
	case a.Role != "" && !slices.Contains(Roles(), a.Role):
		return badHandoff(at+".role", "%s.role must be one of %s", at, strings.Join(Roles(), ", "))
	}
	return nil
}

func badHandoff(field, format string, args ...any) *code.Error {
	return code.New(code.InvalidHandoff, format, args...).With("field", field)
}
