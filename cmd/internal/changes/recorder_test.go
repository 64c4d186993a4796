package changes

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
)

// TestPayloadIsBounded: facts that are too long for an event are left out, whichever they are.
func TestPayloadIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", turn.MaxChangePayload)
	room := &member.Room{Client: &member.Client{Store: &fsroom.Store{}}}
	c := &ledger.Changes{Head: &ledger.HeadMove{Branch: long}, Paths: []ledger.PathChange{{Path: long}}, Unsure: []string{long}, Files: 1}
	if b := (&Tree{Room: room}).payload(c); len(b) > turn.MaxChangePayload || !strings.Contains(string(b), `"more_paths":1`) {
		t.Errorf("%d bytes: %.200s", len(b), b)
	}
}
