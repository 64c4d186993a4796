package edit

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestKeys(t *testing.T) {
	for _, c := range []struct{ start, keys, want string }{
		{"", "a b backspace c", "ac"},
		{"one two", "ctrl+w x", "one x"},
		{"one two", "home delete", "ne two"},
		{"one two", "ctrl+left ctrl+k !", "one !"},
		{"one two", "ctrl+u", ""},
		{"one\ntwo", "ctrl+u left ctrl+u", "\n"},
		{"one\ntwo", "up ctrl+k", "one\ntwo"},
		{"one\ntwo", "up up home x", "xone\ntwo"},
		{"ab", "left alt+enter", "a\nb"},
		{"日本語", "left backspace", "日語"},
		{"e\u0301x", "left backspace", "x"},
		{"👨‍👩‍👧", "backspace", ""},
		{"x", "left left left delete delete", ""},
		{"one two", "home ctrl+right -", "one- two"},
	} {
		text := New(c.start)
		for _, key := range strings.Fields(c.keys) {
			if !text.Key(key, 40) {
				text.Insert(key)
			}
		}
		if got := text.Value(); got != c.want {
			t.Errorf("%q, %s: %q, not %q", c.start, c.keys, got, c.want)
		}
	}
}

func TestInsertLeavesOutWhatDoesNotPrint(t *testing.T) {
	if got := New("a\x1b[31mb\u202e\r\nc\td\x00").Value(); got != "a[31mb\nc    d" {
		t.Errorf("%q", got)
	}
}

func TestWrapsBetweenWords(t *testing.T) {
	lines, x, y := New("one two three\nfour").View(9, 5)
	if got := strings.Join(lines, "|"); got != "one two |three|four" || x != 4 || y != 2 {
		t.Errorf("%q, cursor %d,%d", got, x, y)
	}
}

// Whatever is typed, the view fits, has the cursor in it, and shows the text.
func TestViewFits(t *testing.T) {
	keys := []string{"left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "alt+enter", "alt+b", "alt+f"}
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(4, 40).Draw(t, "w"), rapid.IntRange(1, 6).Draw(t, "h")
		text := New(rapid.String().Draw(t, "start"))
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "types") {
				text.Insert(rapid.String().Draw(t, "text"))
			} else {
				text.Key(rapid.SampledFrom(keys).Draw(t, "key"), w)
			}
		}
		lines, x, y := text.View(w, h)
		if len(lines) > h || y < 0 || y >= len(lines) || x < 0 || x >= w {
			t.Fatalf("%d lines of %d, cursor %d,%d of %d columns", len(lines), h, x, y, w)
		}
		for _, line := range lines {
			if n := ansi.StringWidth(line); n > w {
				t.Fatalf("%d columns of %d: %q", n, w, line)
			}
		}
		all, _, _ := text.View(w, 1<<20)
		if got := strings.Join(all, ""); got != strings.ReplaceAll(text.Value(), "\n", "") {
			t.Fatalf("%q shows %q", text.Value(), got)
		}
	})
}
