package look

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

const me = "human:alex"

// A world is a data directory with rooms.
type world struct {
	*testing.T
	store *fsroom.Store
	look  *Looker
}

func newWorld(t *testing.T) *world {
	store, err := fsroom.Open(t.TempDir(), fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, store, New(store, nil, identity.System(), me)}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) room(path string) *fsroom.Room[*turn.State] {
	return fsroom.At(w.store, roomtypes.Stick(), fsroom.RoomName(path))
}

// change changes the room at a path.
func (w *world) change(path string, decide func(*turn.State, turn.Facts) ([]event.Event, error)) {
	w.Helper()
	f := turn.Facts{Now: turn.At(time.Now(), identity.BootID(), identity.Monotonic()), Presence: func(string) turn.Presence { return turn.Presence{Process: turn.Unknown} }}
	_, _, err := w.room(path).Update(context.Background(), func(st *turn.State) ([]event.Event, error) { return decide(st, f) })
	w.must(err)
}

func (w *world) join(path string, agents ...string) {
	w.Helper()
	for _, agent := range agents {
		w.change(path, func(st *turn.State, _ turn.Facts) ([]event.Event, error) {
			return turn.Join(st, turn.JoinRequest{Agent: agent, DisplayName: agent, CanonicalPath: path, WorkspaceRoot: path, Policy: turn.DefaultPolicy()}), nil
		})
	}
}

func (w *world) grant(path, agent string) {
	w.Helper()
	w.change(path, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		events, _, err := turn.Try(st, f, turn.TryRequest{Agent: agent, Lease: fsroom.NewID()})
		return events, err
	})
}

func (w *world) say(path, from, to, body string) {
	w.Helper()
	w.change(path, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		return turn.Send(st, f, turn.MessageRequest{Agent: from, To: to, Body: body})
	})
}

func TestRoomsAreSortedByPath(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/src/b", "/src/a-x", "/src/a/c", "/src/a", "/src"} {
		w.join(path, "claude:1")
	}
	w.must(os.WriteFile(w.room("/src/b").JournalPath(), []byte("x\n"), 0o600))
	w.must(os.Remove(w.room("/src/b").StatePath()))
	rooms, err := w.look.Rooms()
	w.must(err)
	var got []string
	for _, r := range rooms {
		got = append(got, r.View.CanonicalPath)
	}
	if want := []string{"/src", "/src/a", "/src/a/c", "/src/a-x", ""}; !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	if bad := rooms[4]; bad.Err == nil || bad.Name != fsroom.RoomName("/src/b") || !bad.Stuck() {
		t.Errorf("a room that cannot be read: %+v", bad)
	}
}

func TestWhatWaitsForThePerson(t *testing.T) {
	w := newWorld(t)
	const path = "/src/a"
	w.join(path, "claude:1", me)
	w.say(path, "claude:1", me, "look at this")
	w.say(path, "claude:1", turn.Everyone, "done")
	w.change(path, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		return turn.AddNote(st, f, turn.NoteRequest{Agent: "claude:1", ID: fsroom.NewID(), Body: "CI has no jq", Target: me})
	})
	rooms, err := w.look.Rooms()
	w.must(err)
	if want := (Yours{Unread: talk.Unread{Messages: 2, Notes: 1}}); rooms[0].Yours != want {
		t.Errorf("%+v", rooms[0].Yours)
	}
}

// An urgent note waits for the person as another one does, also where nothing else is new.
func TestAnUrgentNoteWaitsForThePerson(t *testing.T) {
	w := newWorld(t)
	const path = "/src/a"
	w.join(path, "claude:1", me)
	w.change(path, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		return turn.AddNote(st, f, turn.NoteRequest{Agent: "claude:1", ID: fsroom.NewID(), Body: "main is broken", Severity: talk.SeverityPage})
	})
	rooms, err := w.look.Rooms()
	w.must(err)
	items := w.look.Inbox(t.Context(), rooms)
	if rooms[0].Yours.Notes != 1 || len(items) != 1 || items[0].Kind != talk.KindNote || items[0].Text != "main is broken" {
		t.Errorf("%+v, %+v", rooms[0].Yours, items)
	}
	w.look.Shown(t.Context(), rooms[0].Name, items)
	if rooms, err = w.look.Rooms(); err != nil || rooms[0].Yours != (Yours{}) {
		t.Errorf("%v, what was read stays new: %+v", err, rooms[0].Yours)
	}
}

