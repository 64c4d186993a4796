package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

var errNoSpace = fmt.Errorf("the caller's own trouble: %w", syscall.ENOSPC)

// TestErrorsHaveCodes: whatever the system says about the data directory, a user
// is told what it means and what to do.
func TestErrorsHaveCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want code.Code
	}{
		{syscall.ENOSPC, code.DiskFull},
		{syscall.EDQUOT, code.DiskFull},
		{&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, code.DiskFull},
		{&journal.AppendError{Err: syscall.ENOSPC, Undone: true}, code.DiskFull},
		{&journal.AppendError{Err: syscall.ENOSPC}, code.InDoubt},
		{&journal.AppendError{Err: syscall.EIO, Undone: true}, code.DataDirUnusable},
		{&journal.AppendError{Err: syscall.EIO}, code.InDoubt},
		{syscall.EROFS, code.DataDirUnusable},
		{syscall.EMFILE, code.DataDirUnusable},
		{syscall.ENOLCK, code.DataDirUnusable},
		{syscall.EFBIG, code.DiskFull},
		{os.ErrPermission, code.DataDirUnusable},
		{&lockfile.UnsupportedError{Dir: "/net", Type: "nfs"}, code.UnsupportedFS},
		{&lockfile.NotRegularError{Path: "lock", Mode: os.ModeDir}, code.CorruptRoom},
		{&journal.CorruptError{Path: "j", Line: 7, Problem: "blank line"}, code.CorruptRoom},
		{fmt.Errorf("wrapped: %w", &lockfile.NotRegularError{Path: "p"}), code.CorruptRoom},
		{code.New(code.RoomClosed, "closed"), code.RoomClosed},
		{fmt.Errorf("wrapped: %w", context.DeadlineExceeded), code.LockTimeout},
	}
	for _, test := range tests {
		f := newFixture(t)
		x := &fault{nth: 1, err: test.err}
		_, _, err := f.at(fsroom.Options{Fault: x.hit}).Update(context.Background(), join("a"))
		if code.Of(err) != test.want {
			t.Errorf("%v became %v, want %s", test.err, err, test.want)
		}
		if e, ok := err.(*code.Error); !ok || e.Hint == "" && test.want != code.RoomClosed {
			t.Errorf("%v has no hint", err)
		}
	}
}

// TestHintsFitTheCause: what to do about an unusable data directory depends on why.
func TestHintsFitTheCause(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{
		syscall.EMFILE:  "ulimit -n",
		syscall.ENFILE:  "ulimit -n",
		syscall.EROFS:   "read-only",
		syscall.EACCES:  "writable",
		syscall.ENOTDIR: "a file stands where a directory should be",
		syscall.EIO:     "look at the disk",
	} {
		f := newFixture(t)
		_, _, err := f.at(fsroom.Options{Fault: (&fault{nth: 1, err: cause}).hit}).Update(context.Background(), join("a"))
		var e *code.Error
		if !errors.As(err, &e) || e.Code != code.DataDirUnusable || !strings.Contains(e.Hint, want) {
			t.Errorf("%v: %v, hint %q", cause, err, e.Hint)
		}
	}
}
