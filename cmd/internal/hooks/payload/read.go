package payload

import (
	"bytes"
	"io"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity/harness"
)

// maxPayload bounds the payload of a harness. The payload of an edit contains the text
// that it writes.
const maxPayload = 64 << 20

// Read reads the payload of a hook, which is one JSON document, from standard input, see
// [Decode]. It does not wait for the end of the input, because a harness may keep the pipe
// open. Standard input is what was read after that.
func Read(env *cli.Env, id harness.ID, kind harness.Kind) (Call, error) {
	document, err := readDocument(io.LimitReader(env.Stdin, maxPayload))
	if err != nil {
		return Call{}, err
	}
	env.Stdin = bytes.NewReader(document)
	return Decode(id, kind, document)
}

// readDocument reads as far as a JSON object goes, or what is no object to its end.
func readDocument(r io.Reader) (document []byte, err error) {
	depth, inString, escaped := 0, false, false
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		for i, c := range chunk[:n] {
			switch {
			case escaped:
				escaped = false
			case inString:
				escaped, inString = c == '\\', c != '"'
			case c == '"':
				inString = true
			case c == '{', c == '[':
				depth++
			case c == '}', c == ']':
				if depth--; depth <= 0 {
					return append(document, chunk[:i+1]...), nil
				}
			}
		}
		document = append(document, chunk[:n]...)
		switch {
		case err == io.EOF && len(document) > 0:
			return document, nil
		case err != nil:
			return nil, err
		}
	}
}
