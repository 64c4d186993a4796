package cli

import "os"

// quit ends the process with status.
func quit(_ *Env, status int) { os.Exit(status) }

// duplicate returns file: there is no SIGPIPE on Windows.
func duplicate(file *os.File) *os.File { return file }

// canWrite returns false: Windows cannot tell.
func canWrite(*os.File, int) bool { return false }
