package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/wire"
)

// Schema returns the input schema of a tool that takes the arguments, whose descriptions
// name the limits. It has no unions and no references, because some clients reject them,
// and allows unknown arguments, because [Read] only warns of them.
func Schema(a Arguments, l topic.Limits) *jsonschema.Schema {
	t := reflect.TypeOf(a).Elem()
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {Type: "object"}},
	})
	if err != nil {
		panic("agent-bus: schema: " + err.Error())
	}
	complete(s, t, strings.NewReplacer("QUESTION_CHARS", strconv.Itoa(l.QuestionChars), "ANSWER_CHARS", strconv.Itoa(l.AnswerChars),
		"BATCH", strconv.Itoa(l.Batch), "MAX_WAIT", strconv.Itoa(MaxWaitSeconds)))
	return s
}

// complete adds to the schema what the tags default and choices say.
func complete(s *jsonschema.Schema, t reflect.Type, limits *strings.Replacer) {
	s.AdditionalProperties = nil
	if s.Properties == nil { // of no arguments
		s.Properties = map[string]*jsonschema.Schema{}
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if len(p.Types) > 0 { // that or null
			p.Type, p.Types = p.Types[1], nil
		}
		p.Description = limits.Replace(p.Description)
		if d := f.Tag.Get("default"); d != "" {
			p.Default = json.RawMessage(d)
		}
		for choice := range strings.FieldsSeq(f.Tag.Get("choices")) {
			p.Enum = append(p.Enum, choice)
		}
		if p.Items != nil && f.Type.Elem().Kind() == reflect.Struct {
			complete(p.Items, f.Type.Elem(), limits)
		}
	}
}

// Read reads the arguments of a call, which the schema is of, into a: an object, or null or
// nothing for none. It accepts what agents often send instead of what they mean:
//
//   - null is the same as leaving the argument out,
//   - an integer may be 60, 60.0 or "60", a boolean true or "true",
//   - a list or an object may be its JSON text in a string.
//
// A value of another type is INVALID_ARGUMENT, and so is a required text that is missing or
// blank; then a has the arguments before the first wrong one. Text that could not be stored
// unchanged is refused. Names are compared exactly. The warnings are about unknown arguments.
func Read(raw json.RawMessage, s *jsonschema.Schema, a Arguments) ([]Warning, error) {
	var r reader
	object, ok := unwrap(raw, '{')
	if !ok && !isNull(raw) {
		return nil, topic.Invalid("arguments", "must be an object, not %s", describe(raw))
	}
	read, err := r.members(s, object, "", "")
	if bad := json.Unmarshal(read, a); bad != nil && err == nil {
		err = topic.Invalid("arguments", "cannot be read: %v", bad)
	}
	return r.unknown, err
}

// A reader turns what an agent has sent into JSON that the schema describes.
type reader struct{ unknown []Warning }

// members returns the members of an object in their order, up to the first wrong one. In
// messages their names begin with at, and in warnings with of.
func (r *reader) members(s *jsonschema.Schema, object json.RawMessage, at, of string) (read json.RawMessage, err error) {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(object, &given) // it is valid, or there is none
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return isNull(v) })
	read = append(read, '{')
	for _, name := range s.PropertyOrder {
		p, v := s.Properties[name], given[name]
		switch required := p.Type == "string" && slices.Contains(s.Required, name); {
		case err != nil:
		case v != nil:
			v, err = r.value(p, v, at+name)
			if text, _ := asText(v); err == nil && required && isBlank(text) {
				err = topic.Invalid(at+name, "must not be blank")
			}
		case required:
			err = topic.Invalid(at+name, "is required")
		default:
			v = p.Default
		}
		delete(given, name)
		if err == nil && v != nil {
			read = append(append(append(wire.AppendString(read, name), ':'), v...), ',')
		}
	}
	for _, w := range unknownArguments(of, given, s.PropertyOrder) {
		if !slices.ContainsFunc(r.unknown, func(known Warning) bool { return known.Message == w.Message }) {
			r.unknown = append(r.unknown, w)
		}
	}
	return append(bytes.TrimSuffix(read, []byte(",")), '}'), err
}

