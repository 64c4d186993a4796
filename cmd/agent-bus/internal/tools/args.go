package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/wire"
)

// Args are the arguments of a call as the agent sent them. The getters accept what
// agents often send instead of what they mean:
//
//   - null is the same as leaving the argument out,
//   - an integer may be 60, 60.0 or "60", a boolean true or "true",
//   - a list or an object may be its JSON text in a string.
//
// Anything else of another type is INVALID_ARGUMENT and names the argument.
// Names are compared exactly.
type Args struct {
	values map[string]json.RawMessage
	prefix string // of argument names in messages: "responses[2]."
}

// ParseArgs reads the arguments of a call: an object, or null or nothing for none.
func ParseArgs(raw json.RawMessage) (Args, error) {
	if isNull(raw) {
		return Args{}, nil
	}
	object, ok := unwrap(raw, '{')
	if !ok {
		return Args{}, topic.Invalid("arguments", "must be an object, not %s", describe(raw))
	}
	return Args{values: members(object)}, nil
}

// Unknown returns a warning for each argument that is not known, in alphabetical
// order.
func (a Args) Unknown(known []string) []Warning {
	return unknownArguments(a.prefix, a.unknown(known), known)
}

func (a Args) unknown(known []string) []string {
	var names []string
	for name := range a.values {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	return names
}

// Text returns a string, and whether it was given.
func (a Args) Text(name string) (text string, given bool, err error) {
	raw, given := a.get(name)
	if !given {
		return "", false, nil
	}
	text, ok := asText(raw)
	if !ok {
		return "", true, a.wrong(name, "a string", raw)
	}
	return text, true, a.portable(name, raw)
}

// Required returns a string that is given and not blank.
func (a Args) Required(name string) (string, error) {
	text, given, err := a.Text(name)
	switch {
	case err != nil:
		return "", err
	case !given:
		return "", topic.Invalid(a.prefix+name, "is required")
	case isBlank(text):
		return "", topic.Invalid(a.prefix+name, "must not be blank")
	}
	return text, nil
}

// Choice returns one of the choices, the first if none is given.
func (a Args) Choice(name string, choices ...string) (string, error) {
	raw, given := a.get(name)
	if !given {
		return choices[0], nil
	}
	if text, ok := asText(raw); ok && slices.Contains(choices, text) {
		return text, nil
	}
	return "", a.wrong(name, "one of "+strings.Join(choices, ", "), raw)
}

// Integer returns a whole number that is at least least, or defaultValue if none is
// given.
func (a Args) Integer(name string, defaultValue, least int) (int, error) {
	raw, given := a.get(name)
	if !given {
		return defaultValue, nil
	}
	n, ok := asInteger(raw)
	if !ok {
		return 0, a.wrong(name, "an integer", raw)
	}
	if n < least {
		return 0, a.wrong(name, fmt.Sprintf("%d or more", least), raw)
	}
	return n, nil
}

// Boolean returns a truth value, false if none is given.
func (a Args) Boolean(name string) (bool, error) {
	raw, given := a.get(name)
	if !given {
		return false, nil
	}
	text, quoted := asText(raw)
	if !quoted {
		text = string(raw)
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, a.wrong(name, "true or false", raw)
}

// Object returns an object as compact JSON, nil if none is given. An object nested
// more than 100 levels deep is refused, because some clients close the connection
// when a result has a few hundred levels.
func (a Args) Object(name string) (json.RawMessage, error) {
	raw, given := a.get(name)
	if !given {
		return nil, nil
	}
	if err := a.portable(name, raw); err != nil {
		return nil, err
	}
	object, ok := unwrap(raw, '{')
	if !ok {
		return nil, a.wrong(name, "an object", raw)
	}
	if err := a.portable(name, object); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, object); err != nil {
		return nil, a.wrong(name, "an object", raw)
	}
	return b.Bytes(), nil
}

// List returns the elements of a list, and whether it was given.
func (a Args) List(name string) (elements []json.RawMessage, given bool, err error) {
	raw, given := a.get(name)
	if !given {
		return nil, false, nil
	}
	list, ok := unwrap(raw, '[')
	if !ok || json.Unmarshal(list, &elements) != nil {
		return nil, true, a.wrong(name, "a list", raw)
	}
	return elements, true, a.portable(name, raw)
}

// Texts returns a list of strings, and whether it was given.
func (a Args) Texts(name string) (texts []string, given bool, err error) {
	elements, given, err := a.List(name)
	if err != nil {
		return nil, given, err
	}
	for i, raw := range elements {
		text, ok := asText(raw)
		if !ok {
			return nil, true, a.wrong(fmt.Sprintf("%s[%d]", name, i), "a string", raw)
		}
		if err := a.portable(fmt.Sprintf("%s[%d]", name, i), raw); err != nil {
			return nil, true, err
		}
		texts = append(texts, text)
	}
	return texts, given, nil
}

func (a Args) get(name string) (json.RawMessage, bool) {
	raw := bytes.TrimSpace(a.values[name])
	return raw, !isNull(raw)
}

// portable refuses a value with text that could not be stored unchanged, or nested
// too deep for many readers.
func (a Args) portable(name string, raw json.RawMessage) error {
	at, err := wire.Portable(raw)
	if err == nil {
		return nil
	}
	if at != "" && at[0] != '[' {
		at = "." + at
	}
	return topic.Invalid(a.prefix+name+at, "%v", err)
}

func (a Args) wrong(name, want string, got json.RawMessage) error {
	return topic.Invalid(a.prefix+name, "must be %s, not %s", want, describe(got))
}
