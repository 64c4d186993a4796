package fsroom_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
)

// hosts are stores that share an engine, each with a mirror of its own.
type hosts struct {
	t      testing.TB
	engine engine.Engine
	dirs   []string
}

func newHosts(t testing.TB, n int, e engine.Engine) *hosts {
	h := &hosts{t: t, engine: e}
	for range n {
		h.dirs = append(h.dirs, filepath.Join(tempDir(t), "data"))
	}
	return h
}

func inMemory(t testing.TB) *memory.Engine {
	e := memory.New("test", time.Now)
	t.Cleanup(func() { e.Close() })
	return e
}

// room is the room as a new process on a host has it.
func (h *hosts) room(host int, o fsroom.Options) *room {
	o.Engine = h.engine
	return fsroom.At(openStore(h.t, h.dirs[host], o), tallyRules, "demo")
}

func (h *hosts) do(host int, decisions ...decision) {
	h.t.Helper()
	change(h.t, h.room(host, fsroom.Options{}), decisions...)
}

func (h *hosts) view(host int) *snapshot {
	h.t.Helper()
	snap, err := h.room(host, fsroom.Options{}).View()
	if err != nil {
		h.t.Fatal(err)
	}
	return snap
}

// journal returns all events of a mirror, byte for byte.
func (h *hosts) journal(host int) []byte {
	h.t.Helper()
	r := h.room(host, fsroom.Options{})
	paths, err := r.Archived()
	if err != nil {
		h.t.Fatal(err)
	}
	var all []byte
	for _, path := range append(paths, r.JournalPath()) {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			h.t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// verify brings all mirrors up to date and compares them. A mirror is a sound data
// directory also without its engine.
func (h *hosts) verify() {
	h.t.Helper()
	for i := range h.dirs {
		h.view(i)
	}
	for i := range h.dirs {
		if !bytes.Equal(h.journal(i), h.journal(0)) {
			h.t.Errorf("mirror %d differs:\n%s\nmirror 0:\n%s", i, h.journal(i), h.journal(0))
		}
		local := fsroom.At(openStore(h.t, h.dirs[i], fsroom.Options{}), tallyRules, "demo")
		for _, p := range doctor.Check(local) {
			h.t.Errorf("mirror %d: %s: %s", i, p.File, p.Problem)
		}
	}
}

func hasCode(err error, want code.Code) bool {
	var coded *code.Error
	return errors.As(err, &coded) && coded.Code == want
}
