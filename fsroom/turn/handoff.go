package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/wire"
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
	if len(raw) == 0 || raw[0] != '{' || !wire.Valid(raw) {
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
// the name of its field, and that only status counts, not Status, which
// encoding/json takes for the same.
func decodeHandoff(raw []byte) (*Handoff, error) {
	h := &Handoff{}
	var list []json.RawMessage
	err := decodeFields("", raw, []jsonField{
		{"status", "a text", &h.Status},
		{"next_action", "a text", &h.NextAction},
		{"open_questions", "a list of texts", (*texts)(&h.OpenQuestions)},
		{"do_not", "a list of texts", (*texts)(&h.DoNot)},
		{"artifacts", "a list of objects", &list},
	})
	for i := 0; i < len(list) && err == nil; i++ {
		var a Artifact
		a, err = decodeArtifact(fmt.Sprintf("artifacts[%d]", i), list[i])
		h.Artifacts = append(h.Artifacts, a)
	}
	return h, err
}

func decodeArtifact(at string, raw json.RawMessage) (a Artifact, err error) {
	err = decodeFields(at, raw, []jsonField{
		{"path", "a text", &a.Path},
		{"lines", "two line numbers, as [10,20]", &a.Lines},
		{"role", "a text", &a.Role},
		{"note", "a text", &a.Note},
	})
	return a, err
}

// A jsonField is one key of an object, and what its value has to be.
type jsonField struct {
	name, want string
	into       any
}

// decodeFields reads the fields of the object that stands at a place of the
// handoff; what is absent or null is left as it is.
func decodeFields(at string, raw []byte, known []jsonField) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return badHandoff(at, "%s must be an object", at)
	}
	for _, f := range known {
		name := f.name
		if at != "" {
			name = at + "." + name
		}
		if v, ok := fields[f.name]; ok && json.Unmarshal(v, f.into) != nil {
			return badHandoff(name, "%s must be %s", name, f.want)
		}
	}
	return nil
}

// texts is a list of strings in which null is not taken for an empty one.
type texts []string

func (t *texts) UnmarshalJSON(raw []byte) error {
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	*t = nil
	for _, s := range list {
		if s == nil {
			return errors.New("null is no text")
		}
		*t = append(*t, *s)
	}
	return nil
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
