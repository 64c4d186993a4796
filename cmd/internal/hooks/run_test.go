package hooks

import (
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/identity/harness"
)

// A kind that nothing handles would be silent for ever.
func TestEveryKindIsHandled(t *testing.T) {
	for _, kind := range harness.Kinds() {
		if h := (&run{call: payload.Call{Kind: kind}}); h.handler() == nil {
			t.Errorf("nothing handles a hook of the kind %q: add a case to handler", kind)
		}
	}
	if h := (&run{call: payload.Call{Kind: "unknown"}}); h.handler() != nil {
		t.Error("an unknown kind has a handler")
	}
}
