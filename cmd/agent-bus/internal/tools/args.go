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
// A value of another type is INVALID_ARGUMENT. A getter that fails returns a zero
// value, and [Args.Err] the first error. Names are compared exactly.
type Args struct {
	values map[string]json.RawMessage
	prefix string // of argument names in messages: "responses[2]."
	err    error
	// Otherwise is the error of a call none of whose arguments is wrong.
	Otherwise error
}

// ParseArgs reads the arguments of a call: an object, or null or nothing for none.
func ParseArgs(raw json.RawMessage) (*Args, error) {
	if isNull(raw) {
		return &Args{}, nil
	}
	object, ok := unwrap(raw, '{')
	if !ok {
		return nil, topic.Invalid("arguments", "must be an object, not %s", describe(raw))
	}
	return &Args{values: members(object)}, nil
}

// Err returns the first error of the getters, or Otherwise.
func (a *Args) Err() error {
	if a.err == nil {
		return a.Otherwise
	}
	return a.err
}

// check makes err the error of the arguments if it is the first.
func (a *Args) check(err error) {
	if a.err == nil {
		a.err = err
	}
}

// Unknown returns a warning for each argument that is not known, in alphabetical
// order.
func (a *Args) Unknown(known []string) []Warning {
	return unknownArguments(a.prefix, a.unknown(known), known)
}

func (a *Args) unknown(known []string) []string {
	var names []string
	for name := range a.values {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	return names
}

// Given reports whether the argument was given.
func (a *Args) Given(name string) bool {
	_, given := a.get(name)
	return given
}

// Text returns a string, "" if none is given.
func (a *Args) Text(name string) string {
	raw, given := a.get(name)
	if !given {
		return ""
	}
	return a.text(name, raw)
}

func (a *Args) text(name string, raw json.RawMessage) string {
	text, ok := asText(raw)
	if !ok {
		a.wrong(name, "a string", raw)
	}
	a.checkPortable(name, raw)
	return text
}

// Required returns a string that is given and not blank.
func (a *Args) Required(name string) string {
	text := a.Text(name)
	if !a.Given(name) {
		a.check(topic.Invalid(a.prefix+name, "is required"))
	} else if isBlank(text) {
		a.check(topic.Invalid(a.prefix+name, "must not be blank"))
	}
	return text
}

// Choice returns one of the choices, the first if none is given.
func (a *Args) Choice(name string, choices ...string) string {
	raw, given := a.get(name)
	if !given {
		return choices[0]
	}
	text, ok := asText(raw)
	if !ok || !slices.Contains(choices, text) {
		a.wrong(name, "one of "+strings.Join(choices, ", "), raw)
	}
	return text
}

// Integer returns a whole number that is at least least, or defaultValue if none is
// given.
func (a *Args) Integer(name string, defaultValue, least int) int {
	raw, given := a.get(name)
	if !given {
		return defaultValue
	}
	n, ok := asInteger(raw)
	if !ok {
		a.wrong(name, "an integer", raw)
	} else if n < least {
		a.wrong(name, fmt.Sprintf("%d or more", least), raw)
	}
	return n
}

// Boolean returns a truth value, false if none is given.
func (a *Args) Boolean(name string) bool {
	raw, given := a.get(name)
	if !given {
		return false
	}
	text, quoted := asText(raw)
	if !quoted {
		text = string(raw)
	}
	text = strings.ToLower(strings.TrimSpace(text))
	if text != "true" && text != "false" {
		a.wrong(name, "true or false", raw)
	}
	return text == "true"
}

// Object returns an object as compact JSON, nil if none is given. An object nested
// more than 100 levels deep is refused, because some clients close the connection
// when a result has a few hundred levels.
func (a *Args) Object(name string) json.RawMessage {
	raw, given := a.get(name)
	if !given {
		return nil
	}
	a.checkPortable(name, raw)
	object, ok := unwrap(raw, '{')
	var b bytes.Buffer
	if !ok || json.Compact(&b, object) != nil {
		a.wrong(name, "an object", raw)
		return nil
	}
	a.checkPortable(name, object)
	return b.Bytes()
}

// List returns the elements of a list, nil if none is given.
func (a *Args) List(name string) (elements []json.RawMessage) {
	raw, given := a.get(name)
	if !given {
		return nil
	}
	list, ok := unwrap(raw, '[')
	if !ok || json.Unmarshal(list, &elements) != nil {
		a.wrong(name, "a list", raw)
	}
	a.checkPortable(name, raw)
	return elements
}

// Texts returns a list of strings, nil if none is given.
func (a *Args) Texts(name string) (texts []string) {
	for i, raw := range a.List(name) {
		texts = append(texts, a.text(fmt.Sprintf("%s[%d]", name, i), raw))
	}
	return texts
}

func (a *Args) get(name string) (json.RawMessage, bool) {
	raw := bytes.TrimSpace(a.values[name])
	return raw, !isNull(raw)
}

// checkPortable refuses a value with text that could not be stored unchanged, or
// nested too deep for many readers.
func (a *Args) checkPortable(name string, raw json.RawMessage) {
	at, err := wire.Portable(raw)
	if err == nil {
		return
	}
	if at != "" && at[0] != '[' {
		at = "." + at
	}
	a.check(topic.Invalid(a.prefix+name+at, "%v", err))
}

func (a *Args) wrong(name, want string, got json.RawMessage) {
	a.check(topic.Invalid(a.prefix+name, "must be %s, not %s", want, describe(got)))
}
