package cli

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTakesAtOnce: a pipe with room takes a short result, never a long one, and
// nothing once it is full.
func TestTakesAtOnce(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if !takesAtOnce(w, 100) {
		t.Error("an empty pipe takes nothing")
	}
	if takesAtOnce(w, 1<<20) {
		t.Error("it takes more than it holds")
	}
	fd := int(w.Fd()) // once: asking for it makes it block again
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = unix.Write(fd, block)
	}
	if err != unix.EAGAIN {
		t.Fatal(err)
	}
	if takesAtOnce(w, 1) {
		t.Error("a full pipe takes more")
	}
	if takesAtOnce(new(brokenWriter), 1) {
		t.Error("it is told of what is no file")
	}
}

type brokenWriter struct{}

func (*brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }
