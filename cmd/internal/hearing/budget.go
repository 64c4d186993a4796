package hearing

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// MostWakes is how often an agent is woken within WakesSpan for messages of other agents, and as
// often for turns that they release without naming it as the next. Further news waits, so that
// agents that answer each other do not go on for ever.
const (
	MostWakes = 6
	WakesSpan = 10 * time.Minute
)

// WakeBudget is the environment variable that replaces both, as in "6/10m".
const WakeBudget = "TALKING_STICK_WAKE_BUDGET"

// A Budget says how often an agent was woken lately, and whether it may be again. There is one for
// messages and one for turns.
type Budget struct {
	Lately []int64    `json:"lately,omitempty"` // the times, in Unix seconds, at which it was woken
	Until  event.Time `json:"from,omitzero"`    // it is not woken before; zero: it may be
}

// Left returns how long it is until the agent may be woken again, 0 if it may be now.
func (b *Budget) Left(now time.Time) time.Duration {
	if b.Until.IsZero() {
		return 0
	}
	return max(0, b.Until.Sub(now))
}

// Spend records that the agent is woken. What the environment says counts in the process that
// wakes the agent, so that all others know the same.
func (b *Budget) Spend(now time.Time) {
	most, span, err := readBudget(os.Getenv(WakeBudget))
	if err != nil {
		most, span = MostWakes, WakesSpan
	}
	b.Lately = slices.DeleteFunc(b.Lately, func(at int64) bool { return now.Sub(time.Unix(at, 0)) >= span })
	b.Lately, b.Until = append(b.Lately, now.Unix()), event.Time{}
	if n := len(b.Lately); n >= most {
		b.Until = event.NewTime(time.Unix(b.Lately[n-most], 0).Add(span))
	}
}

// CheckBudget returns an error if the environment has a budget that cannot be read.
func CheckBudget() error {
	_, _, err := readBudget(os.Getenv(WakeBudget))
	return err
}

func readBudget(text string) (most int, span time.Duration, err error) {
	if text == "" {
		return MostWakes, WakesSpan, nil
	}
	times, within, _ := strings.Cut(text, "/")
	most, err = strconv.Atoi(times)
	if err == nil {
		span, err = time.ParseDuration(within)
	}
	if err != nil || most < 1 || span <= 0 {
		return 0, 0, code.New(code.Usage, "%s=%s is no budget", WakeBudget, text).WithHint("such as %d/%s: six times in ten minutes", MostWakes, "10m")
	}
	return most, span, nil
}
