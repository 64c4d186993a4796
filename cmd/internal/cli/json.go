package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf16"

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
	return []byte(escape(string(document), "\n", func(character string) (escaped string) {
		for _, unit := range utf16.Encode([]rune(character)) {
			escaped += fmt.Sprintf(`\u%04x`, unit)
		}
		return escaped
	}))
}
