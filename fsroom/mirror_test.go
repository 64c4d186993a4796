package fsroom_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
	"github.com/talking-stick/tt/journal/event"
)

func TestHostsSeeEachOthersChanges(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 3, inMemory(t))
	h.do(0, join("a"), say("a", "one"))
	h.do(1, join("b"), turnOn("b"))
	h.do(0, say("a", "two"))
	if s := h.view(2).State; s.Turn != 1 || s.Last != "two" || !slices.Equal(s.In, []string{"a", "b"}) {
		t.Errorf("the third host sees %+v", s)
	}
	h.do(2, join("c"))
	h.do(1, leave("a"), leave("b"), leave("c"))
	if h.room(0, fsroom.Options{}).View(); h.room(0, fsroom.Options{}).Exists() {
		t.Error("a room that has ended elsewhere exists")
	}
	h.do(2, join("d"))
	if s := h.view(0).State; s.Seq != 13 || s.Turn != 1 {
		t.Errorf("the next life begins with %+v", s)
	}
	h.verify()
}

func TestRoomsOfOtherHostsAreListed(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	names, err := fsroom.Rooms(h.room(1, fsroom.Options{}).Store(), tallyRules)
	if err != nil || !slices.Equal(names, []string{"demo"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// A countingEngine counts what is asked of rooms.
type countingEngine struct {
	engine.Engine
	reads, records atomic.Int32
}

func (e *countingEngine) Records(ctx context.Context, room string) (map[string]engine.Record, error) {
	e.records.Add(1)
	return e.Engine.Records(ctx, room)
}

func (e *countingEngine) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	e.reads.Add(1)
	return e.Engine.Read(ctx, room, from, fn)
}

func TestRefreshReadsWhatHasChanged(t *testing.T) {
	t.Parallel()
	e := &countingEngine{Engine: inMemory(t)}
	const rooms = 40
	there := openStore(t, tempDir(t), fsroom.Options{Engine: e, Host: "there"})
	name := func(n int) string { return fmt.Sprint("room", n) }
	for n := range rooms {
		change(t, fsroom.At(there, tallyRules, name(n)), join("a"))
	}
	here := openStore(t, tempDir(t), fsroom.Options{Engine: e, Host: "here"})
	refreshed := func() int32 {
		t.Helper()
		e.reads.Store(0)
		if failed, err := fsroom.Refresh(context.Background(), here, tallyRules); err != nil || len(failed) > 0 {
			t.Fatalf("%v, %v", failed, err)
		}
		return e.reads.Load()
	}
	if n := refreshed(); n != rooms {
		t.Errorf("at first %d rooms were read", n)
	}
	if n := refreshed(); n != 0 {
		t.Errorf("%d rooms were read again", n)
	}
	change(t, fsroom.At(there, tallyRules, name(7)), say("a", "news"))
	change(t, fsroom.At(there, tallyRules, name(9)), leave("a"))
	if n := refreshed(); n != 2 {
		t.Errorf("%d rooms were read after two changes", n)
	}
	offline := here.Offline()
	e.reads.Store(0)
	snap, err := fsroom.At(offline, tallyRules, name(7)).View()
	if err != nil || snap.State.Last != "news" || e.reads.Load() != 0 {
		t.Errorf("the mirror has %+v, %v, %d reads", snap, err, e.reads.Load())
	}
	names, err := fsroom.Rooms(offline, tallyRules)
	if err != nil || len(names) != rooms-1 || e.reads.Load() != 0 {
		t.Errorf("%d rooms, %v, %d reads", len(names), err, e.reads.Load())
	}
	_, _, err = fsroom.At(offline, tallyRules, name(7)).Update(context.Background(), say("a", "lost"))
	if !hasCode(err, code.EngineUnreachable) {
		t.Errorf("a change that the engine does not get: %v", err)
	}
}

// A name that leads out of the directory comes from no program of ours.
func TestRoomsOfOtherHostsStayInTheirDirectory(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	for _, name := range []string{"rooms.../../../evil", "rooms...", "rooms./evil"} {
		name = tallyRules.Folder + strings.TrimPrefix(name, "rooms")
		if _, err := e.Append(context.Background(), name, 0, engine.Entry{Lines: []byte("{}\n")}, 0); err != nil {
			t.Fatal(err)
		}
	}
	h := newHosts(t, 1, e)
	h.do(0, join("a"))
	if names, err := fsroom.Rooms(h.room(0, fsroom.Options{}).Store(), tallyRules); err != nil || !slices.Equal(names, []string{"demo"}) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestOneOfManyHostsHasEachTurn(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 4, inMemory(t))
	const each = 10
	var wg sync.WaitGroup
	for i := range h.dirs {
		r := fsroom.At(openStore(t, h.dirs[i], fsroom.Options{Engine: h.engine}), tallyRules, "demo")
		who := fmt.Sprint("agent", i)
		change(t, r, join(who))
		wg.Go(func() {
			for range each {
				if _, _, err := r.Update(context.Background(), turnOn(who)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if s := h.view(0).State; s.Turn != int64(each*len(h.dirs)) {
		t.Errorf("%d turns, want %d", s.Turn, each*len(h.dirs))
	}
	h.verify()
}

func TestEngineThatIsAway(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 2, e)
	h.do(0, join("a"))
	e.SetAway(true)
	r := h.room(0, fsroom.Options{})
	if _, _, err := r.Update(context.Background(), say("a", "lost")); !hasCode(err, code.EngineUnreachable) {
		t.Errorf("Update: %v", err)
	}
	if _, err := r.View(); !hasCode(err, code.EngineUnreachable) {
		t.Errorf("View: %v", err)
	}
	behind := h.room(0, fsroom.Options{Behind: func(error) bool { return true }})
	if snap, err := behind.View(); err != nil || snap.State.Seq != 2 {
		t.Errorf("the mirror alone: %+v, %v", snap, err)
	}
	e.SetAway(false)
	h.do(0, say("a", "kept"))
	h.verify()
}

// The entry was committed or not, and the caller was not told.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, fault := range []memory.Fault{memory.AnswerLost, memory.LostInDoubt, memory.Refused} {
		e := inMemory(t)
		h := newHosts(t, 2, e)
		h.do(0, join("a"))
		e.SetFault(func() memory.Fault { return fault })
		_, _, err := h.room(0, fsroom.Options{}).Update(context.Background(), say("a", "perhaps"))
		want := code.InDoubt
		if fault == memory.Refused {
			want = code.EngineUnreachable
		}
		if !hasCode(err, want) {
			t.Errorf("fault %d: %v, want %s", fault, err, want)
		}
		e.SetFault(func() memory.Fault { return memory.None })
		h.do(1, join("b"))
		h.verify()
		if said := h.view(0).State.Said["a"]; (said == 1) != (fault == memory.AnswerLost) {
			t.Errorf("fault %d: it was said %d times", fault, said)
		}
	}
}

// What a mirror has lost is fetched again.
func TestDamagedMirrors(t *testing.T) {
	t.Parallel()
	damages := map[string]func(t *testing.T, r *room){
		"no marker":       func(t *testing.T, r *room) { remove(t, filepath.Join(r.Dir(), "mirror.json")) },
		"no state":        func(t *testing.T, r *room) { remove(t, r.StatePath()) },
		"no journal":      func(t *testing.T, r *room) { remove(t, r.JournalPath()) },
		"nothing":         func(t *testing.T, r *room) { remove(t, r.Dir()) },
		"torn last line":  func(t *testing.T, r *room) { truncate(t, r, -5); remove(t, r.StatePath()) },
		"lines are lost":  func(t *testing.T, r *room) { truncate(t, r, -400); remove(t, r.StatePath()) },
		"damaged marker":  func(t *testing.T, r *room) { write(t, filepath.Join(r.Dir(), "mirror.json"), "{") },
		"a damaged line":  func(t *testing.T, r *room) { damageLine(t, r); remove(t, r.StatePath()) },
		"an empty marker": func(t *testing.T, r *room) { write(t, filepath.Join(r.Dir(), "mirror.json"), "") },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			h := newHosts(t, 2, inMemory(t))
			h.do(0, join("a"), say("a", "one"), turnOn("a"), say("a", "two"), turnOn("a"))
			want := h.journal(0)
			damage(t, h.room(0, fsroom.Options{}))
			if s := h.view(0).State; s.Seq != 6 || s.Turn != 2 {
				t.Errorf("the mirror shows %+v", s)
			}
			if !bytes.Equal(h.journal(0), want) {
				t.Errorf("the journal is\n%s\nwant\n%s", h.journal(0), want)
			}
			h.do(0, say("a", "three"))
			h.do(1, say("a", "four"))
			h.verify()
		})
	}
}

// damageLine overwrites a part in the middle of the journal, as a page that was lost.
func damageLine(t *testing.T, r *room) {
	b, err := os.ReadFile(r.JournalPath())
	if err != nil {
		t.Fatal(err)
	}
	copy(b[len(b)/3:], make([]byte, 20))
	write(t, r.JournalPath(), string(b))
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, r *room, by int64) {
	t.Helper()
	info, err := os.Stat(r.JournalPath())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(r.JournalPath(), info.Size()+by); err != nil {
		t.Fatal(err)
	}
}

// An engine that has less than a mirror is not written to, and the mirror stays.
func TestRewoundEngine(t *testing.T) {
	t.Parallel()
	rewinds := map[string]func(e *memory.Engine) engine.Engine{
		"entries are lost": func(e *memory.Engine) engine.Engine { e.Lose("rooms.demo", 2); return e },
		"all is lost":      func(*memory.Engine) engine.Engine { return memory.New("other", time.Now) },
		"another engine with the same revisions": func(*memory.Engine) engine.Engine {
			other := memory.New("other", time.Now)
			o := newHosts(t, 1, other)
			o.do(0, join("x"), say("x", "one"), say("x", "two"), say("x", "three"))
			return other
		},
	}
	for name, rewind := range rewinds {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			h := newHosts(t, 1, e)
			h.do(0, join("a"), say("a", "one"), say("a", "two"))
			want := h.journal(0)
			h.engine = rewind(e)
			for range 2 {
				r := h.room(0, fsroom.Options{})
				if _, err := r.View(); !hasCode(err, code.EngineRewound) {
					t.Errorf("View: %v", err)
				}
				if _, _, err := r.Update(context.Background(), say("a", "three")); !hasCode(err, code.EngineRewound) {
					t.Errorf("Update: %v", err)
				}
				_ = os.Remove(filepath.Join(r.Dir(), "mirror.json")) // and without the marker
			}
			if !bytes.Equal(h.journal(0), want) {
				t.Errorf("the mirror has changed:\n%s\nwant\n%s", h.journal(0), want)
			}
		})
	}
}

