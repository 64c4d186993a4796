package console

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestEveryEventHasWords: no type of event is shown by its raw name.
func TestEveryEventHasWords(t *testing.T) {
	m := &model{me: me}
	for _, name := range turn.EventTypes() {
		e := look.NewEntry(event.Event{Seq: 7, Turn: 3, Type: name, From: "a:1", To: "b:1",
			Payload: []byte(`{"span":"turn","turn_id":3,"files":5,"paths":[{"path":"a"},{"path":"d/b"},{"path":"c"},{"path":"e"}],"lost_from":5,"lost_to":6,"state":{"owner":"x:1"}}`)})
		words := m.told(&e).word
		if words == "" || strings.Contains(words, name+" ") || strings.Contains(name, "_") && strings.Contains(words, name) {
			t.Errorf("%s: %q", name, words)
		}
		if name == turn.TreeChanged && words != "turn 3 of a:1: 5 files changed (a, d/b, c, and 2 more)" {
			t.Errorf("%s: %q", name, words)
		}
		if strings.Contains(string(e.Payload), "x:1") && name == turn.JournalDamaged {
			t.Errorf("%s has the state of the room", name)
		}
	}
}

// TestProcessOfMember: the guardian of a turn is not said to be the process of its agent.
func TestProcessOfMember(t *testing.T) {
	m := sampleRoom(120, 40)
	x := &look.Member{MemberView: turn.MemberView{AgentID: "a:1", Process: turn.Alive}, PID: 7}
	for guardian, want := range map[bool]string{false: "process   alive, pid 7\n", true: "process   none known; its guardian is alive, pid 7\n"} {
		if x.Guardian = guardian; !strings.Contains(m.memberText(x)+"\n", want) {
			t.Errorf("not %q in %q", want, m.memberText(x))
		}
	}
}
