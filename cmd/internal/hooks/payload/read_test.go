package payload

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity/harness"
)

// TestRead: a harness may keep the pipe open behind its document.
func TestRead(t *testing.T) {
	read := func(r io.Reader) (Call, string, error) {
		env := &cli.Env{Stdin: r}
		call, err := Read(env, harness.ClaudeCode, harness.KindStop)
		again, _ := io.ReadAll(env.Stdin)
		return call, string(again), err
	}
	const document = `{"session_id":"}","b":[{"c":"\"}"}]}`
	open, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = w.Write([]byte(document)) }()
	for name, r := range map[string]io.Reader{
		"at once": strings.NewReader(" " + document + " rest"), "bytes": iotest.OneByteReader(strings.NewReader(document + "\n{")), "an open pipe": open,
		"a byte order mark": strings.NewReader("\ufeff" + document),
	} {
		if call, again, err := read(r); call.SessionID != "}" || again != document || err != nil {
			t.Errorf("%s: %+v, %q, %v", name, call, again, err)
		}
	}
	for _, in := range []string{"", `"a string`, "}", `{"cut":`} {
		if call, _, err := read(strings.NewReader(in)); err == nil {
			t.Errorf("%q gave %+v", in, call)
		}
	}
}
