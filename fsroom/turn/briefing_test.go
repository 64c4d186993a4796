package turn_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// notesOf returns a room with notes, oldest first, each "author" or "author>target".
func notesOf(list ...string) *turn.State {
	st := turn.New("r")
	for i, by := range list {
		author, target, _ := strings.Cut(by, ">")
		st.Notes = append(st.Notes, turn.Note{ID: fmt.Sprint("n", i+1), Seq: int64(10 * (i + 1)), Author: author, Target: target})
	}
	return st
}

func TestUnreadNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  int64
		want  int64
	}{
		{"none", nil, 0, 0},
		{"by another", []string{"b"}, 0, 1},
		{"one's own", []string{"a", "a>b"}, 0, 0},
		{"for the agent", []string{"b>a"}, 0, 1},
		{"for another", []string{"b>c", "b"}, 0, 1},
		{"seen", []string{"b", "b", "b"}, 20, 1},
		{"all seen", []string{"b", "b"}, 20, 0},
	} {
		if got := notesOf(c.notes...).UnreadNotes("a", c.seen); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// The seen notes end before the first one for the agent that was not shown.
func TestNotesSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  int64
		shown []int64
		want  int64
	}{
		{"nothing shown", []string{"b"}, 0, nil, 0},
		{"all shown", []string{"b", "b"}, 0, []int64{10, 20}, 20},
		{"the first is missing", []string{"b", "b"}, 0, []int64{20}, 0},
		{"one in the middle is missing", []string{"b", "b", "b"}, 0, []int64{10, 30}, 10},
		{"one of another agent is missing", []string{"b", "b>c", "a", "b"}, 0, []int64{10, 40}, 40},
		{"already seen ones are missing", []string{"b", "b"}, 10, []int64{20}, 20},
		{"never backwards", []string{"b"}, 50, []int64{10}, 50},
	} {
		got := notesOf(c.notes...).NotesSeen("a", c.seen, func(seq int64) bool { return slices.Contains(c.shown, seq) })
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Unread notes come before others, and no more than five are shown.
func TestBriefNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  int64
		want  []string
	}{
		{"none", nil, 0, nil},
		{"unread, then the newest others", []string{"b", "a", "b>c", "b"}, 10, []string{"n4", "n3", "n2", "n1"}},
		{"the oldest unread ones", []string{"b", "b", "b", "b", "b", "b", "b"}, 10, []string{"n2", "n3", "n4", "n5", "n6"}},
		{"all seen", []string{"b", "b", "b", "b", "b", "b"}, 60, []string{"n6", "n5", "n4", "n3", "n2"}},
	} {
		var got []string
		for _, n := range notesOf(c.notes...).BriefNotes("a", c.seen) {
			got = append(got, n.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFitNotes(t *testing.T) {
	long, id := strings.Repeat("x", turn.MaxNote), strings.Repeat("\"", 128)
	for _, c := range []struct {
		name   string
		author string
		bodies []string
		want   int // notes
		cut    int
	}{
		{"none", "b", nil, 0, 0},
		{"short ones", "b", []string{"1", "2", "3", "4", "5"}, 5, 0},
		{"one that is too long", "b", []string{long}, 1, 1},
		{"a long one takes what short ones leave", "b", []string{"1", strings.Repeat("x", 1500), "3"}, 3, 0},
		{"all too long", "b", []string{long, long, long, long, long}, 5, 5},
		{"escapes", "b", []string{strings.Repeat("\x1b\"", 3000), strings.Repeat("\u2028é", 2000)}, 2, 2},
		{"long ids", id, []string{long, long, long, long, long}, 2, 2},
	} {
		var notes []turn.BriefNote
		for i, body := range c.bodies {
			n := turn.Note{ID: "316a7b6f-9f02-4d27-ac77-a2e3ab99078d", Seq: int64(100 - i), Author: c.author, Target: c.author, Severity: turn.SeverityInfo}
			notes = append(notes, turn.BriefNote{Note: n, Body: body})
		}
		fitted := turn.FitNotes(notes)
		b := turn.WaitResult{Briefing: turn.Briefing{Notes: fitted}}
		var doc struct{ Notes json.RawMessage }
		if err := json.Unmarshal(wire.Append(nil, &b), &doc); err != nil || len(doc.Notes) > 2048 {
			t.Errorf("%s: %d bytes, %v", c.name, len(doc.Notes), err)
		}
		cut := 0
		for i, n := range fitted {
			if i > 0 && n.Seq < fitted[i-1].Seq {
				t.Errorf("%s: not oldest first", c.name)
			}
			if n.Truncated {
				cut++
			}
			if n.Truncated != strings.HasSuffix(n.Body, "…") || !utf8.ValidString(n.Body) {
				t.Errorf("%s: truncated is %v for %q", c.name, n.Truncated, n.Body)
			}
		}
		if len(fitted) != c.want || cut != c.cut {
			t.Errorf("%s: %d notes, %d of them cut, want %d and %d", c.name, len(fitted), cut, c.want, c.cut)
		}
	}
}

func TestMissedList(t *testing.T) {
	joined := func(agent string) event.Event { return event.Event{Type: turn.MemberJoined, From: agent} }
	claim := func(n int64, agent string) event.Event { return event.Event{Type: turn.Claim, Turn: n, To: agent} }
	release := func(n int64, agent string) event.Event {
		h := fmt.Sprintf(`{"status":"did %d\nand more","next_action":"n"}`, n)
		return event.Event{Type: turn.Released, Turn: n, From: agent, Handoff: json.RawMessage(h)}
	}
	many := []event.Event{claim(1, "a")}
	for n := int64(2); n < 20; n++ {
		many = append(many, claim(n, "b"), release(n, "b"))
	}
	for _, c := range []struct {
		name   string
		events []event.Event
		except int64
		want   string
		found  bool
	}{
		{"nothing", nil, 0, "", false},
		{"since the last turn", []event.Event{release(1, "b"), claim(2, "a"), release(2, "a"), claim(3, "b"), release(3, "b")}, 0, "3 b did 3;", true},
		{"but the one that comes", []event.Event{claim(1, "a"), release(1, "a"), claim(2, "b"), release(2, "b"), claim(3, "c"), release(3, "c")}, 6, "2 b did 2;", true},
		{"since joining", []event.Event{release(1, "b"), joined("a"), release(2, "b"), joined("c"), release(3, "c")}, 5, "2 b did 2;", true},
		{"the last ten", many, 37, "9 b did 9;10 b did 10;11 b did 11;12 b did 12;13 b did 13;14 b did 14;15 b did 15;16 b did 16;17 b did 17;18 b did 18;", true},
	} {
		l := turn.MissedList{Agent: "a", Except: c.except}
		for i, e := range c.events {
			e.Seq = int64(i + 1)
			l.Add(&e)
		}
		got := ""
		for _, h := range l.List() {
			got += fmt.Sprintf("%d %s %s;", h.TurnID, h.Agent, h.Status)
		}
		if got != c.want || l.Found != c.found {
			t.Errorf("%s: %s (found %v)\nwant %s", c.name, got, l.Found, c.want)
		}
	}
}

func TestMayHaveMissed(t *testing.T) {
	for _, c := range []struct {
		name        string
		seq         int64
		owner       string
		a, b        int64 // the events of the last grants
		former      int64
		after, upTo int64
	}{
		{"no turn of another", 50, "", 0, 0, 0, 0, 0},
		{"one turn of another", 13, "", 10, 12, 0, 0, 0},
		{"something in between", 40, "", 10, 12, 0, 10, 40},
		{"a turn of a former member", 40, "", 10, 0, 20, 10, 40},
		{"other turns are older", 40, "", 30, 12, 20, 0, 0},
		{"never held", 40, "", 0, 12, 0, 0, 40},
		{"in its turn", 40, "a", 30, 12, 0, 0, 29},
	} {
		st := turn.New("r")
		st.Seq, st.Owner = c.seq, c.owner
		st.Members = []turn.Member{{AgentID: "a", LastHeld: c.a}, {AgentID: "b", LastHeld: c.b}}
		st.Former = []turn.Former{{AgentID: "c", LastHeld: c.former}}
		if after, upTo := st.MayHaveMissed("a"); after != c.after || upTo != c.upTo {
			t.Errorf("%s: %d to %d, want %d to %d", c.name, after, upTo, c.after, c.upTo)
		}
		if after, upTo := st.MayHaveMissed("nobody"); after != 0 || upTo != 0 {
			t.Errorf("%s: no member: %d to %d", c.name, after, upTo)
		}
	}
}
