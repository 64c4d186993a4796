// Command baseline makes the bare system calls that a coordinator on plain files
// cannot do without, and nothing else. What tt takes is quoted as a ratio to it.
//
//	baseline noop          start and end
//	baseline read DIR      read a state of two kilobytes: a command that only looks
//	baseline commit DIR    lock, read, append and sync, replace and sync: one durable change
//	baseline await DIR     print a line when watching, and another when the state was replaced
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	eventBytes = 300  // a common line of a journal
	stateBytes = 1500 // a room with a few members
)

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "noop":
	case len(os.Args) == 3 && os.Args[1] == "read":
		_, err = os.ReadFile(filepath.Join(os.Args[2], "state"))
	case len(os.Args) == 3 && os.Args[1] == "commit":
		err = commit(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "await":
		err = await(os.Args[2])
	default:
		err = fmt.Errorf("usage: baseline noop | read DIR | commit DIR | await DIR")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "baseline:", err)
		os.Exit(1)
	}
}

func commit(dir string) error {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	state := filepath.Join(dir, "state")
	if _, err := os.ReadFile(state); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := write(filepath.Join(dir, "journal"), os.O_APPEND, eventBytes); err != nil {
		return err
	}
	next := filepath.Join(dir, "next")
	if err := write(next, os.O_TRUNC, stateBytes); err != nil {
		return err
	}
	return os.Rename(next, state)
}

func write(path string, flags, size int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(bytes.Repeat([]byte("x"), size-1), '\n')); err != nil {
		return err
	}
	return f.Sync()
}
