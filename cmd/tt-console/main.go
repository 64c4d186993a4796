// Command tt-console is the part of Talking Stick that people look at: a console in the
// terminal, and reports. tt starts it for "tt console" and "tt report"; it can also be
// started by itself. Its commands are in package consolecmd.
package main

import "github.com/talking-stick/tt/cmd/internal/consolecmd"

// The linker sets these.
var version, commit string

func main() { consolecmd.Main(version, commit) }
