package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/talking-stick/tt/journal/wire"
	"pgregory.net/rapid"
)

// TestEscapesAreThoseOfJSON: every escape, half of a surrogate pair and byte means what it
// means to encoding/json.
func TestEscapesAreThoseOfJSON(t *testing.T) {
	pieces := []string{
		`\n`, `\r`, `\t`, `\b`, `\f`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\uFFFD`, `\u0000`, `\ud83d`, `\uDE00`, `\ud83d\ude00`, `\ud83d\u0041`,
		"a", "é", "✓", "😀", "\xff", "\xe2\x9c", " ",
	}
	rapid.Check(t, func(t *rapid.T) {
		quoted := `"` + strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "") + `\n"`
		var want string
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			t.Fatal(err)
		}
		if got, err := wire.NewParser([]byte(quoted)).Text(); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", quoted, got, err, want)
		}
	})
}
