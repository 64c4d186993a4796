//go:build ignore

// Command run runs the attacks on several hosts:
//
//	go run cmd/internal/torture/hosts/run.go
//
// The build leaves it out, so that "go install ./cmd/..." installs programs for users only.
package main

import "github.com/talking-stick/tt/cmd/internal/torture/hosts"

func main() { hosts.Main() }