// A change that did not know of a note is decided again.
func TestNotesComeBetweenChanges(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	ctx := context.Background()
	decided := 0
	_, _, err := h.room(1, fsroom.Options{}).Update(ctx, func(s *tally) ([]event.Event, error) {
		if decided++; decided == 1 {
			if err := h.room(0, fsroom.Options{}).Renew(ctx, func(*snapshot) ([]byte, time.Duration, error) { return []byte("renewed"), time.Hour, nil }, func() error { return nil }); err != nil {
				return nil, err
			}
		}
		return join("b")(s)
	})
	if err != nil || decided != 2 {
		t.Errorf("decided %d times: %v", decided, err)
	}
	for i := range h.dirs {
		h.view(i)
		if note, at := h.room(i, fsroom.Options{}).Shared().Note(); string(note) != "renewed" || at.IsZero() {
			t.Errorf("host %d has the note %q of %v", i, note, at)
		}
	}
	h.verify()
}

// What is confirmed is what is returned, also when another host has changed the room since
// this one has read it.
func TestConfirmReturnsWhatIsConfirmed(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	r := h.room(0, fsroom.Options{})
	before, err := r.View()
	if err != nil {
		t.Fatal(err)
	}
	h.do(1, join("b"))
	snap, err := r.Confirm(context.Background())
	if err != nil || snap.Position.Seq != before.Position.Seq+1 {
		t.Errorf("confirmed event %v, after %d: %v", snap, before.Position.Seq, err)
	}
}

