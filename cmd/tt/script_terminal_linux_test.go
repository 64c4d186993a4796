package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminalMain is "terminal COMMAND…": runs the command on a terminal of its own
// and prints what it shows there, all of it: the terminal is read to its end.
func terminalMain() {
	ours, theirs, err := openTerminal()
	if err != nil {
		fail(err)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	theirs.Close()
	// Reading fails with EIO when nobody has the other side open any more.
	if _, err := io.Copy(os.Stdout, ours); err != nil && !errors.Is(err, syscall.EIO) {
		fail(err)
	}
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

func openTerminal() (ours, theirs *os.File, err error) {
	ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return ours, theirs, err
}
