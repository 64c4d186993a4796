package console

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestScreenWritesWhatDiffers(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &screen{to: &out}
	wrote := func(what, want string) {
		t.Helper()
		if got := out.String(); got != want {
			t.Errorf("%s: %q, not %q", what, got, want)
		}
		out.Reset()
	}
	const hide = "\x1b[?25l"
	s.leave()
	wrote("leave before the first frame", "")
	s.show([]string{"one  ", "two  "}, nil)
	wrote("the first frame", hide+enterScreen+"\x1b[1;1Hone\x1b[K\x1b[2;1Htwo\x1b[K"+hide)
	s.show([]string{"one  ", "two  "}, nil)
	wrote("the same", "")
	s.show([]string{"one  ", "three"}, nil)
	wrote("another line", hide+"\x1b[2;1Hthree"+hide)
	s.show([]string{"one  ", "three"}, tea.NewCursor(2, 0))
	wrote("a cursor", hide+"\x1b[1;3H\x1b[?25h")
	s.show([]string{"one   ", "three "}, tea.NewCursor(2, 0))
	wrote("another width", hide+"\x1b[2J\x1b[1;1Hone\x1b[K\x1b[2;1Hthree\x1b[K\x1b[1;3H\x1b[?25h")
	s.leave()
	wrote("leave", leaveScreen)
	s.leave()
	wrote("leave again", "")
	s.show([]string{"one", "two"}, nil)
	if got := out.String(); !strings.Contains(got, enterScreen) || !strings.Contains(got, "two") {
		t.Errorf("after an editor: %q", got)
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errors.New("gone") }

// A terminal that is gone is not written to again.
func TestScreenThatIsGone(t *testing.T) {
	t.Parallel()
	to := new(broken)
	s := &screen{to: to}
	s.show([]string{"a"}, nil)
	s.show([]string{"b"}, nil)
	s.leave()
	if to.writes != 1 {
		t.Errorf("%d writes", to.writes)
	}
}
