//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command tt-nats is tt for rooms that several hosts share by NATS JetStream. The command
// tt becomes it where an engine is configured.
package main

import (
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/hosts/shared"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream"
	"github.com/talking-stick/tt/fsroom/engine"
)

// The linker sets these.
var version, commit, installer string

func main() {
	ttcmd.Main(ttcmd.Build{Version: version, Commit: commit, Installer: installer, Sharing: shared.With(open)})
}

func open(s *hosts.Service) (engine.Engine, error) {
	return jetstream.Open(s.URL, jetstream.Credentials{Creds: s.Creds, NKey: s.NKey, CA: s.CA})
}
