package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/fsroom"
)

func init() {
	parts["exhaust"] = waitWithoutWatchers
}

// waitWithoutWatchers takes all watchers that the user can have and then waits.
func waitWithoutWatchers(r *room, _ []string) error {
	var taken int
	var err error
	for err == nil {
		_, err = unix.InotifyInit1(unix.IN_CLOEXEC)
		taken++
	}
	if !errors.Is(err, unix.EMFILE) {
		return err
	}
	fmt.Println("taken", taken > 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	looks := 0
	err = r.Await(ctx, func(s *snapshot) (bool, fsroom.Pause, error) {
		if looks++; looks == 2 {
			_, _, err := r.Update(ctx, say("b", "hello"))
			return false, fsroom.Pause{}, err
		}
		return s.State.Last == "hello", fsroom.Pause{}, nil
	})
	fmt.Println("await", err)
	return nil
}

// TestNoWatcherLeft: then a wait polls.
func TestNoWatcherLeft(t *testing.T) {
	const path = "/proc/sys/fs/inotify/max_user_instances"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err != nil || n > 512 {
		t.Skipf("%s is %s: too many to take them all", path, b)
	}
	f := newFixture(t)
	f.populate()
	began := time.Now()
	if got, want := f.asStranger("exhaust"), []string{"taken true", "await <nil>"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it took %v, which is not polling", took)
	}
}
