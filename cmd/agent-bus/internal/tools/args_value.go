package tools

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/fsroom/topic"
)

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// unwrap returns raw, or the JSON in raw if raw is a string. It reports whether that
// is valid and starts with the character start.
func unwrap(raw json.RawMessage, start byte) (json.RawMessage, bool) {
	if text, ok := asText(raw); ok {
		raw = json.RawMessage(text)
	}
	raw = bytes.TrimSpace(raw)
	return raw, len(raw) > 0 && raw[0] == start && json.Valid(raw)
}

// isBlank reports whether a text has nothing but white space.
func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// members returns the members of a valid object.
func members(object json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return nil
	}
	return m
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
	if !json.Valid([]byte(literal)) { // ParseFloat also reads inf, nan and 0x1p4
		return 0, false
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
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
