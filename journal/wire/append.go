package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// AppendRaw appends a JSON value without the white space between its tokens. If raw is
// not JSON, it is appended as a string. Bytes that are not UTF-8 become U+FFFD.
func AppendRaw(b []byte, raw json.RawMessage) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !Valid(raw) {
		return AppendString(b, string(raw))
	}
	return appendCompact(b, raw)
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD, and
// nothing is escaped for HTML.
func AppendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			b = appendEscape(append(b, s[done:i]...), c)
			done = i + 1
		}
	}
	return append(append(b, s[done:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// appendCompact appends valid JSON without the white space between its tokens.
func appendCompact(b, raw []byte) []byte {
	inString := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			b = append(b, c)
			i++
		case c == '"':
			inString = !inString
		case !inString && isSpace(c):
			continue
		}
		b = append(b, raw[i])
	}
	return b
}
