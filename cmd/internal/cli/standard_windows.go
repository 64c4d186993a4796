package cli

import "os"

// duplicate returns file: there is no SIGPIPE.
func duplicate(file *os.File) *os.File { return file }
