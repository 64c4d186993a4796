//go:build !linux

// Command torture runs on Linux only: it needs strace, loop devices and /proc.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "torture: SKIPPED: this needs Linux")
}
