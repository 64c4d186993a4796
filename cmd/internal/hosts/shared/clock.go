package shared

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

const (
	clockFile = "clock.json"
	// clockFresh is how long the clock of this machine stands for that of the engine,
	// before it is compared again.
	clockFresh = 10 * time.Minute
	// clockPatience is how long the engine is asked for its time, and clockRetry how long it
	// is not asked again if it did not answer.
	clockPatience, clockRetry = 2 * time.Second, 10 * time.Second
)

// A Clock is the clock of an engine, by which the leases of its rooms are judged. It runs
// on a clock of this machine that also counts while the machine sleeps, and is compared
// with the engine's now and then.
type Clock struct {
	dir    string        // of the mirrors
	engine engine.Engine // nil: it is not asked

	mu    sync.Mutex
	last  reading
	asked time.Time // when the engine was asked last
}

// A reading is the engine's clock at one moment of this machine's.
type reading struct {
	Engine string `json:"engine_id"` // the engine's id
	Boot   string `json:"boot_id"`   // of this machine
	Wall   int64  `json:"engine_ms"` // the engine's clock, in milliseconds since 1970
	Uptime int64  `json:"uptime_ms"` // that of this machine, see [identity.Uptime], in milliseconds
}

// NewClock returns the clock of the engine whose mirrors are in the directory. With a nil
// engine it is the clock as it was compared last.
func NewClock(dir string, e engine.Engine) *Clock { return &Clock{dir: dir, engine: e} }

// Now returns the engine's time: as it was compared last, while the engine cannot be
// reached; that of this machine, if it never was since the machine was started. A
// comparison replaces what was known, whether the engine is the same or another one at its
// address: leases of the one before are then judged by the time of day alone.
func (c *Clock) Now() turn.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	boot, up := identity.BootID(), identity.Uptime().Milliseconds()
	if c.last.Boot != boot {
		c.last = c.read()
	}
	stale := c.last.Boot != boot || up-c.last.Uptime > clockFresh.Milliseconds()
	if c.engine != nil && stale && (c.asked.IsZero() || time.Since(c.asked) > clockRetry) {
		c.compare(boot)
		c.asked = time.Now()
	}
	if c.last.Boot != boot {
		return turn.At(time.Now(), boot, identity.Monotonic())
	}
	now := c.last.Wall + identity.Uptime().Milliseconds() - c.last.Uptime
	return turn.Instant{Wall: event.NewTime(time.UnixMilli(now)), Boot: "engine:" + c.last.Engine, Mono: now}
}

func (c *Clock) path() string { return filepath.Join(c.dir, clockFile) }

func (c *Clock) read() (r reading) {
	b, err := lockfile.ReadRegular(c.path(), 1<<10)
	if err != nil || wire.Decode(b, &r) != nil {
		return reading{}
	}
	return r
}

// compare asks the engine. Its answer is of a moment in the middle of the question.
func (c *Clock) compare(boot string) {
	ctx, cancel := context.WithTimeout(context.Background(), clockPatience+engine.Slack)
	defer cancel()
	before := identity.Uptime().Milliseconds()
	info, err := c.engine.Info(ctx)
	if err != nil {
		return
	}
	after := identity.Uptime().Milliseconds()
	c.last = reading{Engine: info.ID, Boot: boot, Wall: info.Now.UnixMilli(), Uptime: (before + after) / 2}
	// Without a mirror there is no directory, and a command that only looks makes none.
	_ = lockfile.ReplaceUnsynced(c.path(), append(wire.Append(nil, &c.last), '\n'), c.dir) // it is asked again
}
