package questions

import (
	"slices"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
)

// Who has joined a topic on another host is known by a mark that the rules of a topic name.
func TestHostsShareWhoHasJoined(t *testing.T) {
	if got := roomtypes.Topics().SharedFiles; !slices.Equal(got, []string{JoinedMark}) {
		t.Errorf("%q, not %q", got, JoinedMark)
	}
}
