package changes

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/lockfile"
)

// TestHookWaitsForNothing: whatever hangs, at whichever step, a hook that records before a write goes on when its time is
// over, and the next one records what it could not.
func TestHookWaitsForNothing(t *testing.T) {
	s := story{T: t, faulty: "none"}
	s.tell()
	was := BeforeLimit
	defer func() { BeforeLimit = was }()
	BeforeLimit = time.Minute
	st, tree := s.opened()
	before := func(fault func(string) error) {
		Recorder(Setting{Root: s.dir, Fault: fault})(s.as("a:1"), turn.DefaultPolicy()).Before(t.Context(), st, nil, "")
	}
	var steps []string
	s.write("a", "to see the steps")
	before(func(step string) error {
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
		return nil
	})
	if len(steps) < 4 {
		t.Fatalf("only the steps %q", steps)
	}
	for _, hangs := range steps {
		s.write("a", "before "+hangs)
		stop, hung := make(chan struct{}), make(chan struct{}, 8)
		for BeforeLimit = time.Millisecond; len(hung) == 0; BeforeLimit *= 2 { // until it gets that far
			before(func(step string) error {
				if step != hangs {
					return nil
				}
				hung <- struct{}{}
				<-stop
				return errors.New("it hung")
			})
		}
		close(stop)
		BeforeLimit = time.Minute
		before(nil)
		if all, err := tree.Ledger.Snapshots(); err != nil || all[len(all)-1].Why != ledger.WhyGuard {
			t.Errorf("after %s: %+v, %v", hangs, all[len(all)-1], err)
		}
	}
}

// TestHookWaitsForNoLock: so where another process uses the store for long, as for the first snapshot of a large tree.
func TestHookWaitsForNoLock(t *testing.T) {
	s := story{T: t, faulty: "none"}
	s.tell()
	st, tree := s.opened()
	free, err := lockfile.Lock(t.Context(), filepath.Join(tree.Ledger.Dir(), "lock"))
	s.must(err)
	was := BeforeLimit
	defer func() { BeforeLimit = was }()
	BeforeLimit = time.Millisecond
	s.write("a", "changed")
	Recorder(Setting{Root: s.dir})(s.as("a:1"), turn.DefaultPolicy()).Before(context.Background(), st, nil, "") // it returns
	s.must(free())
}

// shippedLimit is BeforeLimit before a test changes it.
var shippedLimit = BeforeLimit

// TestHookIsHeldUpHalfASecond: by the clock of a bubble, in which nothing but what hangs takes time, a hook whose
// snapshot hangs at any step goes on after 500 ms.
func TestHookIsHeldUpHalfASecond(t *testing.T) {
	s := story{T: t, faulty: "none"}
	s.tell()
	was := BeforeLimit
	defer func() { BeforeLimit = was }()
	BeforeLimit = time.Minute
	st, _ := s.opened()
	hold := func(ctx context.Context, fault func(string) error) {
		Recorder(Setting{Root: s.dir, Fault: fault})(s.as("a:1"), turn.DefaultPolicy()).Before(ctx, st, nil, "")
	}
	var steps []string
	s.write("a", "to see the steps")
	hold(t.Context(), func(step string) error { steps = append(steps, step); return nil })
	slices.Sort(steps)
	for i, hangs := range slices.Compact(steps) {
		s.write("a", strconv.Itoa(i))
		synctest.Test(t, func(t *testing.T) {
			BeforeLimit = shippedLimit
			stop, began := make(chan struct{}), time.Now()
			hold(t.Context(), func(step string) error {
				if step == hangs {
					<-stop
					return errors.New("it hung")
				}
				return nil
			})
			if took := time.Since(began); took > 500*time.Millisecond || hangs != "" && took == 0 {
				t.Errorf("at %s it was held up for %v", hangs, took)
			}
			close(stop)
			synctest.Wait()
		})
		BeforeLimit = time.Minute
		hold(t.Context(), nil)
	}
}
