package console

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/edit"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/turn"
)

func TestKeysRunCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, keys string
		want       command
	}{
		{"a message to the room", "enter m hello_there enter", run("hello there", common("msg", "send", "--stdin", "room")...)},
		{"an urgent one, to whom tab says", "enter m tab ctrl+t now enter", run("now", common("msg", "send", "--stdin", "--interrupt", "gemini:5c0ffee5")...)},
		{"to the selected member", "enter tab down m hi enter", run("hi", common("msg", "send", "--stdin", "codex:8a77b001")...)},
		{"from the list of rooms", "m hi enter", run("hi", common("msg", "send", "--stdin", "room")...)},
		{"a takeover of the turn that is shown", "enter t stopped_for_an_hour enter", run("", common("take", "--turn", "31", "--reason", "stopped for an hour")...)},
		{"a removal of one that is gone", "enter tab end up x cleaning_up enter", run("", common("kick", "--turn", "31", "--reason", "cleaning up", "codex:77aa31c9")...)},
		{"a removal by name", "enter tab down x stuck enter codex:8a77b001 enter", run("", common("kick", "--turn", "31", "--reason", "stuck", "--force", "codex:8a77b001")...)},
		{"a note", "enter r enter", run("", common("notes", "resolve", "6a2d727f-1")...)},
		{"an answer", "enter u yes enter", run("yes", common("answer", "--stdin", "q16d9aa01")...)},
		{"an answer to the selected question", "enter tab tab down u no enter", run("no", common("answer", "--stdin", "q77")...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			w.detail.Members = append(w.detail.Members, aMember(me, time.Minute))
			w.send(changedMsg{})
			w.keys(c.keys)
			w.wantRan(c.want)
			w.wantStatus("tt " + c.want.argv[0])
		})
	}
}

// Only members remove members, and looking makes nobody a member.
func TestRemovingMakesAnObserver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter tab end x cleaning_up enter")
	w.wantRan(run("", common("join", "--observe")...), run("", common("kick", "--turn", "31", "--reason", "cleaning up", "codex:77aa31c9")...))
}

func TestAssignTakesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter tab down a stuck enter half_done enter finish_it enter")
	w.wantRan(
		run("", common("take", "--turn", "31", "--reason", "stuck")...),
		run(`{"status":"half done","next_action":"finish it"}`, common("assign", "--stdin", "codex:8a77b001")...))

	w.detail.View.Owner = me
	w.send(changedMsg{})
	w.keys("a half_done enter finish_it enter")
	w.wantRan(run(`{"status":"half done","next_action":"finish it"}`, common("assign", "--stdin", "codex:8a77b001")...))
}

var refusal = result{stderr: []byte(`{"error":"turn_mismatch","message":"turn 31 is over","hint":"look again"}`), err: errors.New("exit status 1")}

func TestAssignThatFailsOffersARelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answers = []result{{}, refusal}
	w.keys("enter tab down a stuck enter half_done enter finish_it enter")
	w.ran = nil
	w.wantStatus("you have the stick, but: turn 31 is over · look again")
	w.wantStatus("release the stick")
	w.keys("enter")
	w.wantRan(run(`{"status":"half done","next_action":"finish it"}`, common("release", "--stdin")...))
}

func TestRefusalStandsUntilTheNextKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answers = []result{refusal}
	w.keys("enter t mine enter")
	w.wantStatus("turn 31 is over · look again")
	w.send(tickMsg(now.Add(time.Second)))
	w.wantStatus("turn 31 is over")
	w.keys("t")
	w.wantStatus("mine") // what was typed is there again
	w.keys("esc down")
	if w.m.status != (status{}) {
		t.Errorf("%+v", w.m.status)
	}
}

// A dialog acts on the turn that it showed, whatever happens behind it.
func TestDialogKeepsItsTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter t stuck")
	w.detail.View.TurnID, w.detail.View.Owner = 32, "codex:8a77b001"
	w.send(changedMsg{})
	w.wantStatus("meanwhile codex:8a77b001 has the stick, turn 32")
	w.keys("enter")
	w.wantRan(run("", common("take", "--turn", "31", "--reason", "stuck")...))
}

func TestDialogNeedsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter t enter")
	w.wantStatus("this needs a text")
	w.keys("_ enter")
	w.wantStatus("this needs a text")
	w.keys("esc tab down x stuck enter codex:8a77b00 enter")
	w.wantStatus("type codex:8a77b001")
	w.keys("esc a enter enter")
	w.wantRan()
}

func TestDialogExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter m draft")
	w.m.looks.full = now.Add(time.Hour)
	w.send(tickMsg(now.Add(59 * time.Second)))
	if w.m.dialog == nil {
		t.Fatal("closed too early")
	}
	w.send(tickMsg(now.Add(60 * time.Second)))
	if w.m.dialog != nil {
		t.Fatal("open")
	}
	w.keys("m")
	w.wantStatus("draft")
	w.send(tickMsg(now.Add(110 * time.Second)))
	w.keys("s")
	w.send(tickMsg(now.Add(165 * time.Second)))
	if w.m.dialog == nil {
		t.Fatal("closed within a minute of a key")
	}
}

func TestOneCommandAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter")
	w.m.running = "tt take"
	w.keys("m")
	if w.m.dialog != nil || !w.m.status.bad {
		t.Error("a dialog opened while a command runs")
	}
	w.m.running = ""
	w.keys("m hi")
	w.m.running = "tt take"
	w.keys("enter")
	w.wantRan()
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.m.readOnly = true
	w.keys("m enter m t a x r u h esc")
	w.wantRan()
	if w.m.dialog != nil {
		t.Error("a dialog opened")
	}
}

// Rooms come, go and change, and the cursor stays on what it was on.
func TestNothingMovesUnderTheCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	payments := w.m.room
	w.rooms = append([]look.Room{{Name: "new", View: turn.RoomView{CanonicalPath: "/a", Position: turn.Position{State: turn.StateIdle}}}}, w.rooms...)
	w.rooms[4].View.State = turn.StateOwnerGone
	w.send(changedMsg{})
	if w.m.room != payments {
		t.Errorf("%s is selected", w.m.room)
	}
	w.keys("enter")
	if w.m.detail.Name != payments {
		t.Errorf("%s is open", w.m.detail.Name)
	}
	w.keys("tab down")
	member := w.m.picked[panelMembers]
	w.detail.Members = slices.Insert(w.detail.Members, 0, aMember("a:1", time.Minute))
	w.send(changedMsg{})
	if w.m.picked[panelMembers] != member || len(w.m.detail.Members) != 7 {
		t.Errorf("%s is selected of %d", w.m.picked[panelMembers], len(w.m.detail.Members))
	}
}

func TestNextStuck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var at []string
	for range 4 {
		w.keys("!")
		at = append(at, w.m.find(w.m.room).View.CanonicalPath)
	}
	if want := []string{"/srv/build", "", home + "/src/ledger", "/srv/build"}; !slices.Equal(at, want) {
		t.Errorf("%q", at)
	}
	w.keys("enter !")
	if w.m.page != pageRooms {
		t.Error("a room that cannot be read is open")
	}
	w.keys("! enter ! ") // from the ledger to the build
	if w.m.detail == nil || w.m.detail.View.CanonicalPath != "/srv/build" {
		t.Errorf("%+v", w.m.detail)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("/ PAYM enter")
	if got := len(w.m.shown()); got != 2 {
		t.Errorf("%d rooms", got)
	}
	w.keys("esc / gone esc")
	if got := len(w.m.shown()); got != 7 {
		t.Errorf("%d rooms", got)
	}
	w.m.room = w.rooms[3].Name
	w.keys("enter / fixture enter")
	if got := len(w.m.entries()); got != 2 {
		t.Errorf("%d events", got)
	}
	w.keys("esc esc")
	if w.m.page != pageRooms {
		t.Error("the room is open")
	}
}

func TestJournalFollowsItsEndUnlessScrolled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter up up")
	if w.m.at != (position{last: 208, pick: 207}) {
		t.Fatalf("%+v", w.m.at)
	}
	w.detail.Entries = append(slices.Clone(w.detail.Entries), look.Entry{Event: anEvent(209, 0, turn.MemberLeft, "codex:8a77b001", "")})
	w.send(changedMsg{})
	if w.m.at != (position{last: 208, pick: 207}) {
		t.Errorf("%+v", w.m.at)
	}
	w.wantStatus("1 new ↓")
	w.keys("enter")
	w.wantStatus("the fixture is mine until TestEmpty passes")
	w.keys("esc end")
	if w.m.at != (position{}) {
		t.Errorf("%+v", w.m.at)
	}
	w.wantStatus("codex:8a77b001 leaves")
}

