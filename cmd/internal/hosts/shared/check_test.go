package shared

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
)

// What reads do not show, doctor finds: that nothing can be written, and what is skipped.
func TestCheckFindsWhatReadsDoNotShow(t *testing.T) {
	w, e := newWorld(t)
	store := w.store(t.TempDir(), e)
	r := w.room(store.Dir(), e, "demo")
	w.say(r, "one")
	has := func(want code.Code) bool {
		h := w.Check(context.Background(), store, nil, false, false)
		return slices.ContainsFunc(h.Problems, func(p doctor.Problem) bool { return p.Code == string(want) })
	}
	if has(code.EngineUnreachable) || has(code.CorruptRoom) {
		t.Error("all is well")
	}
	e.SetFault(func() memory.Fault { return memory.Refused })
	if !has(code.EngineUnreachable) {
		t.Error("nothing can be written")
	}
	e.SetFault(func() memory.Fault { return memory.None })
	room, last := "rooms.demo", engine.Revision(0)
	if err := e.Read(t.Context(), room, 0, func(e engine.Entry) error { last = e.Revision; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Append(t.Context(), room, last, engine.Entry{Lines: []byte("garbage")}, 0); err != nil {
		t.Fatal(err)
	}
	h := w.Check(context.Background(), store, nil, false, false)
	if len(h.Problems) != 1 || !strings.Contains(h.Problems[0].Problem, "no change of it: 1, the last at revision") {
		t.Errorf("%+v", h.Problems)
	}
	w.say(r, "two")
}

// A restoredEngine is one whose store was copied back.
type restoredEngine struct {
	*memory.Engine
	opened bool
}

func (e *restoredEngine) Repair() {}
func (e *restoredEngine) Reopen(_ context.Context, host string) error {
	e.opened = e.opened || host == ""
	return nil
}
func (e *restoredEngine) Info(ctx context.Context) (engine.Info, error) {
	info, err := e.Engine.Info(ctx)
	info.Restored = true
	return info, err
}

// Entries that every host skips keep nobody from opening an engine that was repaired, one that lacks
// something does.
func TestOpeningARepairedEngine(t *testing.T) {
	w, memory := newWorld(t)
	e := &restoredEngine{Engine: memory}
	store := w.store(t.TempDir(), e)
	r := w.room(store.Dir(), e, "demo")
	w.say(r, "one")
	if _, err := e.Append(t.Context(), "rooms.demo", 1, engine.Entry{Lines: []byte("garbage")}, 0); err != nil {
		t.Fatal(err)
	}
	w.Check(t.Context(), store, nil, false, true)
	if e.opened {
		t.Error("it is opened without a repair")
	}
	if w.Check(t.Context(), store, nil, true, true); !e.opened {
		t.Error("it is not opened")
	}
}
