package code

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n           int
		thing, want string
	}{
		{0, "event", "0 events"},
		{1, "turn", "1 turn"},
		{2, "turn", "2 turns"},
		{1, "earlier stretch", "1 earlier stretch"},
		{3, "earlier stretch", "3 earlier stretches"},
	} {
		if got := Count(c.n, c.thing); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
