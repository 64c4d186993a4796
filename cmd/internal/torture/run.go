//go:build ignore

// Command run runs the attacks on one host, or with -hosts on several:
//
//	go run cmd/internal/torture/run.go
//
// The build leaves it out, so that "go install ./cmd/..." installs programs for users only.
package main

import "github.com/talking-stick/tt/cmd/internal/torture"

func main() { torture.Main() }
