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
		by, page := strings.CutSuffix(by, "!")
		author, target, _ := strings.Cut(by, ">")
		n := turn.Note{ID: fmt.Sprint("n", i+1), Seq: int64(10 * (i + 1)), Author: author, Target: target, Severity: turn.SeverityInfo}
		if page {
			n.Severity = turn.SeverityPage
		}
		st.Notes = append(st.Notes, n)
	}
	return st
}

func TestUnreadNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  turn.SeenNotes
		want  int64
		pages int64
	}{
		{"none", nil, turn.SeenNotes{}, 0, 0},
		{"by another", []string{"b"}, turn.SeenNotes{}, 1, 0},
		{"one's own", []string{"a", "a>b", "a!"}, turn.SeenNotes{}, 0, 0},
		{"for the agent", []string{"b>a"}, turn.SeenNotes{}, 1, 0},
		{"for another", []string{"b>c", "b", "b>c!"}, turn.SeenNotes{}, 1, 0},
		{"seen", []string{"b", "b", "b"}, turn.SeenNotes{Notes: 20}, 1, 0},
		{"all seen", []string{"b", "b"}, turn.SeenNotes{Notes: 20}, 0, 0},
		{"a page is counted apart", []string{"b", "b!", "b>a!"}, turn.SeenNotes{}, 1, 2},
		{"a page after notes that were seen", []string{"b", "b!", "b"}, turn.SeenNotes{Notes: 30}, 0, 1},
		{"a page before notes that were not", []string{"b", "b!", "b"}, turn.SeenNotes{Pages: 20}, 2, 0},
	} {
		if got, pages := notesOf(c.notes...).UnreadNotes("a", c.seen); got != c.want || pages != c.pages {
			t.Errorf("%s: %d and %d pages, want %d and %d", c.name, got, pages, c.want, c.pages)
		}
	}
}

// The seen notes end before the first one for the agent that was not shown.
func TestNotesSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  turn.SeenNotes
		shown []int64
		want  turn.SeenNotes
	}{
		{"nothing shown", []string{"b"}, turn.SeenNotes{}, nil, turn.SeenNotes{}},
		{"all shown", []string{"b", "b"}, turn.SeenNotes{}, []int64{10, 20}, turn.SeenNotes{Notes: 20}},
		{"the first is missing", []string{"b", "b"}, turn.SeenNotes{}, []int64{20}, turn.SeenNotes{}},
		{"one in the middle is missing", []string{"b", "b", "b"}, turn.SeenNotes{}, []int64{10, 30}, turn.SeenNotes{Notes: 10}},
		{"one of another agent is missing", []string{"b", "b>c", "a", "b"}, turn.SeenNotes{}, []int64{10, 40}, turn.SeenNotes{Notes: 40}},
		{"already seen ones are missing", []string{"b", "b"}, turn.SeenNotes{Notes: 10}, []int64{20}, turn.SeenNotes{Notes: 20}},
		{"never backwards", []string{"b"}, turn.SeenNotes{Notes: 50}, []int64{10}, turn.SeenNotes{Notes: 50}},
		{"a page alone", []string{"b", "b!", "b"}, turn.SeenNotes{}, []int64{20}, turn.SeenNotes{Pages: 20}},
		{"a page is missing", []string{"b", "b!", "b"}, turn.SeenNotes{}, []int64{10, 30}, turn.SeenNotes{Notes: 30}},
		{"one of two pages", []string{"b!", "b", "b!"}, turn.SeenNotes{}, []int64{20, 30}, turn.SeenNotes{Notes: 20}},
	} {
		got := notesOf(c.notes...).NotesSeen("a", c.seen, func(n *turn.Note) bool { return slices.Contains(c.shown, n.Seq) })
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Pages come before others, and what was not shown before what was. No more than five are
// shown.
func TestBriefNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []string
		seen  turn.SeenNotes
		want  []string
	}{
		{"none", nil, turn.SeenNotes{}, nil},
		{"unread, then the oldest", []string{"b", "a", "b>c", "b"}, turn.SeenNotes{Notes: 10}, []string{"n4", "n1", "n2", "n3"}},
		{"the oldest unread ones", []string{"b", "b", "b", "b", "b", "b", "b"}, turn.SeenNotes{Notes: 10}, []string{"n2", "n3", "n4", "n5", "n6"}},
		{"all seen", []string{"b", "b", "b", "b", "b", "b"}, turn.SeenNotes{Notes: 60}, []string{"n1", "n2", "n3", "n4", "n5"}},
		{"a new page of many", []string{"b", "b", "b", "b", "b", "b", "b!"}, turn.SeenNotes{}, []string{"n7", "n1", "n2", "n3", "n4"}},
		{"a page that was seen", []string{"b", "b!", "b"}, turn.SeenNotes{Pages: 20}, []string{"n2", "n1", "n3"}},
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
			notes = append(notes, turn.BriefNote{ID: n.ID, Author: n.Author, Target: n.Target, Severity: n.Severity, Body: body})
		}
		fitted := turn.FitNotes(notes)
		b := turn.WaitResult{Briefing: turn.Briefing{Notes: fitted}}
		var doc struct{ Notes json.RawMessage }
		if err := json.Unmarshal(wire.Append(nil, &b), &doc); err != nil || len(doc.Notes) > 2048 {
			t.Errorf("%s: %d bytes, %v", c.name, len(doc.Notes), err)
		}
		cut := 0
		for i, n := range fitted {
			if n.Seq != notes[i].Seq {
				t.Errorf("%s: in another order", c.name)
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
		h := fmt.Sprintf(`{"status":"did %d","next_action":"n"}`, n)
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

// What was missed has 400 characters, cut at a word.
func TestMissedStatusIsCut(t *testing.T) {
	word := strings.Repeat("é", 9) + " " // ten characters
	for _, c := range []struct{ name, status, want string }{
		{"short", "did it\n\nin 0a1b2c3\n", "did it\n\nin 0a1b2c3"},
		{"as long as may be", strings.Repeat("x", 400), strings.Repeat("x", 400)},
		{"at a word", strings.Repeat(word, 39) + "abcdef 0123456789", strings.Repeat(word, 39) + "abcdef…"},
		{"between words", strings.Repeat(word, 50), strings.TrimSuffix(strings.Repeat(word, 40), " ") + "…"},
		{"one word", strings.Repeat("x", 500), strings.Repeat("x", 400) + "…"},
	} {
		handoff, err := json.Marshal(map[string]string{"status": c.status, "next_action": "go on"})
		if err != nil {
			t.Fatal(err)
		}
		l := turn.MissedList{Agent: "a"}
		l.Add(&event.Event{Seq: 1, Type: turn.Released, From: "b", Handoff: handoff})
		if got := l.List()[0].Status; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
