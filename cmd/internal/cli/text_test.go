package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"pgregory.net/rapid"
)

type colour string

// TestTextIsSafe: whatever comes in as an argument is made visible, and only the
// program's own markup is not.
func TestTextIsSafe(t *testing.T) {
	const bad = "\x1b[2J"
	var table Table
	table.Row(bad, 1)
	text := &Text{Style: Style{true}}
	text.Line("%s %v %s %v %v %d", bad, errors.New(bad), colour(bad), []string{bad}, struct{ S string }{bad}, 3)
	text.Line("%s", text.Red(bad))
	text.Block("> ", bad)
	text.Patch("+" + bad + "\r" + bad)
	text.Wrapped("", bad)
	text.Table(&table)
	got := text.String()
	if strings.Contains(got, bad) || strings.Count(got, `\x1b[2J`) != 11 {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(got, "\x1b[31m\\x1b[2J\x1b[0m\n") {
		t.Errorf("no markup in %q", got)
	}
}

func TestTextLayout(t *testing.T) {
	text := &Text{Now: noon, Width: 20}
	text.Line("%s ago %s", "a\nb", text.Ago(noon.Add(-time.Minute)))
	text.Blank()
	text.Block("  | ", "one\r\n\ntwo\tx\n\n")
	text.Patch(" \n+ \t\r\n-x")
	text.Wrapped("  ", "a paragraph of some words\n\n  kept   as it is, however long\n\nlast")
	const want = "a\\nb ago 1m ago\n\n  | one\n  |\n  | two\tx\n \n+ \t\r\n-x\n" +
		"  a paragraph of\n  some words\n\n    kept   as it is, however long\n\n  last\n"
	if text.String() != want {
		t.Errorf("got\n%q, want\n%q", text.String(), want)
	}
}

// TestTable aligns by what is seen, not by bytes.
func TestTable(t *testing.T) {
	style := Style{true}
	var table Table
	table.Row("ID", "STATE", "WHO")
	table.Row("日本", style.Green("ok"), "")
	table.Row("é", 12345678, "e\u0301nd")
	text := &Text{}
	text.Table(&table)
	const want = "ID    STATE     WHO\n日本  \x1b[32mok\x1b[0m\né     12345678  e\u0301nd\n"
	if text.String() != want {
		t.Errorf("got\n%q, want\n%q", text.String(), want)
	}
}

func TestWrapKeepsWordsAndWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé]{1,12}`)).Draw(t, "words")
		width := rapid.IntRange(5, 40).Draw(t, "width")
		lines := wrap(strings.Join(words, " "), width)
		if strings.Join(lines, " ") != strings.Join(words, " ") {
			t.Errorf("words got lost: %q", lines)
		}
		for _, line := range lines {
			if columnsOf(line) > width && strings.Contains(line, " ") {
				t.Errorf("too wide for %d: %q", width, line)
			}
		}
	})
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "12345678": "12345678", "123456789": "123456 …", "日本語日": "日本語日", "日本語日本": "日本語 …", "one two three": "one tw …", "a日本語日": "a日本 …",
	} {
		if got := Cut(text, 8); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestRelative(t *testing.T) {
	tests := []struct {
		ago  time.Duration
		want string
	}{
		{0, "just now"}, {4 * time.Second, "just now"}, {5 * time.Second, "5s ago"}, {30 * time.Second, "30s ago"},
		{59*time.Second + 999*time.Millisecond, "59s ago"}, {time.Minute, "1m ago"}, {13*time.Minute + 59*time.Second, "13m ago"},
		{time.Hour, "1h ago"}, {3 * time.Hour, "3h ago"}, {47 * time.Hour, "47h ago"}, {48 * time.Hour, "2d ago"}, {80 * time.Hour, "3d ago"},
		{-time.Millisecond, "in 1s"}, {-14*time.Minute - time.Second, "in 14m"}, {-50 * time.Hour, "in 2d"},
	}
	for _, test := range tests {
		if got := Relative(noon.Add(-test.ago), noon); got != test.want {
			t.Errorf("%v: got %q, want %q", test.ago, got, test.want)
		}
	}
	if got := Relative(time.Time{}, noon); got != "—" {
		t.Errorf("zero: got %q", got)
	}
}

func TestDurations(t *testing.T) {
	for in, want := range map[string]string{
		"110s": "1m50s", "110": "1m50s", "2m": "2m", "45m": "45m", "1h30m": "1h30m", "60m": "1h", "0": "0s", "0.5": "500ms", "250ms": "250ms",
		"1h0m5s": "1h0m5s", "10m": "10m", "100h": "100h", "1m0.4s": "1m", "10h10m": "10h10m",
	} {
		d, err := ParseDuration(in)
		if err != nil || Duration(d) != want {
			t.Errorf("%s: got %s, %v, want %s", in, Duration(d), err, want)
		}
	}
	for _, bad := range []string{"", "-1", "-1s", "x", "h", "99999999h", "5 m", " 5", "1d", "1.2.3", ".", "1e3", "0x10", "9999999999999999999", "∞", "5s\n", "NaN"} {
		if d, err := ParseDuration(bad); err == nil {
			t.Errorf("%q: got %s", bad, d)
		}
	}
}

func TestDurationReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(0, 1e8).Draw(t, "seconds")
		want := time.Duration(seconds) * time.Second
		if got, err := ParseDuration(Duration(want)); err != nil || got != want {
			t.Errorf("%s: got %s, %v", Duration(want), got, err)
		}
	})
}

func TestNearest(t *testing.T) {
	candidates := []string{"state", "status", "take", "takeover", "wait", "release", "json", "msg send"}
	for word, want := range map[string]string{
		"stat": "state status", "sta": "state status", "staus": "status", "WAIT": "wait", "wiat": "wait", "tak": "take takeover", "take": "take takeover", "takeov": "takeover",
		"realese": "release", "rel": "release", "jsn": "json", "msg-send": "msg send", "msgsend": "msg send",
		"": "", "x": "", "xyz": "", "w": "", "completely": "", strings.Repeat("state", 20): "",
	} {
		if got := strings.Join(Nearest(word, candidates), " "); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestMistakesIsADistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{0,6}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		n := code.Mistakes(a, b)
		if n != code.Mistakes(b, a) || (n == 0) != (a == b) || n > max(len(a), len(b)) || n < max(len(a)-len(b), len(b)-len(a)) {
			t.Errorf("mistakes(%q, %q) = %d", a, b, n)
		}
	})
}

// On a terminal no line is wider than it, whatever writes it; elsewhere a line stays one.
func TestTextFitsTerminal(t *testing.T) {
	long := strings.Repeat("word ", 40)
	write := func(terminal bool) string {
		text := &Text{Style: Style{terminal}, Width: 80, Terminal: terminal}
		text.Line("Next    %s", text.Bold(long))
		text.Line("  %s %s", text.Red("!"), long)
		text.Block("    ", "  "+long+"\nshort")
		var table Table
		table.Row("key", text.Dim("turn 1"), long)
		table.Row(strings.Repeat("k", 50), "turn 2", long)
		text.Table(&table)
		return text.String()
	}
	for line := range strings.Lines(write(true)) {
		if n := columnsOf(Styled(strings.TrimSuffix(line, "\n")).plain()); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if lines := strings.Split(write(true), "\n"); !strings.HasPrefix(lines[1], "        word") {
		t.Errorf("what goes on does not stand below its column: %q", lines[1])
	}
	if n := strings.Count(write(false), "\n"); n != 6 {
		t.Errorf("off a terminal there are %d lines", n)
	}
}