// value returns the value of the argument at. An object without properties in the schema stays
// as it is.
func (r *reader) value(s *jsonschema.Schema, raw json.RawMessage, at string) (json.RawMessage, error) {
	if err := portable(at, raw); err != nil {
		return nil, err
	}
	text, quoted := asText(raw)
	want := "a string"
	switch s.Type {
	case "string":
		if quoted && (s.Enum == nil || slices.Contains(s.Enum, any(text))) {
			return raw, nil
		}
		if s.Enum != nil {
			want = "one of " + strings.ReplaceAll(strings.Trim(fmt.Sprint(s.Enum), "[]"), " ", ", ")
		}
	case "integer":
		if n, ok := asInteger(raw); ok {
			return json.RawMessage(strconv.Itoa(n)), nil
		}
		want = "an integer"
	case "boolean":
		if !quoted {
			text = string(raw)
		}
		if text = strings.ToLower(strings.TrimSpace(text)); text == "true" || text == "false" {
			return json.RawMessage(text), nil
		}
		want = "true or false"
	case "array":
		var elements []json.RawMessage
		if list, ok := unwrap(raw, '['); ok && json.Unmarshal(list, &elements) == nil {
			for i, e := range elements {
				v, err := r.value(s.Items, e, fmt.Sprintf("%s[%d]", at, i))
				if err != nil {
					return nil, err
				}
				elements[i] = v
			}
			return json.Marshal(elements)
		}
		want = "a list"
	case "object":
		object, ok := unwrap(raw, '{')
		if i := strings.IndexByte(at, '['); ok && s.Properties != nil {
			return r.members(s, object, at+".", at[:i]+"[].")
		}
		var b bytes.Buffer
		if ok && json.Compact(&b, object) == nil {
			return b.Bytes(), portable(at, object)
		}
		want = "an object"
	}
	return nil, topic.Invalid(at, "must be %s, not %s", want, describe(raw))
}

// portable refuses a value with text that could not be stored unchanged, or nested too deep
// for many readers.
func portable(argument string, raw json.RawMessage) error {
	at, err := wire.Portable(raw)
	if err == nil {
		return nil
	}
	if at != "" && at[0] != '[' {
		at = "." + at
	}
	return topic.Invalid(argument+at, "%v", err)
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// isBlank reports whether a text has nothing but white space.
func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// unwrap returns raw, or the JSON in raw if raw is a string. It reports whether that
// is valid and starts with the character start.
func unwrap(raw json.RawMessage, start byte) (json.RawMessage, bool) {
	if text, ok := asText(raw); ok {
		raw = json.RawMessage(text)
	}
	raw = bytes.TrimSpace(raw)
	return raw, len(raw) > 0 && raw[0] == start && json.Valid(raw)
}

func asText(raw json.RawMessage) (text string, ok bool) {
	raw = bytes.TrimSpace(raw)
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	return text, ok
}

func asInteger(raw json.RawMessage) (int, bool) {
	literal := string(raw)
	if text, ok := asText(raw); ok {
		literal = strings.TrimSpace(text)
	}
	if n, err := strconv.Atoi(literal); err == nil {
		return n, true
	}
	var f float64
	err := json.Unmarshal([]byte(literal), &f) // ParseFloat also reads inf, nan and 0x1p4
	return int(f), err == nil && literal != "null" && f == math.Trunc(f) && math.Abs(f) <= math.MaxInt32
}

// describe names a value for a message: a scalar by its JSON, cut if it is long.
func describe(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return "nothing"
	case raw[0] == '[':
		return "a list"
	case raw[0] == '{':
		return "an object"
	}
	return topic.Clip(string(raw))
}
