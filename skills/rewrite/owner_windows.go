package rewrite

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file takes its rights from its directory.
func keepOwner(*os.File, fs.FileInfo) {}
