//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command tt-nats is tt for rooms that several hosts share by NATS JetStream. The command
// tt becomes it where an engine is configured.
package main

import (
	"github.com/talking-stick/tt/cmd/internal/hosts/engines"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
)

// The linker sets these.
var version, commit, installer string

func main() {
	ttcmd.Main(ttcmd.Build{Version: version, Commit: commit, Installer: installer, Sharing: engines.Sharing(), Hear: ttcmd.Hear()})
}
