package payload

import (
	"bufio"
	"bytes"
	"encoding/json"
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
	var document json.RawMessage
	in := bufio.NewReader(io.LimitReader(env.Stdin, maxPayload))
	if mark, _, err := in.ReadRune(); err == nil && mark != '\ufeff' { // some begin with a byte order mark
		_ = in.UnreadRune()
	}
	if err := json.NewDecoder(in).Decode(&document); err != nil {
		return Call{}, err
	}
	env.Stdin = bytes.NewReader(document)
	return Decode(id, kind, document)
}
