package member

import (
	"slices"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
)

// What other hosts have to know of an agent is in files that the rules of a room name: a file that
// is called otherwise there is never sent, and nothing else would tell.
func TestHostsShareTheFilesOfAnAgent(t *testing.T) {
	want := []string{seenFile, waitingFile, processesFile, leaseFile, hearing.CursorFile, hearing.File}
	if got := roomtypes.Stick().SharedFiles; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
