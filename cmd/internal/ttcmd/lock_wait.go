package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/lockfile/queue"
)

// sayAgain is how often a wait that does not change is reported.
const sayAgain = 30 * time.Second

// A lockWait waits for a lock and reports it on standard error.
type lockWait struct {
	call  *cli.Invocation
	locks *locks.Locks
	id    locks.ID
	began time.Time

	last   lockProgress // as it was seen last
	said   string       // what the last line was about
	saidAt time.Time
}

// A lockProgress is how a wait stands.
type lockProgress struct {
	Lock     string            `json:"lock"`
	Status   string            `json:"status"` // waiting, held
	Ahead    *int              `json:"ahead,omitempty"`
	Holder   *locks.TicketView `json:"holder,omitempty"`
	WaitedMS *int64            `json:"waited_ms,omitempty"`
}

// acquire waits for the lock. Its errors say that the command was not run.
func (w *lockWait) acquire(ctx context.Context, t *queue.Ticket) (*queue.Hold, error) {
	q, err := w.locks.Queue(w.id)
	if err != nil {
		return nil, notRun(err)
	}
	patience := time.Duration(-1)
	if w.call.Given("timeout") {
		patience = w.call.Duration("timeout")
	}
	hold, err := q.Acquire(ctx, t, queue.Options{
		Patience: patience,
		Look:     func(me *queue.Ticket, others []*queue.Entry) error { return w.look(me, others, patience) },
	})
	if err != nil {
		return nil, w.refused(err, q.Dir, patience)
	}
	if w.said != "" {
		waited := time.Since(w.began).Milliseconds()
		w.print(lockProgress{Lock: w.id.Name, Status: "held", WaitedMS: &waited},
			fmt.Sprintf("lock %s is yours after %s", w.id.Name, cli.Duration(time.Since(w.began).Round(100*time.Millisecond))))
	}
	return hold, nil
}

// refused explains the error of a wait for the lock, whose tickets are in dir.
func (w *lockWait) refused(err error, dir string, patience time.Duration) error {
	stuck := (*lockfile.BusyError)(nil) // the mutex of the queue
	switch {
	case errors.As(err, &stuck):
		return cli.Fail(statusLockBusy, w.busy(max(patience, stuck.Waited.Round(time.Second)), stuck))
	case errors.Is(err, queue.ErrTimeout):
		return cli.Fail(statusLockBusy, w.busy(patience, nil))
	case errors.Is(err, queue.ErrNoNumber):
		return notRun(code.New(code.CorruptRoom, "a process has the last ticket number of the lock: %v", err).
			WithHint("tickets count up from 1, so another program has made that file; move it away").With("path", dir).Because(err))
	case errors.Is(err, queue.ErrTicketLost):
		return notRun(code.New(code.DataDirUnusable, "another program has removed the ticket of this process in %s", dir).Because(err).
			WithHint("leave the directory alone while locks are used, and run the command again"))
	}
	return notRun(w.locks.Store.Explain(err, dir))
}

// look reports the progress, and refuses a wait that would never end.
func (w *lockWait) look(me *queue.Ticket, others []*queue.Entry, patience time.Duration) error {
	if by, circle := w.locks.Circle(w.id, me, others); circle {
		e := code.New(code.LockCycle, "waiting for lock %s would never end: those before it wait for lock %s, which this "+
			"command has", w.id.Name, by.Name)
		if by == w.id {
			e = code.New(code.LockCycle, "waiting for lock %s would never end: this command runs under it already", w.id.Name)
		}
		return e.With("lock", w.id.Name).With("held", by.Name).WithHint("take several locks in the same order everywhere; an " +
			"exclusive lock inside of a shared one is not had")
	}
	ahead := 0
	p := lockProgress{Ahead: &ahead}
	for _, b := range queue.Blockers(me, others) {
		switch {
		case b.State == queue.Waiting:
			ahead++
		case p.Holder == nil:
			p.Holder = locks.ViewOf(b)
		}
	}
	if patience == 0 {
		w.last = p
		return nil
	}
	w.say(p.about(), p)
	return nil
}

// about identifies what a line says: the number of processes ahead, and the holder. Two
// lines that say the same are printed at most once in a while.
func (p lockProgress) about() string {
	about := fmt.Sprint(*p.Ahead)
	if p.Holder != nil {
		about += fmt.Sprint(" ", p.Holder.Ticket, p.Holder.Process)
	}
	return about
}

// say prints a line if it is about something new, or the last one is old.
func (w *lockWait) say(about string, p lockProgress) {
	p.Lock, p.Status = w.id.Name, string(queue.Waiting)
	w.last = p
	now := w.call.Env.Now()
	if w.said == about && now.Sub(w.saidAt) < sayAgain {
		return
	}
	w.said, w.saidAt = about, now
	text := "waits for lock " + w.id.Name
	if why := p.words(now); why != "" {
		text += ": " + why
	}
	w.print(p, text)
}

// words says what a wait waits for.
func (p lockProgress) words(now time.Time) string {
	var parts []string
	if p.Holder != nil {
		parts = append(parts, holderWords(p.Holder, now))
	}
	if p.Ahead != nil && *p.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("%d before you", *p.Ahead))
	}
	return strings.Join(parts, "; ")
}

// print prints a line, unless its reader would have to be waited for.
func (w *lockWait) print(p lockProgress, text string) {
	if !w.call.Out.CanRemarkNow() {
		return
	}
	line := w.call.Program.Name + ": " + cli.Line(text) + "\n"
	if w.call.JSON {
		line = cli.JSONLine(p) + "\n"
	}
	_, _ = io.WriteString(w.call.Env.Stderr, line)
}

// busy is the error of a wait that has lasted too long. stuck is set if the queue itself was waited for.
func (w *lockWait) busy(patience time.Duration, stuck *lockfile.BusyError) error {
	e := code.New(code.LockBusy, "lock %s was not to be had in %s", w.id.Name, cli.Duration(patience)).
		With("lock", w.id.Name).With("waited_ms", time.Since(w.began).Milliseconds())
	why, stopped := w.last.words(w.call.Env.Now()), 0
	if h := w.last.Holder; h != nil {
		e.With("holder", h)
		if h.Process == string(queue.Stopped) {
			stopped = h.PID
		}
	}
	if stuck != nil {
		why = "its queue is locked"
		if h := stuck.Holder; h != nil {
			why += " by " + h.String()
			if h.State == "stopped" {
				stopped = h.PID
			}
		}
	}
	if why != "" {
		e.Message += ": " + why
	}
	hint := "tt lock list"
	if stopped != 0 {
		hint += fmt.Sprintf("; a stopped holder: kill -CONT %d", stopped)
	}
	if w.last.Ahead != nil {
		e.With("ahead", *w.last.Ahead)
	}
	return e.WithHint("%s", hint)
}
