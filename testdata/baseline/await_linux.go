package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// await returns when the state in dir has been replaced once.
func await(dir string) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MOVED_TO); err != nil {
		return err
	}
	fmt.Println("watching")
	events := make([]byte, 4096)
	for {
		n, err := unix.Read(fd, events)
		if err != nil && err != unix.EINTR {
			return err
		}
		if err == nil && bytes.Contains(events[:n], []byte("state\x00")) {
			break
		}
	}
	if _, err := os.ReadFile(filepath.Join(dir, "state")); err != nil {
		return err
	}
	_, err = fmt.Println("replaced")
	return err
}
