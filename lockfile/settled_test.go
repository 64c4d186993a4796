package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"
)

func TestAFreeLockIsSettled(t *testing.T) {
	path := inTemp(t, "lock")
	check(t, Settled(past(t), path))
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking created the file: %v", err)
	}
	free(t, path)
	check(t, Settled(past(t), path))
	free(t, path) // asking keeps nothing
}

func TestATakenLockIsNotSettled(t *testing.T) {
	path := inTemp(t, "lock")
	holder := start(t, "lock", path)
	var taken *BusyError
	if err := Settled(past(t), path); !errors.As(err, &taken) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := Settled(ctx, path); !errors.As(err, &taken) {
		t.Errorf("got %v", err)
	}
	holder.end(t)
	check(t, Settled(past(t), path))
}

// Settled comes back to all when the holder lets go, and when it is killed.
func TestSettledTogether(t *testing.T) {
	path := inTemp(t, "lock")
	for name, end := range map[string]func(*process, *testing.T){"ends": (*process).end, "is killed": (*process).kill} {
		holder := start(t, "lock", path)
		asked, told := make(chan struct{}), make(chan error)
		for range 20 {
			go func() {
				asked <- struct{}{}
				told <- Settled(context.Background(), path)
			}()
		}
		for range 20 {
			<-asked
		}
		end(holder, t)
		for range 20 {
			if err := <-told; err != nil {
				t.Errorf("when the holder %s: %v", name, err)
			}
		}
		free(t, path)
	}
}

func TestALinkIsNotSettled(t *testing.T) {
	path := inTemp(t, "lock")
	check(t, os.Symlink("elsewhere", path))
	var planted *NotRegularError
	if err := Settled(past(t), path); !errors.As(err, &planted) {
		t.Errorf("got %v", err)
	}
}
