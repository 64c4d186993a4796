//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command tt lets agents share a workspace by turns: one holds the stick, works,
// and hands over with a structured handoff; the next one is notified at once. Its
// commands are in package ttcmd.
package main

import "github.com/talking-stick/tt/cmd/internal/ttcmd"

// The linker sets these.
var version, commit, installer string

func main() {
	ttcmd.Main(ttcmd.Build{Version: version, Commit: commit, Installer: installer})
}
