//go:build engines

package main

import (
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/cmd/internal/ttcmd/scripthosts"
)

func share(b *ttcmd.Build) {
	scripthosts.Choose()
	b.Sharing, b.Hear = scripthosts.Sharing(), ttcmd.Hear()
}
