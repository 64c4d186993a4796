// Command tt-console is the one that scripts run where an engine shares the rooms.
package main

import (
	"github.com/talking-stick/tt/cmd/internal/consolecmd"
	"github.com/talking-stick/tt/cmd/internal/ttcmd/scripthosts"
	"github.com/talking-stick/tt/cmd/internal/viewstore"
)

func main() {
	scripthosts.Choose()
	viewstore.Sharing = scripthosts.Sharing
	consolecmd.Main("", "")
}
