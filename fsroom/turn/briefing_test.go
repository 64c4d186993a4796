package turn_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

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
	}{
		{"nothing", nil, 0, ""},
		{"since the last turn", []event.Event{release(1, "b"), claim(2, "a"), release(2, "a"), claim(3, "b"), release(3, "b")}, 0, "3 b did 3;"},
		{"but the one that comes", []event.Event{claim(1, "a"), release(1, "a"), claim(2, "b"), release(2, "b"), claim(3, "c"), release(3, "c")}, 6, "2 b did 2;"},
		{"since joining", []event.Event{release(1, "b"), joined("a"), release(2, "b"), joined("c"), release(3, "c")}, 5, "2 b did 2;"},
		{"the last ten", many, 37, "9 b did 9;10 b did 10;11 b did 11;12 b did 12;13 b did 13;14 b did 14;15 b did 15;16 b did 16;17 b did 17;18 b did 18;"},
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
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestMayHaveMissed: what comes after the agent's last turn, which is the one before while it has the turn.
func TestMayHaveMissed(t *testing.T) {
	for _, c := range []struct {
		agent, owner      string
		held, after, upTo int64
	}{
		{"a", "", 10, 10, 40},
		{"a", "b", 0, 0, 40},
		{"a", "a", 30, 0, 29},
		{"nobody", "", 10, 0, 0},
	} {
		st := turn.New("r")
		st.Seq, st.Owner, st.Members = 40, c.owner, []turn.Member{{AgentID: "a", LastHeld: c.held}}
		if after, upTo := st.MayHaveMissed(c.agent); after != c.after || upTo != c.upTo {
			t.Errorf("%+v: %d to %d", c, after, upTo)
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
