package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/journal/event"
)

// A model is what a room must be, however often it is disturbed on the way.
type model struct {
	want   tally
	seq    int64
	room   *room
	dir    string
	states [][]byte // what state.json ever was
	copies [][]byte // of the journal
	cut    bool     // state.json alone has the last events
	t      *rapid.T
}

// TestAnyStory: random changes with random trouble between them and in them end
// where the same changes end without any.
func TestAnyStory(t *testing.T) {
	t.Parallel()
	base := tempDir(t)
	stories := 0
	rapid.Check(t, func(t *rapid.T) {
		stories++
		m := &model{want: tally{Room: "demo"}, dir: filepath.Join(base, fmt.Sprint(stories)), t: t}
		defer os.RemoveAll(m.dir) // there may be very many stories
		m.reopen()
		acts := m.acts()
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(actNames()), 1, 40).Draw(t, "story") {
			acts[name]()
			m.compare(name)
		}
		m.update(join("z"), fsroom.Options{})
		for _, p := range fsroomtest.Problems(m.dir, tallyRules) {
			t.Error(p)
		}
		m.repaired()
	})
}

func actNames() []string {
	names := []string{"join a", "join b", "leave a", "leave b", "say a", "say b", "turn a", "nothing"}
	for _, name := range names {
		names = append(names, "failing "+name)
	}
	return append(names, "lose state", "old state", "tear a line", "tear a change", "touch a journal", "reopen", "cut", "old journal", "lose journal")
}

func (m *model) acts() map[string]func() {
	changes := map[string]decision{
		"join a": join("a"), "join b": join("b"), "leave a": leave("a"), "leave b": leave("b"),
		"say a": say("a", "hello"), "say b": say("b", "hello"), "turn a": turnOn("a"), "nothing": nothing,
	}
	acts := map[string]func(){
		"lose state": func() {
			if !m.cut {
				_ = os.Remove(filepath.Join(m.room.Dir(), "state.json"))
			}
		},
		"old state":       m.oldState,
		"tear a line":     func() { m.append(`{"event_seq":`) },
		"tear a change":   func() { m.append(m.unfinished()) },
		"touch a journal": func() { m.append("") },
		"reopen":          m.reopen,
		"cut": func() {
			m.shorten(func(b []byte) []byte { return b[:rapid.IntRange(0, len(b)-1).Draw(m.t, "bytes")] })
		},
		"old journal": func() {
			m.shorten(func(b []byte) []byte {
				if len(m.copies) == 0 {
					return b
				}
				return rapid.SampledFrom(m.copies).Draw(m.t, "copy")
			})
		},
		"lose journal": func() { m.shorten(func([]byte) []byte { return nil }) },
	}
	for name, decide := range changes {
		acts[name] = func() { m.update(decide, fsroom.Options{}) }
		acts["failing "+name] = func() {
			x := &fault{nth: rapid.IntRange(1, 8).Draw(m.t, "step"), err: syscall.EIO}
			m.update(decide, fsroom.Options{Fault: x.hit})
		}
	}
	return acts
}

// update changes the room, and the model by what the room says has happened.
func (m *model) update(decide decision, o fsroom.Options) {
	o.NoWatch = true
	s, err := fsroom.Open(m.dir, o)
	if err != nil {
		m.t.Fatal(err)
	}
	_, due := decide(&m.want)
	_, events, err := fsroom.At(s, tallyRules, "demo").Update(context.Background(), decide)
	switch {
	case err == nil:
		if due != nil {
			m.t.Fatalf("allowed, but due is %v", due)
		}
		m.tell(events)
	case errors.Is(err, syscall.EIO) && o.Fault != nil:
	case code.Of(err) != code.Of(due):
		m.t.Fatalf("%v, due is %v", err, due)
	}
	if b, err := os.ReadFile(filepath.Join(m.room.Dir(), "state.json")); err == nil {
		m.states = append(m.states, b)
	}
	if b, err := os.ReadFile(m.room.JournalPath()); err == nil && !m.cut {
		m.copies = append(m.copies, b)
	}
}

