package shared

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A clockEngine counts how often it is asked for its time.
type clockEngine struct {
	*memory.Engine
	asked int
	away  bool
}

func (e *clockEngine) Info(ctx context.Context) (engine.Info, error) {
	if e.asked++; e.away {
		return engine.Info{}, errors.New("away")
	}
	return e.Engine.Info(ctx)
}

// newClockEngine returns an engine whose clock is ahead of that of this machine.
func newClockEngine(t *testing.T, id string, ahead time.Duration) *clockEngine {
	e := memory.New(id, func() time.Time { return time.Now().Add(ahead) })
	t.Cleanup(func() { e.Close() })
	return &clockEngine{Engine: e}
}

// wantInstant checks the boot of an instant, and its time against that of this machine.
func wantInstant(t *testing.T, got turn.Instant, boot string, ahead time.Duration) {
	t.Helper()
	if off := time.Until(got.Wall.Time) - ahead; got.Boot != boot || off < -time.Minute || off > time.Minute {
		t.Errorf("the time is %+v, which is %v from what it should be; its boot should be %q", got, off, boot)
	}
	if strings.HasPrefix(boot, "engine:") && got.Mono != got.Wall.UnixMilli() {
		t.Errorf("%+v has two times", got)
	}
}

// The clock is that of the engine, also in the next process of this machine, and while the
// engine is away.
func TestClock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mirrors")
	e := newClockEngine(t, "one", time.Hour)
	wantInstant(t, NewClock(dir, e).Now(), "engine:one", time.Hour)
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking at the time has made a directory")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	e.asked = 0
	c := NewClock(dir, e)
	for range 3 {
		wantInstant(t, c.Now(), "engine:one", time.Hour)
	}
	wantInstant(t, NewClock(dir, e).Now(), "engine:one", time.Hour)
	wantInstant(t, NewClock(dir, nil).Now(), "engine:one", time.Hour)
	e.away = true
	wantInstant(t, NewClock(dir, e).Now(), "engine:one", time.Hour)
	if e.asked != 1 {
		t.Errorf("the engine was asked %d times", e.asked)
	}
}

// A comparison that is older than ten minutes is made again, and another engine at the
// address replaces the one before.
func TestClockIsComparedAgain(t *testing.T) {
	dir := t.TempDir()
	c := NewClock(dir, newClockEngine(t, "one", time.Hour))
	c.Now()
	other := newClockEngine(t, "two", -time.Hour)
	c = NewClock(dir, other)
	wantInstant(t, c.Now(), "engine:one", time.Hour)
	c.last.Uptime -= clockFresh.Milliseconds() + 1
	wantInstant(t, c.Now(), "engine:two", -time.Hour)
	wantInstant(t, NewClock(dir, nil).Now(), "engine:two", -time.Hour)
	c.last.Uptime -= clockFresh.Milliseconds() + 1
	other.away = true
	if c.Now(); other.asked != 1 {
		t.Errorf("asked %d times within moments", other.asked)
	}
	c.asked = time.Now().Add(-clockRetry)
	if c.Now(); other.asked != 2 {
		t.Errorf("asked %d times, and not again after a while", other.asked)
	}
	if got := c.Now(); got.Boot != "engine:two" {
		t.Errorf("an engine that is away leaves %+v", got)
	}
}

// An engine that was never reached leaves the clock of this machine. It is not asked again
// for each look at the time.
func TestClockOfAnEngineNeverReached(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, clockFile), []byte("no reading"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newClockEngine(t, "one", time.Hour)
	e.away = true
	c := NewClock(dir, e)
	for range 5 {
		wantInstant(t, c.Now(), identity.BootID(), 0)
	}
	if e.asked != 1 {
		t.Errorf("the engine was asked %d times", e.asked)
	}
	e.away, c.asked = false, time.Time{}
	wantInstant(t, c.Now(), "engine:one", time.Hour)
}
