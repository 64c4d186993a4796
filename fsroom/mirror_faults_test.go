package fsroom_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// An aheadEngine is an engine whose client puts the time of its own entries an hour too
// late, as one that takes it from a host with a wrong clock.
type aheadEngine struct{ engine.Engine }

func (a aheadEngine) Append(ctx context.Context, room string, after engine.Revision, e engine.Entry, keep time.Duration) (engine.Entry, error) {
	e, err := a.Engine.Append(ctx, room, after, e, keep)
	e.At = e.At.Add(time.Hour)
	return e, err
}

func renew(t *testing.T, r *room, note string) {
	t.Helper()
	err := r.Renew(t.Context(), func(*snapshot) ([]byte, time.Duration, error) { return []byte(note), time.Hour, nil }, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// Which note is the last one is a matter of revisions. Its time is that of the engine.
func TestNotesAreOrderedByRevision(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 2, aheadEngine{e})
	h.do(0, join("a"))
	renew(t, h.room(0, fsroom.Options{}), "one")
	h.view(0)
	before, err := e.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	renew(t, h.room(1, fsroom.Options{}), "two")
	for i := range h.dirs {
		h.view(i)
		note, at := h.room(i, fsroom.Options{}).Shared().Note()
		if late := at.Sub(before.Now); string(note) != "two" || late < -time.Second || late > time.Minute {
			t.Errorf("host %d has the note %q, %v after it was made", i, note, late)
		}
	}
}

// A mirror that has lost lines, and whose files cannot be replaced, is an error.
func TestMirrorThatCannotStartOver(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 1, inMemory(t))
	h.do(0, join("a"), say("a", "one"), say("a", "two"))
	r := h.room(0, fsroom.Options{})
	truncate(t, r, -200)
	remove(t, r.StatePath())
	remove(t, r.TempDir())
	write(t, r.TempDir(), "a file in its place")
	if _, err := r.View(); err == nil {
		t.Error("it is shown")
	}
}

// A beheaded engine has lost the first change of each room.
type beheaded struct{ engine.Engine }

func (b beheaded) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	first := from == 0
	return b.Engine.Read(ctx, room, from, func(e engine.Entry) error {
		if first {
			first = false
			return nil
		}
		return fn(e)
	})
}

func TestEngineWithoutTheBeginning(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 2, e)
	h.do(0, join("a"), say("a", "one"))
	h.engine = beheaded{e}
	if _, err := h.room(1, fsroom.Options{}).View(); !hasCode(err, code.EngineRewound) {
		t.Errorf("View: %v", err)
	}
}

// afterRead calls then once, after a Read.
type afterRead struct {
	engine.Engine
	then func()
}

func (a *afterRead) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	err := a.Engine.Read(ctx, room, from, fn)
	if then := a.then; then != nil {
		a.then = nil
		then()
	}
	return err
}

// A process that is killed after it has written lines, and before the marker, keeps nobody
// from the room who has fetched before that.
func TestDeathBeforeMarkerBesideAFetch(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]func(h *hosts){
		"a change": func(h *hosts) { h.do(1, join("b")) },
		"a look":   func(h *hosts) { h.view(1) },
	} {
		t.Run(name, func(t *testing.T) {
			mem := inMemory(t)
			h := newHosts(t, 2, mem)
			h.do(0, join("a"))
			h.view(1)
			marker := filepath.Join(h.room(1, fsroom.Options{}).Dir(), "mirror.json")
			before, err := os.ReadFile(marker)
			if err != nil {
				t.Fatal(err)
			}
			late := &afterRead{Engine: mem, then: func() {
				h.do(0, say("a", "news"))
				h.view(1)
				write(t, marker, string(before))
			}}
			command(&hosts{t: t, engine: late, dirs: h.dirs})
			h.verify()
		})
	}
}

// stopped takes the mirror's lock, as a process that is stopped while it has it.
func stopped(t *testing.T, r *room) {
	t.Helper()
	unlock, err := lockfile.Lock(t.Context(), r.LockPath())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unlock() })
}

