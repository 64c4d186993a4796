package fsroom_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

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
	if got, want := f.asStranger("blind"), []string{"none is left: true", "await <nil>"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it took %v, which is not polling", took)
	}
}