func TestDetail(t *testing.T) {
	w := newWorld(t)
	const path = "/src/a"
	name := fsroom.RoomName(path)
	w.join(path, "claude:1", "codex:1")
	w.grant(path, "claude:1")
	d := w.look.Detail(t.Context(), name, nil)
	if d.Member(d.View.Owner) == nil || d.Since.IsZero() || d.Full != 45*time.Minute || d.Handoff != nil {
		t.Errorf("%+v", d.Room)
	}
	w.say(path, "codex:1", turn.Everyone, "first")
	d = w.look.Detail(t.Context(), name, d)
	w.say(path, "codex:1", "claude:1", "second")
	before := len(d.Entries)
	d = w.look.Detail(t.Context(), name, d)
	last := d.Entries[len(d.Entries)-1]
	if len(d.Entries) != before+1 || last.Text != "second" || last.To != "claude:1" {
		t.Errorf("after %d entries: %+v", before, last)
	}
	for i, e := range d.Entries {
		if e.Seq != int64(i+1) || strings.Contains(string(e.Payload), "lease_id") {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	w.change(path, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
		events, _, err := turn.Release(st, f, turn.ReleaseRequest{Fence: turn.Fence{Agent: "claude:1", Turn: 1, Lease: st.Grant.Lease}, Handoff: []byte(`{"status":"s","next_action":"n"}`)})
		return events, err
	})
	if d = w.look.Detail(t.Context(), name, d); d.Handoff == nil || d.View.Owner != "" {
		t.Errorf("after the release: %+v", d.Room)
	}
	for _, agent := range []string{"claude:1", "codex:1"} {
		w.change(path, func(st *turn.State, f turn.Facts) ([]event.Event, error) {
			events, _, err := turn.Leave(st, f, agent)
			return events, err
		})
	}
	if d = w.look.Detail(t.Context(), name, d); !d.Ended || len(d.Entries) == 0 {
		t.Errorf("after the end: %+v", d)
	}
}

func TestOtherTreesOfTheRepository(t *testing.T) {
	w := newWorld(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	w.must(err)
	main, linked, empty := filepath.Join(top, "main"), filepath.Join(top, "linked"), filepath.Join(top, "empty")
	for _, dir := range []string{"objects", "refs", "worktrees/linked", "worktrees/empty"} {
		w.must(os.MkdirAll(filepath.Join(main, ".git", dir), 0o755))
	}
	write := func(path, text string) {
		w.must(os.MkdirAll(filepath.Dir(path), 0o755))
		w.must(os.WriteFile(path, []byte(text+"\n"), 0o644))
	}
	write(filepath.Join(main, ".git/HEAD"), "ref: refs/heads/main")
	for _, tree := range []string{linked, empty} {
		git := filepath.Join(main, ".git/worktrees", filepath.Base(tree))
		write(filepath.Join(git, "gitdir"), filepath.Join(tree, ".git"))
		write(filepath.Join(git, "commondir"), "../..")
		write(filepath.Join(git, "HEAD"), "ref: refs/heads/feature")
		write(filepath.Join(tree, ".git"), "gitdir: "+git)
	}
	w.join(main, "claude:1")
	w.join(linked, "codex:1")
	d := w.look.Detail(t.Context(), fsroom.RoomName(main), nil)
	if len(d.Siblings) != 1 || d.Siblings[0].Path != linked || d.Siblings[0].Branch != "feature" || d.Siblings[0].Members != 1 {
		t.Errorf("%+v", d.Siblings)
	}
}

func TestQuestionsOfARoom(t *testing.T) {
	w := newWorld(t)
	const path = "/src/a"
	name := fsroom.RoomName(path)
	w.join(path, "claude:1", "codex:1", me)
	for _, to := range []string{talk.AnyPerson, "codex:1"} {
		_, _, _, err := questions.AskInRoom(t.Context(), w.store, name, path, "claude:1", topic.AskRequest{Question: "for " + to + "?", To: to})
		w.must(err)
	}
	d := w.look.Detail(t.Context(), name, nil)
	if len(d.Questions) != 2 || !d.Questions[0].Urgent || d.Questions[1].Urgent || d.Questions[0].Text != "for human?" || d.Yours.Questions != 1 {
		t.Errorf("%+v, %+v", d.Questions, d.Yours)
	}
	w.say(path, "codex:1", me, "look at this")
	rooms, err := w.look.Rooms()
	w.must(err)
	items := w.look.Inbox(t.Context(), rooms)
	if len(items) != 2 || items[0].Kind != talk.KindQuestion || items[0].ID == "" || items[1].Kind != talk.KindMessage || items[1].Text != "look at this" {
		t.Errorf("%+v", items)
	}
	if again := w.look.Inbox(t.Context(), rooms); len(again) != 2 {
		t.Errorf("looking counts as shown: %+v", again)
	}
	w.say(path, "codex:1", me, "and at that")
	items = w.look.Inbox(t.Context(), rooms)
	w.look.Shown(t.Context(), name, items[2:])
	if again := w.look.Inbox(t.Context(), rooms); len(again) != 2 || again[1].Text != "look at this" {
		t.Errorf("a message was skipped, or one that was read stays new: %+v", again)
	}
	w.look.Shown(t.Context(), name, items[1:])
	if again := w.look.Inbox(t.Context(), rooms); len(again) != 1 || again[0].Kind != talk.KindQuestion {
		t.Errorf("what was read stays new: %+v", again)
	}
}

func TestWatcherTellsOfChanges(t *testing.T) {
	w := newWorld(t)
	w.join("/src/a", "claude:1")
	watcher, err := w.look.NewWatcher()
	w.must(err)
	changed := make(chan bool, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { watcher.Run(ctx, func() { changed <- true }); close(ended) }()
	// until does something until it is told of. What is done while nothing is under way is
	// told of by itself.
	until := func(what string, do func()) {
		t.Helper()
		for quiet := false; !quiet; {
			select {
			case <-changed:
			case <-time.After(10 * settle):
				quiet = true
			}
		}
		for timeout := time.After(time.Minute); ; {
			do()
			select {
			case <-changed:
				return
			case <-time.After(100 * time.Millisecond): // the watcher may have started after the first time
			case <-timeout:
				t.Fatalf("not told: %s", what)
			}
		}
	}
	until("a message", func() { w.say("/src/a", "claude:1", turn.Everyone, "hello") })
	until("a new room", func() { w.join("/src/b", "claude:1") })
	until("a message in a new room", func() { w.say("/src/b", "claude:1", turn.Everyone, "hello") })
	watcher.Open(fsroom.RoomName("/src/a"))
	until("a command of an agent", func() { w.must(w.room("/src/a").Agent("claude:1").Mark("seen", time.Now())) })
	cancel()
	<-ended
}

// The directory of an agent that comes while a room is opened is watched, or told of.
func TestWatcherMissesNoAgent(t *testing.T) {
	w := newWorld(t)
	w.join("/src/a", "claude:1")
	name := fsroom.RoomName("/src/a")
	watcher, err := w.look.NewWatcher()
	w.must(err)
	defer watcher.fs.Close()
	for i := range 200 {
		agent := w.room("/src/a").Agent("claude:" + strconv.Itoa(i))
		marked := make(chan error)
		go func() { marked <- agent.Mark("seen", time.Now()) }()
		watcher.enter("")
		watcher.enter(name)
		w.must(<-marked)
		dir := filepath.Dir(agent.Path("seen"))
		for told := slices.Contains(watcher.fs.WatchList(), dir); !told; {
			select {
			case e := <-watcher.fs.Events:
				told = e.Name == dir && e.Has(fsnotify.Create)
			case <-time.After(2 * time.Minute):
				t.Fatalf("agent %d is missed", i)
			}
		}
	}
}
