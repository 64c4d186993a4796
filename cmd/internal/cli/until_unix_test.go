package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestUntil: a write that its reader keeps waiting is given up when the context
// has ended, and no other is.
func TestUntil(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	out := newOutput("toy", &Env{Stdout: w, Stderr: w}, true)
	ctx, cancel := context.WithCancel(t.Context())
	out.Until(ctx)
	cancel()
	if err := out.WriteLine("short", nil); err != nil {
		t.Errorf("there is room, and still: %v", err)
	}
	long := strings.Repeat("x", 1<<20)
	if err := out.WriteLine(long, nil); !errors.Is(err, ErrReaderStalled) {
		t.Errorf("a pipe takes %d bytes: %v", len(long), err)
	}
	if out.err != nil {
		t.Errorf("it counts as a failed write: %v", out.err)
	}
	out.Remark("nobody reads this")
	out.TellNotices()
	out.tell("nobody reads this warning")
}

// TestUntilRead: a slow reader gets everything while the context lasts.
func TestUntilRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := make(chan int)
	go func() {
		b, _ := io.ReadAll(r)
		read <- len(b)
	}()
	out := newOutput("toy", &Env{Stdout: w}, true)
	out.Until(t.Context())
	if err := out.WriteLine(strings.Repeat("x", 1<<20), nil); err != nil {
		t.Error(err)
	}
	w.Close()
	if n := <-read; n != 1<<20+3 {
		t.Errorf("%d bytes", n)
	}
}
