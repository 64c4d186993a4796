package ttcmd

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminalMain is "terminal [-interrupt TEXT] COMMAND…": runs the command on a
// terminal of its own and prints what it shows there, all of it: the terminal is
// read to its end. With -interrupt, ^C is typed when TEXT is shown for the first time.
func terminalMain() {
	flags := flag.NewFlagSet("terminal", flag.ExitOnError)
	text := flags.String("interrupt", "", "")
	_ = flags.Parse(os.Args[1:])
	args := flags.Args()
	ours, theirs, err := openTerminal()
	if err != nil {
		fail(err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	theirs.Close()
	shown := io.TeeReader(ours, os.Stdout)
	if *text != "" {
		if err := readUntil(shown, *text); err != nil {
			fail(err)
		}
		if _, err := ours.WriteString("\x03"); err != nil {
			fail(err)
		}
	}
	done := make(chan int)
	go func() { done <- statusOf(cmd) }()
	// Reading fails with EIO when nobody has the other side open any more.
	if _, err := io.Copy(io.Discard, shown); err != nil && !errors.Is(err, syscall.EIO) {
		fail(err)
	}
	os.Exit(<-done)
}

// readUntil reads until the text has come.
func readUntil(r io.Reader, text string) error {
	var got []byte
	for piece := make([]byte, 256); !bytes.Contains(got, []byte(text)); {
		n, err := r.Read(piece)
		if got = append(got, piece[:n]...); err != nil {
			return fmt.Errorf("%q was not shown: %w", text, err)
		}
	}
	return nil
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