// A process that is stopped while it has the mirror's lock keeps nobody from reading.
func TestReadersOfALockedMirror(t *testing.T) {
	t.Parallel()
	impatient := fsroom.Options{Patience: time.Millisecond}
	t.Run("before the marker was written", func(t *testing.T) {
		h := newHosts(t, 1, inMemory(t))
		h.do(0, join("a"))
		marker := filepath.Join(h.room(0, fsroom.Options{}).Dir(), "mirror.json")
		before, err := os.ReadFile(marker)
		if err != nil {
			t.Fatal(err)
		}
		h.do(0, say("a", "one"))
		write(t, marker, string(before))
		stopped(t, h.room(0, fsroom.Options{}))
		if snap, err := h.room(0, impatient).View(); err != nil || snap.State.Last != "one" {
			t.Errorf("%+v, %v", snap, err)
		}
	})
	t.Run("while another host ends the room and opens it again", func(t *testing.T) {
		h := newHosts(t, 2, inMemory(t))
		h.do(0, join("a"))
		stopped(t, h.room(0, fsroom.Options{}))
		h.do(1, leave("a"), join("b"))
		want := h.view(1)
		snap, err := h.room(0, impatient).View()
		if err != nil || snap.State.Seq != want.State.Seq || len(snap.State.In) != 1 || snap.State.In[0] != "b" {
			t.Errorf("%+v, %v, want %+v", snap, err, want)
		}
	})
	t.Run("while another host renews a lease", func(t *testing.T) {
		h := newHosts(t, 2, inMemory(t))
		h.do(0, join("a"))
		stopped(t, h.room(0, fsroom.Options{}))
		renew(t, h.room(1, fsroom.Options{}), "renewed")
		r := h.room(0, impatient)
		if _, err := r.View(); err != nil {
			t.Error(err)
		}
		if note, at := r.Shared().Note(); string(note) != "renewed" || at.IsZero() {
			t.Errorf("the note is %q of %v", note, at)
		}
	})
}

