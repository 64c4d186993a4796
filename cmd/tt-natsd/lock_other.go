//go:build !unix

package main

import (
	"errors"
	"os"
)

// tryLock does nothing: two servers on one store are noticed on Unix only.
func tryLock(*os.File) error { return nil }

// fileID is the same for all files: a store that was copied is noticed on Unix only.
func fileID(os.FileInfo) (device, inode uint64) { return 0, 0 }

func freeSpace(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
