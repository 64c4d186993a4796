package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
)

// TestStoppedHolder blocks everybody for ever: it is named, with the way out.
func TestStoppedHolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the holder is known on Linux only")
	}
	f := newFixture(t)
	f.populate()
	holder := start(t, "hold", f.dir)
	holder.line()
	pid := holder.cmd.Process.Pid
	f.must(syscall.Kill(pid, syscall.SIGSTOP))
	var status syscall.WaitStatus
	for !status.Stopped() {
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		f.must(err)
	}
	_, _, err := f.at(fsroom.Options{Patience: time.Millisecond}).Update(context.Background(), say("b", "hello"))
	var e *code.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, fmt.Sprintf("kill -CONT %d", pid)) {
		t.Errorf("Update: %v, hint %q", err, e.Hint)
	}
	if found := strings.Join(f.problems(), "\n"); !strings.Contains(found, fmt.Sprintf("held by process %d", pid)) {
		t.Errorf("Check finds %q", found)
	}
	f.must(syscall.Kill(pid, syscall.SIGCONT))
	holder.done()
	f.do(say("b", "hello"))
}
