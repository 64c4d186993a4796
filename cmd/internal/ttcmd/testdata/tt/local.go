//go:build !engines

package main

import "github.com/talking-stick/tt/cmd/internal/ttcmd"

func share(*ttcmd.Build) {}
