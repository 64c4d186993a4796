package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// The console of one host shows what an agent does on another, and its keys reach that
// agent. While the engine is away it shows what it knew.
func TestTerminalFollowsOtherHosts(t *testing.T) {
	t.Parallel()
	if os.Getenv("TT_UI_DIR") == "" {
		t.Skip("TT_UI_DIR is not set; make test-ui sets it")
	}
	server := natstest.Start(t)
	s := newStageWith(t, server.Namespace(t))
	other := *s
	other.home = filepath.Join(s.home, "other")
	s.must(os.MkdirAll(filepath.Join(other.home, "src/payments"), 0o755), os.WriteFile(filepath.Join(other.home, "src/payments/go.mod"), nil, 0o644))

	s.start("tt console --agent human:alex")
	s.shows("tt wait")
	other.tt("wait --agent codex:1") // this host has never heard of the room
	s.shows("codex:1")
	s.keys("Enter")
	s.shows("Stick codex:1")
	other.tt("join --agent claude:1")
	s.shows("claude:1")
	other.tt("msg send room hello --agent codex:1")
	s.shows("hello")
	s.keys("m")
	s.shows("message to the room")
	s.text("from the console")
	s.keys("Enter")
	s.shows("human:alex → all: from the console")
	s.until("the message on the other host", func() bool {
		return strings.Contains(other.tt("events --json --event message_sent --agent codex:1"), "from the console")
	})

	server.Kill()
	s.shows("the engine cannot be reached")
	s.shows("hello")
	server.Restart(t)
	s.until("the engine again", func() bool { return !strings.Contains(s.screen(), "the engine cannot be reached") })
	other.tt("msg send room again --agent codex:1")
	s.shows("again")
	s.keys("q")
	other.tt("leave --agent claude:1")
}
