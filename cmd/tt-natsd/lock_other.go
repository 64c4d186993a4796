//go:build !unix

package main

import (
	"errors"
	"os"
)

// tryLock does nothing: two servers on one store are noticed on Unix only.
func tryLock(*os.File) error { return nil }

func freeSpace(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
