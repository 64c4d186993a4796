package fsroom

import (
	"os"
	"time"
)

func touch(path string, at time.Time) error { return os.Chtimes(path, at, at) }
