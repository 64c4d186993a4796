// Package engines opens the engines that there are. Programs that link it link their
// clients.
package engines

import (
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/hosts/shared"
	mirrored "github.com/talking-stick/tt/cmd/internal/roomtypes/sharing"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

// Sharing returns the sharing of a program that has all engines.
func Sharing() hosts.Sharing { return shared.With(open) }

// open opens an engine. It connects when it is first used.
func open(s *hosts.Service) (engine.Engine, error) {
	return jetstream.Open(s.URL, jetstream.Credentials{Creds: s.Creds, NKey: s.NKey, CA: s.CA})
}

// Options returns the options of a store of the service's rooms, and the directory of this
// host's mirrors, for a program that opens the store itself. It connects to nothing.
func Options(service *hosts.Service, dataDir string, o fsroom.Options) (string, fsroom.Options, error) {
	mirrored.Enable()
	dir, o, _, err := shared.Options(open, service, dataDir, o)
	return dir, o, err
}
