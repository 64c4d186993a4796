package draw

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m00", 65 * time.Second: "1m05",
		59*time.Minute + 59*time.Second: "59m59", 3*time.Hour + 7*time.Minute: "3h07", 50 * time.Hour: "2d", 1000 * 24 * time.Hour: "1000d",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: %s, not %s", d, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	pen := Pen{}
	for _, c := range []struct {
		left time.Duration
		want string
	}{{0, "········"}, {time.Minute, "▊·······"}, {5 * time.Minute, "████····"}, {10 * time.Minute, "████████"}, {time.Hour, "████████"}, {-time.Hour, "········"}} {
		if got := pen.Bar(c.left, 10*time.Minute, 8); got != c.want {
			t.Errorf("%v: %s, not %s", c.left, got, c.want)
		}
	}
	if got := pen.Bar(time.Minute, 0, 3); got != "   " {
		t.Errorf("of no time: %q", got)
	}
}

func TestShort(t *testing.T) {
	for _, c := range [][3]string{{"/home/alex/src", "/home/alex", "~/src"}, {"/home/alex", "/home/alex", "~"}, {"/home/alexa", "/home/alex", "/home/alexa"}, {"/x", "", "/x"}, {"/x", "/", "/x"}} {
		if got := Short(c[0], c[1]); got != c[2] {
			t.Errorf("%s in %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
}

func TestOver(t *testing.T) {
	got := Pen{}.Over([]string{"0123456789", "日本語日本", "0123456789"}, []string{"AB", "CD", "EF"}, 1, 3, 10)
	if want := []string{"0123456789", "日 AB 日本", "012CD56789"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q", got)
	}
}

func TestWrapKeepsIndentation(t *testing.T) {
	got := Wrap("one two three\n  four five six\n\n\x1b[31m\n", 10)
	if want := "one two|three|  four|  five six||\\x1b[31m"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}

// Whatever is drawn is as wide as it is meant to be.
func TestWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pen := Pen{Colour: rapid.Bool().Draw(t, "colour"), ASCII: rapid.Bool().Draw(t, "ascii")}
		w, text := rapid.IntRange(1, 60).Draw(t, "w"), rapid.String().Draw(t, "text")
		if got := pen.Fit(pen.Text(Red, text), w); Width(got) != w {
			t.Fatalf("Fit: %d of %d: %q", Width(got), w, got)
		}
		if got := pen.Tail(Dim, text, w); Width(got) > w {
			t.Fatalf("Tail: %d of %d: %q", Width(got), w, got)
		}
		// The variation selector makes a character wider than the sum of its parts.
		for _, line := range Wrap(strings.ReplaceAll(text, "\ufe0f", ""), w+3) {
			if Width(line) > w+3 {
				t.Fatalf("Wrap: %d of %d: %q", Width(line), w, line)
			}
		}
		for _, line := range pen.Box(pen.Text(Bold, text), []string{pen.Text(Dim, text)}, w+10) {
			if Width(line) != w+10 {
				t.Fatalf("Box: %d of %d: %q", Width(line), w+10, line)
			}
		}
		if got := pen.Bar(time.Duration(rapid.Int64().Draw(t, "left")), time.Hour, w); Width(got) != w {
			t.Fatalf("Bar: %d of %d: %q", Width(got), w, got)
		}
	})
}
