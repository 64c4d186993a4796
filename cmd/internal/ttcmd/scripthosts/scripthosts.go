// Package scripthosts has the engines and the hosts of scripts, for the programs that they
// run and for what looks at the result.
//
// With TT_TEST_ENGINE=nats the engine is a server. With TT_TEST_HOSTS=1 each agent is on a
// host of its own, which is a data directory with its own mirrors.
package scripthosts

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/hosts/shared"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// The environment variables that say what there is.
const (
	EngineVariable = "TT_TEST_ENGINE"
	HostsVariable  = "TT_TEST_HOSTS"
)

// WithEngine reports whether an engine shares the rooms.
func WithEngine() bool { return os.Getenv(EngineVariable) != "" }

// Many reports whether each agent is on a host of its own.
func Many() bool { return WithEngine() && os.Getenv(HostsVariable) != "" }

// Sharing returns how the rooms of scripts are shared.
func Sharing() hosts.Sharing { return pathSharing{shared.With(Open)} }

// Open opens the engine of a script.
func Open(s *hosts.Service) (engine.Engine, error) {
	return jetstream.Open(s.URL, jetstream.Credentials{})
}

// A pathSharing takes the path of a workspace that has no name on other hosts for its
// name. All hosts of a script are on one machine.
type pathSharing struct{ hosts.Sharing }

func (s pathSharing) Name(root, given string) (string, error) {
	name, err := s.Sharing.Name(root, given)
	if code.Of(err) == code.NoSharedIdentity {
		return root, nil
	}
	return name, err
}

func (s pathSharing) Outer(root, home string) *workspace.Workspace {
	return shared.Outer(func(root string) (string, error) { return s.Name(root, "") }, root, home)
}

// Choose puts the agent that the command line names on a host of its own. Agents whose
// names begin with a: are on that of the script, as who is not named. What a process
// starts is on the same host.
func Choose() {
	const chosen = "TT_TEST_HOST_CHOSEN"
	data := os.Getenv("DATA")
	if !Many() || os.Getenv("TALKING_STICK_DATA_DIR") != data || os.Getenv(chosen) != "" {
		return
	}
	os.Setenv(chosen, "1")
	agent := os.Getenv("TT_HARNESS_AGENT_ID")
	for i, arg := range os.Args {
		if name, ok := strings.CutPrefix(arg, "--agent="); ok {
			agent = name
		} else if arg == "--agent" && i+1 < len(os.Args) {
			agent = os.Args[i+1]
		}
		if arg == "--" {
			break
		}
	}
	if agent != "" && !strings.HasPrefix(agent, "a:") && len(os.Args) > 1 && os.Args[1] != "lock" {
		os.Setenv("TALKING_STICK_DATA_DIR", filepath.Join(Dir(filepath.Dir(data)), fsroom.RoomName(agent)))
	}
}

// Dir returns the directory of the other hosts of the script that works in a directory.
func Dir(work string) string { return filepath.Join(work, "hosts") }
