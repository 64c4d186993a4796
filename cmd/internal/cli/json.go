package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/talking-stick/tt/journal/wire"
)

// marshal returns v as one JSON document and a newline, see [wire.Append]. The characters <, >
// and & are not escaped, and all characters that a terminal would act on are.
func marshal(v any, indented bool) []byte {
	document := wire.Append(nil, v)
	if indented {
		var b bytes.Buffer
		_ = json.Indent(&b, document, "", "  ") // it is valid
		document = b.Bytes()
	}
	return EscapeJSON(append(document, '\n'))
}

// EscapeJSON writes the characters that must not reach a terminal as \u and their code
// in hexadecimal. In valid JSON they stand only inside strings, where this form
// means the same. Package encoding/json does it only for characters below the space.
func EscapeJSON(document []byte) []byte {
	if !slices.ContainsFunc(document, func(b byte) bool { return b >= 0x7f }) {
		return document
	}
	escaped := make([]byte, 0, len(document)+64)
	for len(document) > 0 {
		r, size := utf8.DecodeRune(document)
		switch {
		case r == '\n' || visible(r):
			escaped = append(escaped, document[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
		document = document[size:]
	}
	return escaped
}
