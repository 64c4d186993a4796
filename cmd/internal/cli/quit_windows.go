package cli

import "os"

// quit ends the process with status.
func quit(_ *Env, status int) { os.Exit(status) }