func TestQEndsFromEveryView(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"q", "enter q", "i q", "? q", "enter h q", "enter ? q", "i enter q", "/ x enter q", "enter tab enter q", "m esc q", "ctrl+c", "ctrl+d"} {
		w := newWorld(t)
		if w.keys(keys); !w.quit {
			t.Errorf("%s does not end it", keys)
		}
	}
	for _, keys := range []string{"m q", "/ q"} {
		w := newWorld(t)
		if w.keys(keys); w.quit {
			t.Errorf("%s ends it", keys)
		}
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.items[1].Room, w.items[1].Path = w.rooms[3].Name, paymentsPath
	w.keys("i down u EU enter")
	w.wantRan(run("EU", common("answer", "--stdin", "q1")...))
	w.keys("enter esc") // a question stays until it is answered
	if w.shown != nil {
		t.Errorf("shown: %v", w.shown)
	}
	w.keys("down enter")
	if len(w.shown) != 1 || w.shown[0] != w.m.items[2].Room+" "+w.m.items[2].Kind {
		t.Errorf("shown: %v", w.shown)
	}
	w.wantStatus("release notes want a number")
	w.keys("esc esc")
	if w.m.page != pageRooms {
		t.Error("the inbox is open")
	}
}

func TestPasteIsNoKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(tea.PasteMsg{Content: "q\rt\r"})
	if w.quit || w.m.dialog != nil {
		t.Error("pasted text was taken for keys")
	}
	w.keys("m")
	w.send(tea.PasteMsg{Content: "one\r\ntwo\x1b[2J"})
	w.keys("enter")
	w.wantRan(run("one\ntwo[2J", common("msg", "send", "--stdin", "room")...))
}

func TestIDsThatLookLikeFlags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.detail.Members = append(w.detail.Members, aMember("-x", time.Minute))
	w.keys("enter tab end m hi enter")
	w.wantRan(run("hi", append(common("msg", "send", "--stdin"), "--", "-x")...))
}

func TestRoomThatEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys("enter")
	w.detail.Ended, w.detail.View.State = true, turn.StateClosed
	w.rooms = slices.Delete(w.rooms, 3, 4)
	w.send(changedMsg{})
	w.wantStatus("the room has ended")
	w.keys("esc")
	if w.m.page != pageRooms || w.m.find(w.m.room) == nil {
		t.Errorf("%q is selected", w.m.room)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	c := command{argv: []string{"msg", "send", "a b", "it's", "", "--json", "$x"}}
	if got, want := c.line(), `tt msg send 'a b' 'it'\''s' '' '$x'`; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	failed := errors.New("exit status 1")
	for stderr, want := range map[string]string{
		`{"error":"x","message":"no","hint":"do"}`:        "no · do",
		"warning\n{\"error\":\"x\",\"message\":\"no\"}\n": "no",
		"panic: x": "panic: x",
		"":         "tt could not be run: exit status 1",
	} {
		if got := (result{stderr: []byte(stderr), err: failed}).refusal(); got != want {
			t.Errorf("%q: %q, not %q", stderr, got, want)
		}
	}
}

// What is typed while the editor of the user starts is not in its file.
func TestEditorHasTheTextOfTheKey(t *testing.T) {
	t.Parallel()
	f := &field{Text: edit.New("before")}
	start := new(model).editField(f)
	f.Insert(" and behind")
	msg := start().(editMsg)
	msg.done(nil).(then)()
	if f.Value() != "before" {
		t.Errorf("%q", f.Value())
	}
}

// The diff of a turn is that of tt, in full, below the commands that bring work back, ready to copy.
func TestDiffOfTurn(t *testing.T) {
	w := newWorld(t)
	w.keys("d") // of no room
	if w.m.reading != nil || len(w.ran) > 0 {
		t.Fatal("a diff is shown where no room is open")
	}
	w.keys("enter")
	w.answers = []result{{stdout: []byte("+package parse\n")}}
	w.keys("d")
	if len(w.ran) != 1 || w.ran[0].argv[0] != "diff" || w.ran[0].argv[2] != "--patch" || w.m.reading == nil {
		t.Fatalf("ran %v, reads %v", w.ran, w.m.reading)
	}
	for _, want := range []string{"+package parse", "tt undo " + w.ran[0].argv[1] + " ", "tt restore --lost "} {
		if !strings.Contains(w.m.reading.text, want) {
			t.Errorf("%q is not in %q", want, w.m.reading.text)
		}
	}
	w.keys("esc")
	w.answers = []result{{stderr: []byte(`{"error":"no_snapshot","message":"nothing is recorded"}`), err: errors.New("exit status 1")}}
	w.keys("d")
	if !strings.Contains(w.m.reading.text, "nothing is recorded") {
		t.Errorf("%q does not say why", w.m.reading.text)
	}
}
