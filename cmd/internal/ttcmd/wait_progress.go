package ttcmd

import (
	"fmt"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
)

// redrawEvery is how often the line of a wait is drawn again, so that its times go on.
const redrawEvery = time.Second

// A waitProgress is a line on a terminal that says who holds the stick and for how long,
// for as long as a wait lasts. The zero value shows nothing yet.
type waitProgress struct {
	results chan turn.WaitResult // of the last look; nil before the first
	done    chan struct{}
}

// show begins to show the line, or changes it. A terminal that cannot redraw a line gets
// only the first.
func (p *waitProgress) show(c *cli.Invocation, res turn.WaitResult) {
	if p.shown() {
		select {
		case <-p.results: // not drawn yet
		default:
		}
		p.results <- res
		return
	}
	p.results, p.done = make(chan turn.WaitResult, 1), make(chan struct{})
	began := c.Env.Now()
	if !c.Out.ShowsStatus() {
		c.Out.Remark(cli.Line(waitingWords(res, began, began)))
	}
	tick := time.NewTicker(redrawEvery)
	go func() {
		defer close(p.done)
		defer tick.Stop()
		p.run(c, res, began, tick.C)
	}()
}

// run draws the line until there are no more results, and clears it.
func (p *waitProgress) run(c *cli.Invocation, res turn.WaitResult, began time.Time, tick <-chan time.Time) {
	draw := c.Out.Status
	if !c.Out.ShowsStatus() {
		draw = func(string) {}
	}
	for more := true; more; {
		draw(waitingWords(res, began, c.Env.Now()))
		select {
		case <-tick:
		case next, ok := <-p.results:
			if more = ok; ok {
				res = next
			}
		}
	}
	draw("")
}

func (p *waitProgress) shown() bool { return p.results != nil }

// end clears the line. It may be called again.
func (p *waitProgress) end() {
	if !p.shown() {
		return
	}
	close(p.results)
	<-p.done
	*p = waitProgress{}
}

// waitingWords says what a wait waits for, and since when.
func waitingWords(r turn.WaitResult, began, now time.Time) string {
	text := "Waiting"
	if waited := now.Sub(began); waited >= redrawEvery {
		text += " for " + cli.Elapsed(waited)
	}
	left := func(end time.Time) string { return cli.Elapsed(end.Sub(now)) }
	switch {
	case r.CurrentOwner != "":
		text += fmt.Sprintf(": %s holds turn %d", r.CurrentOwner, r.TurnID)
		if held := now.Sub(r.OwnerSince.Time); held >= 0 && !r.OwnerSince.IsZero() {
			text += " for " + cli.Elapsed(held)
		}
	case r.ReservedFor != "":
		text += ": the turn is reserved for " + r.ReservedFor
		if r.ClaimExpiresAt != nil {
			text += ", " + left(r.ClaimExpiresAt.Time) + " left to claim it"
		}
	default:
		text += ": the turn is kept for other members for a moment"
	}
	return text + "."
}