// A wait on one host is woken by a change of another.
func TestWaitForAnotherHost(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	waiting := make(chan struct{}, 100)
	done := make(chan error)
	r := h.room(1, fsroom.Options{BlindPoll: seldom})
	go func() {
		done <- r.Await(ctx, func(snap *snapshot) (bool, fsroom.Sleep, error) {
			waiting <- struct{}{}
			return snap.State.Turn > 0, fsroom.Sleep{}, nil
		})
	}()
	<-waiting
	h.do(0, turnOn("a"))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The model: hosts make changes through an engine that fails at random, their mirrors lose
// files at random. In the end all have the same journal, which has every change that was
// acknowledged once, and no change that was refused.
func TestHostsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		e := memory.New("model", time.Now)
		defer e.Close()
		h := newHosts(t, 3, e)
		faults := rapid.SliceOfN(rapid.SampledFrom([]memory.Fault{memory.None, memory.None, memory.None, memory.AnswerLost, memory.LostInDoubt, memory.Refused}), 1, 8).Draw(rt, "faults")
		calls := 0
		e.SetFault(func() memory.Fault { calls++; return faults[calls%len(faults)] })
		acknowledged, doubtful := map[string]bool{}, map[string]bool{}
		steps := rapid.IntRange(1, 25).Draw(rt, "steps")
		for n := range steps {
			host := rapid.IntRange(0, 2).Draw(rt, "host")
			r := h.room(host, fsroom.Options{})
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				_ = os.Remove(filepath.Join(r.Dir(), "mirror.json"))
			case 1:
				_ = os.Remove(r.StatePath())
			case 2:
				if info, err := os.Stat(r.JournalPath()); err == nil && info.Size() > 0 {
					_ = os.Truncate(r.JournalPath(), rapid.Int64Range(0, info.Size()).Draw(rt, "size"))
					_ = os.Remove(r.StatePath())
				}
			default:
				text := fmt.Sprint("text ", n)
				_, _, err := r.Update(context.Background(), func(s *tally) ([]event.Event, error) {
					events, err := join("a")(s)
					if err != nil {
						return nil, err
					}
					if s.Open {
						return say("a", text)(s)
					}
					return events, nil
				})
				switch {
				case err == nil:
					acknowledged[text] = true
				case hasCode(err, code.InDoubt):
					doubtful[text] = true
				case !hasCode(err, code.EngineUnreachable):
					rt.Fatalf("Update: %v", err)
				}
			}
		}
		e.SetFault(func() memory.Fault { return memory.None })
		h.verify()
		if t.Failed() {
			rt.FailNow()
		}
		all := string(h.journal(0))
		for n := range steps {
			text := fmt.Sprint("text ", n)
			count := bytes.Count([]byte(all), []byte(`"`+text+`"`))
			if count > 1 || count == 1 && !acknowledged[text] && !doubtful[text] {
				rt.Errorf("%q is there %d times", text, count)
			}
		}
	})
}
