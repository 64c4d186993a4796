package turn

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/wire"
)

// MaxHandoff is the largest size of a handoff, in bytes of JSON.
const MaxHandoff = 256 << 10

// Roles returns the roles that an artifact can have.
func Roles() []string { return []string{"examine", "review", "edit", "context", "output"} }

// A Handoff is what the owner of one turn tells the owner of the next.
type Handoff struct {
	Status        string     `json:"status"`
	NextAction    string     `json:"next_action"`
	Artifacts     []Artifact `json:"artifacts,omitempty"`
	OpenQuestions []string   `json:"open_questions,omitempty"`
	DoNot         []string   `json:"do_not,omitempty"`
}

// An Artifact is a file that the next agent should look at.
type Artifact struct {
	Path  string  `json:"path"`
	Lines []int64 `json:"lines,omitempty"` // first and last line, from 1
	Role  string  `json:"role,omitempty"`
	Note  string  `json:"note,omitempty"`
}

// Text returns the artifact on one line, with a note behind a separator: "parse.go:10-20 (edit): the loop".
func (a Artifact) Text(separator string) string {
	text := a.Path
	if len(a.Lines) == 2 {
		text += fmt.Sprintf(":%d-%d", a.Lines[0], a.Lines[1])
	}
	if a.Role != "" {
		text += " (" + a.Role + ")"
	}
	if a.Note != "" {
		text += separator + a.Note
	}
	return text
}

// ParseArtifact reads PATH[:FROM-TO][=ROLE]. It refuses an end that looks like lines
// or a role but is not valid. Any other colon or equals sign is part of the path.
func ParseArtifact(text string) (Artifact, error) {
	var a Artifact
	var err error
	a.Path = text
	if path, role, ok := cutLast(a.Path, "="); ok && isWord(role) {
		if !slices.Contains(Roles(), role) {
			return a, badArtifact(text, "the role must be one of %s", strings.Join(Roles(), ", "))
		}
		a.Path, a.Role = path, role
	}
	if path, lines, ok := cutLast(a.Path, ":"); ok && isWord(lines) {
		if a.Lines, err = parseLines(lines); err != nil {
			return a, badArtifact(text, "%w", err)
		}
		a.Path = path
		if _, more, ok := cutLast(path, ":"); ok && isWord(more) {
			return a, badArtifact(text, "there are lines twice")
		}
	}
	return a, nil
}

func badArtifact(text, format string, args ...any) error {
	return code.New(code.InvalidHandoff, "artifact %.80q: %v", text, fmt.Errorf(format, args...)).With("field", "artifacts").
		WithHint("write PATH, PATH:FROM-TO, or either with =ROLE; a path that ends like that can be given as JSON with --stdin")
}

// cutLast cuts s around the last instance of sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// isWord reports whether s has only letters, digits and hyphens, or is empty. After a
// colon or an equals sign it is then meant as lines or a role, valid or not.
func isWord(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// parseLines reads "10-20" or "10".
func parseLines(s string) ([]int64, error) {
	from, to, ranged := strings.Cut(s, "-")
	if !ranged {
		to = from
	}
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	if errA != nil || errB != nil {
		return nil, fmt.Errorf("%q is no range of lines such as 10-20", s)
	}
	return []int64{a, b}, nil
}

// CheckHandoff returns the handoff as the journal keeps it: the given JSON with its
// unknown keys, without the white space between its tokens. The error has the code
// invalid_handoff and names the wrong field in its details.
func CheckHandoff(raw []byte) (json.RawMessage, error) {
	if len(raw) > MaxHandoff {
		return nil, badHandoff("handoff", "the handoff has %d bytes, at most %d are allowed", len(raw), MaxHandoff).
			With("supplied", len(raw)).WithHint("point at files with artifacts instead of quoting them")
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !wire.Valid(raw) {
		return nil, badHandoff("handoff", "the handoff is not a JSON object").
			WithHint(`give {"status":"…","next_action":"…"}`)
	}
	if at, err := wire.Portable(raw); err != nil {
		field := cmp.Or(at, "handoff")
		return nil, badHandoff(field, "%s: %v", field, err).
			WithHint("no reader of JSON could be sure to read it; send whole characters, nested at most %d deep", wire.MaxPortableDepth)
	}
	if err := onlyOnce(raw); err != nil {
		return nil, err
	}
	var h Handoff
	if err := wire.Decode(raw, &h); err != nil {
		return nil, mistyped(err)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	return wire.AppendRaw(nil, raw), nil
}

// onlyOnce refuses a handoff that has a key twice: readers differ in which one counts.
func onlyOnce(raw []byte) error {
	given, p := map[string]bool{}, wire.NewParser(raw)
	return p.Object(func(name []byte) error {
		key := string(name)
		if given[key] {
			return badHandoff(key, "%s is given twice", key)
		}
		given[key] = true
		return p.Skip()
	})
}

// mistyped refuses a handoff that has a value of another type than it should.
func mistyped(err error) error {
	at, must := "handoff", "an object"
	if in := (*wire.FieldError)(nil); errors.As(err, &in) {
		at, must = in.At, "a text"
	}
	last := at[strings.LastIndex(at, ".")+1:]
	name, _, element := strings.Cut(last, "[")
	switch name {
	case "artifacts":
		if must = "a list of objects"; element {
			must = "an object"
		}
		return badHandoff(at, "%s must be %s", at, must)
	case "open_questions", "do_not":
		must = "a list of texts"
	case "lines":
		must = "two line numbers, as [10,20]"
	}
	at = strings.TrimSuffix(at, last) + name
	return badHandoff(at, "%s must be %s", at, must)
}

// ReadHandoff decodes a handoff from the journal. It returns an empty one if the JSON
// cannot be decoded.
func ReadHandoff(raw json.RawMessage) Handoff {
	var h Handoff
	if wire.Decode(raw, &h) != nil {
		return Handoff{}
	}
	return h
}

// A HandoffPart is a part of a handoff as people read it: texts below a title, or a list.
type HandoffPart struct {
	Title  string
	Texts  []string
	IsList bool
}

// Parts returns what is in the handoff. Separator stands before the note of an artifact.
func (h Handoff) Parts(separator string) []HandoffPart {
	var artifacts []string
	for _, a := range h.Artifacts {
		artifacts = append(artifacts, a.Text(separator))
	}
	return slices.DeleteFunc([]HandoffPart{{"Status", []string{h.Status}, false}, {"Next action", []string{h.NextAction}, false},
		{"Artifacts", artifacts, true}, {"Open questions", h.OpenQuestions, true}, {"Do not", h.DoNot, true},
	}, func(p HandoffPart) bool { return len(p.Texts) == 0 })
}

// check refuses a handoff that lacks a field or has a value out of range.
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