// A process that was stopped a while ago while it kept the mirror up to date keeps no other wait from
// its turn.
func TestWaitBesideAStoppedPuller(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	h.view(1)
	var minutes atomic.Int64 // pass with each look at the clock
	later := func() time.Time { return time.Now().Add(time.Duration(minutes.Add(1)) * time.Minute) }
	r := h.room(1, fsroom.Options{NoWatch: true, BlindPoll: time.Millisecond, Now: later})
	unlock, err := lockfile.Lock(t.Context(), filepath.Join(r.Dir(), "puller"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	waiting := make(chan struct{}, 1)
	done := make(chan error)
	go func() {
		looks := 0
		done <- r.Await(ctx, func(snap *snapshot) (bool, fsroom.Sleep, error) {
			if looks++; looks == 3 {
				waiting <- struct{}{}
			}
			return snap.State.Turn > 0, fsroom.Sleep{}, nil
		})
	}()
	select {
	case <-waiting:
	case <-ctx.Done():
	}
	h.do(0, turnOn("a"))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A countedEngine counts what is asked and told of agents.
type countedEngine struct {
	engine.Engine
	calls atomic.Int32
}

func (c *countedEngine) Publish(ctx context.Context, room, agent string, record []byte, keep time.Duration) error {
	c.calls.Add(1)
	return c.Engine.Publish(ctx, room, agent, record, keep)
}

func (c *countedEngine) Records(ctx context.Context, room string) (map[string]engine.Record, error) {
	c.calls.Add(1)
	return c.Engine.Records(ctx, room)
}

func (c *countedEngine) Announced(ctx context.Context, room, agent, what string) (bool, error) {
	c.calls.Add(1)
	return c.Engine.Announced(ctx, room, agent, what)
}

func (c *countedEngine) Notify(room string, agents ...string) {
	c.calls.Add(1)
	c.Engine.Notify(room, agents...)
}

// What was asked before is not asked again while the mirror is locked, and what is told then is known to others.
func TestNothingIsAskedTwiceUnderTheLock(t *testing.T) {
	t.Parallel()
	e := &countedEngine{Engine: inMemory(t)}
	h := newHosts(t, 2, e)
	h.do(0, join("a"))
	there := h.room(0, fsroom.Options{Host: "there"})
	here := h.room(1, fsroom.Options{Host: "here"})
	if err := there.Agent("a").Mark("seen", time.Now()); err != nil {
		t.Fatal(err)
	}
	release, err := there.Agent("a").Hold("seen")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if !here.Agent("a").Held("seen") {
		t.Fatal("the mark is not held")
	}
	marked := time.Now().Add(time.Minute).Truncate(time.Second)
	_, _, err = here.Update(t.Context(), func(s *tally) ([]event.Event, error) {
		before := e.calls.Load()
		held, at := here.Agent("a").Held("seen"), here.Agent("a").Marked("seen")
		if !held || at.IsZero() || e.calls.Load() != before {
			t.Errorf("held %v, marked %v, and %d calls", held, at, e.calls.Load()-before)
		}
		if err := here.Agent("b").Mark("seen", marked); err != nil {
			return nil, err
		}
		return say("a", "one")(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	if at := h.room(0, fsroom.Options{Host: "there"}).Agent("b").Marked("seen"); !at.Equal(marked) {
		t.Errorf("the other host sees the mark at %v, want %v", at, marked)
	}
}

// What is no change of the room is skipped, by hosts that know the room and by others. An event of a
// type that none knows is counted.
func TestEntriesThatAreNoChange(t *testing.T) {
	t.Parallel()
	const laterVersion = "a later version"
	line := func(h *hosts, n int) []byte {
		return bytes.SplitAfter(h.journal(0), []byte("\n"))[n]
	}
	for name, entry := range map[string]func(h *hosts) []byte{
		"garbage":      func(*hosts) []byte { return []byte("garbage") },
		"nothing":      func(*hosts) []byte { return []byte{} },
		"no event":     func(*hosts) []byte { return []byte("{}\n") },
		"no text":      func(*hosts) []byte { return []byte("\x00\xff\n\n") },
		"half a line":  func(h *hosts) []byte { return line(h, 1)[:30] },
		"a repetition": func(h *hosts) []byte { return line(h, 1) },
		"a gap": func(h *hosts) []byte {
			return bytes.Replace(line(h, 1), []byte(`"event_seq":2`), []byte(`"event_seq":9`), 1)
		},
		"a gap inside": func(h *hosts) []byte {
			return append(bytes.Replace(line(h, 1), []byte(`"event_seq":2`), []byte(`"event_seq":4`), 1), line(h, 1)...)
		},
		"another event": func(h *hosts) []byte {
			return bytes.Replace(line(h, 1), []byte(`"event_id":"`), []byte(`"event_id":"x`), 1)
		},
		laterVersion: func(h *hosts) []byte {
			b := bytes.Replace(line(h, 3), []byte(`"event_type":"said"`), []byte(`"of_a_later_version":true,"event_type":"something_later"`), 1)
			return bytes.Replace(b, []byte(`"event_seq":4`), []byte(`"event_seq":5`), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			h := newHosts(t, 4, e)
			h.do(0, join("a"), say("a", "one"), say("a", "two"))
			h.view(1)
			last := engine.Revision(0)
			if err := e.Read(t.Context(), "rooms.demo", 0, func(e engine.Entry) error { last = e.Revision; return nil }); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Append(t.Context(), "rooms.demo", last, engine.Entry{Lines: entry(h)}, 0); err != nil {
				t.Fatal(err)
			}
			seq := int64(4)
			if name == laterVersion {
				seq++
			}
			for host := range 3 {
				if s := h.view(host).State; s.Seq != seq {
					t.Errorf("host %d sees %+v", host, s)
				}
			}
			h.do(1, join("b"))
			h.do(2, say("b", "three"))
			if s := h.view(3).State; s.Seq != seq+2 {
				t.Errorf("a new host sees %+v", s)
			}
			h.verify()
		})
	}
}

// An engine that has lost changes in the middle of a room is not taken for one with an entry to
// skip.
func TestLossInTheMiddle(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 2, e)
	h.do(0, join("a"), say("a", "one"), say("a", "two"), say("a", "three"))
	h.engine = holed{e, 2}
	if _, err := h.room(1, fsroom.Options{}).View(); !hasCode(err, code.EngineRewound) {
		t.Errorf("View: %v", err)
	}
}

// A holed engine has lost the entry with a number.
type holed struct {
	engine.Engine
	lost int
}

func (h holed) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	n := 0
	return h.Engine.Read(ctx, room, from, func(e engine.Entry) error {
		if n++; n == h.lost {
			return nil
		}
		return fn(e)
	})
}

// TestStoreThatWasCopiedBack: a host that has more than the copy reads its mirror, and is told why
// its changes are refused.
func TestStoreThatWasCopiedBack(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 1, e)
	h.do(0, join("a"))
	h.engine = copiedBack{e}
	r := h.room(0, fsroom.Options{Behind: func(error) bool { return true }})
	if snap, err := r.View(); err != nil || !slices.Equal(snap.State.In, []string{"a"}) {
		t.Errorf("View: %v", err)
	}
	if _, _, err := r.Update(t.Context(), say("a", "one")); !hasCode(err, code.EngineRestored) {
		t.Errorf("Update: %v", err)
	}
}

// A copiedBack engine has less than hosts have, and cannot confirm that it has no more.
type copiedBack struct{ engine.Engine }

func (copiedBack) Read(context.Context, string, engine.Revision, func(engine.Entry) error) error {
	return &engine.BehindError{Err: code.New(code.EngineRestored, "it was copied back")}
}
