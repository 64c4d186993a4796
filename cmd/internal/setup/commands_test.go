package setup

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

func TestHelpNamesAllHarnesses(t *testing.T) {
	if want := strings.Join(harness.Names(), ", ") + "; or git"; installArg.Usage != want {
		t.Errorf("the argument of tt install is %q, not %q", installArg.Usage, want)
	}
}