// shorten puts less in the place of a journal that state.json covers. What is no less is all of it.
func (m *model) shorten(less func([]byte) []byte) {
	m.update(nothing, fsroom.Options{})
	b, err := os.ReadFile(m.room.JournalPath())
	if err != nil || len(b) == 0 || m.cut {
		return
	}
	if b = less(b); b == nil {
		err = os.Remove(m.room.JournalPath())
	} else {
		err = os.WriteFile(m.room.JournalPath(), b, 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if snap, err := m.room.View(); err == nil {
		m.cut = snap.Untold()
	}
}

// tell is the model's own idea of what events mean.
func (m *model) tell(events []event.Event) {
	w := &m.want
	for _, e := range events {
		if m.seq++; m.cut {
			m.seq, m.cut = m.seq+1, false // the event that tells of the loss
		}
		if e.Seq != m.seq {
			m.t.Fatalf("event %d where %d is due", e.Seq, m.seq)
		}
		switch e.Type {
		case opened:
			w.Open, w.Said = true, nil
		case joined:
			w.In = append(slices.Clone(w.In), e.From)
		case left:
			w.In = slices.DeleteFunc(slices.Clone(w.In), func(who string) bool { return who == e.From })
		case said:
			if w.Last = "hello"; w.Said == nil {
				w.Said = map[string]int{}
			}
			w.Said[e.From]++
		case turned:
			w.Turn++
		case closed:
			*w = tally{Room: "demo", Turn: w.Turn}
		}
		w.Seq = e.Seq
	}
}

func (m *model) compare(after string) {
	snap, err := m.room.View()
	if err != nil {
		m.t.Fatalf("after %q: %v", after, err)
	}
	got := *snap.State
	if len(got.In) == 0 {
		got.In = nil
	}
	want := m.want
	if len(want.In) == 0 {
		want.In = nil
	}
	if !reflect.DeepEqual(got, want) || snap.Position.Seq != m.seq {
		m.t.Fatalf("after %q: %+v at %d, want %+v at %d", after, got, snap.Position.Seq, want, m.seq)
	}
}

func (m *model) reopen() {
	s, err := fsroom.Open(m.dir, fsroom.Options{NoWatch: true})
	if err != nil {
		m.t.Fatal(err)
	}
	m.room = fsroom.At(s, tallyRules, "demo")
}

func (m *model) oldState() {
	if len(m.states) == 0 || m.cut {
		return
	}
	old := rapid.SampledFrom(m.states).Draw(m.t, "state")
	if err := os.WriteFile(filepath.Join(m.room.Dir(), "state.json"), old, 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// append leaves something at the end of the journal. A torn line stays the last. What a killed process
// leaves after a loss is another matter: see TestLossTornAnywhere.
func (m *model) append(text string) {
	if m.cut {
		return
	}
	if b, _ := os.ReadFile(m.room.JournalPath()); len(b) > 0 && b[len(b)-1] != '\n' {
		return
	}
	f, err := os.OpenFile(m.room.JournalPath(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return // there is no room yet
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		m.t.Fatal(err)
	}
}

// unfinished is the first line of a change whose last was never written.
func (m *model) unfinished() string {
	b, _ := os.ReadFile(m.room.JournalPath())
	seq := m.seq + 1
	if n := len(b); n > 0 && b[n-1] == '\n' && slices.Contains([]string{`"more":true}` + "\n"}, string(b[max(0, n-13):])) {
		return "" // there is one already
	}
	return fmt.Sprintf(`{"event_seq":%d,"event_id":"x","room_id":"demo","turn_id":0,"event_type":"said","created_at":"2026-01-02T03:04:05.000Z","more":true}`+"\n", seq)
}

// repaired repairs the room, which changes nothing but that nothing is lost any more.
func (m *model) repaired() {
	room := fsroom.At(m.room.Store(), mendableRules(), "demo")
	for _, p := range doctor.Repair(context.Background(), room) {
		if !p.Repaired {
			m.t.Errorf("not repaired: %+v", p)
		}
	}
	m.compare("the repair")
	for _, p := range doctor.Check(room) {
		m.t.Errorf("after the repair: %+v", p)
	}
}
