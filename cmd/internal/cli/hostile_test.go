package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var million = strings.Repeat("x", 1<<20)

// hostile are arguments nobody types and somebody sends.
var hostile = []string{
	"", " ", "-", "--", "---", "--=", "-=", "=", "--=x", "-\x00", "\x00", "--\x00", "--json\x00", "--json=\x00", "\xff\xfe", "-\xff", "--\xff=\xff",
	"--reason=\xff", "\x1b[2J", "--\x1b[2J", "\u202e", "-\u202e", "--agent", "--agent=\n", "\r\n", "é", "-é", "--é", million,
	"--" + million, "-" + million, "--reason=" + million, "--speed=" + million, strings.Repeat("-", 1000), "%s%n", "--%d", "throw throw",
}

func TestHostileArguments(t *testing.T) {
	for _, arg := range hostile {
		for _, line := range [][]string{{arg}, {"throw", arg}, {arg, "throw"}, {"throw", "anna", arg}, {"shout", arg, "send"}, {"help", arg}, {"throw", "anna", "--reason", arg}, {"throw", "anna", "--hand", arg}} {
			checkSpeech(t, play(t, line...), false)
			checkSpeech(t, play(t, slices.Concat([]string{"--json"}, line)...), true)
		}
	}
}

// checkSpeech holds what was said on standard error to the rules.
func checkSpeech(t interface{ Errorf(string, ...any) }, p played, asJSON bool) {
	if p.status != 0 && p.status != 1 && p.status != 2 {
		t.Errorf("status %d", p.status)
	}
	if (p.status == 0) != (p.stderr == "") {
		t.Errorf("status %d with stderr %.200q", p.status, p.stderr)
	}
	if len(p.stderr) > 2000 {
		t.Errorf("%d bytes of error: %.200q", len(p.stderr), p.stderr)
	}
	for _, r := range p.stderr {
		if r != '\n' && !visible(r) {
			t.Errorf("%U reaches the terminal: %.200q", r, p.stderr)
		}
	}
	var object map[string]any
	if asJSON && p.status != 0 && (json.Unmarshal([]byte(p.stderr), &object) != nil || strings.Count(p.stderr, "\n") != 1) {
		t.Errorf("no JSON on one line: %.200q", p.stderr)
	}
}

// someArgument is one of the toy's own words, something like them, or anything.
func someArgument() *rapid.Generator[string] {
	known := []string{
		"throw", "toss", "shout", "send", "hear", "score", "points", "now", "help", "version", "anna", "/field", "--reason", "--reason=x", "--note",
		"--high", "--speed", "--speed=3", "7", "--timeout", "2m", "--hand", "left", "--json", "--text", "--agent", "-v", "--", "-", "-hv", "--version", "--loud",
	}
	return rapid.OneOf(rapid.SampledFrom(known), rapid.SampledFrom(known), rapid.SampledFrom(hostile), rapid.String())
}

func TestAnyLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(someArgument(), 0, 8).Draw(t, "args")
		p := playIn(nil, &Env{Args: args})
		checkSpeech(t, p, wanted(args))
		if len(p.calls) > 1 {
			t.Errorf("%d commands ran", len(p.calls))
		}
	})
}

// wanted reports whether the line asks for JSON.
func wanted(args []string) bool {
	p := toy(func(*Invocation) {})
	found := p.locate(protect(args))
	call, _ := p.parse(p.reader(found), found.args)
	return call.Bool("json")
}

// TestHelpRunsNothing, wherever it stands among the flags.
func TestHelpRunsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(someArgument(), 0, 8).Draw(t, "args")
		at := rapid.IntRange(0, len(beforeTerminator(args))).Draw(t, "at")
		args = slices.Insert(args, at, rapid.SampledFrom([]string{"--help", "-h", "-vh"}).Draw(t, "help"))
		if p := playIn(nil, &Env{Args: args}); len(p.calls) > 0 {
			t.Errorf("ran %s", p.calls[0].Cmd.Name)
		}
	})
}

// TestUnknownFlagRunsNothing: nor does a flag that no command has.
func TestUnknownFlagRunsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(someArgument(), 0, 8).Draw(t, "args")
		at := rapid.IntRange(0, len(beforeTerminator(args))).Draw(t, "at")
		args = slices.Insert(args, at, rapid.SampledFrom([]string{"--zzz", "--zzz=1", "-z", "-vz", "-z=1"}).Draw(t, "flag"))
		p := playIn(nil, &Env{Args: args})
		if len(p.calls) > 0 {
			t.Errorf("ran %s", p.calls[0].Cmd.Name)
		}
	})
}

func TestVisible(t *testing.T) {
	tests := []struct{ in, line, block string }{
		{"plain ~text", "plain ~text", "plain ~text"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"a\r\nb\n\tc\rd", `a\r\nb\n\tc\rd`, "a\nb\n\tc\\rd"},
		{"\x00\x07\x7f", `\x00\a\x7f`, `\x00\a\x7f`},
		{"\u009b31m", `\u009b31m`, `\u009b31m`},
		{"abc\u202edcba\u2066x\u2069", `abc\u202edcba\u2066x\u2069`, `abc\u202edcba\u2066x\u2069`},
		{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`, `zero\u200bwidth\ufeff`},
		{"\U000e0041\U000e0100", `\U000e0041\U000e0100`, `\U000e0041\U000e0100`},
		{"\u2028\u2029", `\u2028\u2029`, `\u2028\u2029`},
		{"\xff\xc3(", `\xff\xc3(`, `\xff\xc3(`},
		{"größer 日本\u3000語 مرحبا 👩\u200d🚀 ❤\ufe0f", "größer 日本\u3000語 مرحبا 👩\u200d🚀 ❤\ufe0f", "größer 日本\u3000語 مرحبا 👩\u200d🚀 ❤\ufe0f"},
	}
	for _, test := range tests {
		if got := Line(test.in); got != test.line {
			t.Errorf("Line(%q) = %q, want %q", test.in, got, test.line)
		}
		if got := Block(test.in); got != test.block {
			t.Errorf("Block(%q) = %q, want %q", test.in, got, test.block)
		}
	}
}

func TestVisibleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		line := Line(s)
		if Line(line) != line || !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !visible(r) }) {
			t.Errorf("Line gives %q", line)
		}
		if strings.ContainsAny(Block(s), "\r\x1b\x00") {
			t.Errorf("Block gives %q", Block(s))
		}
	})
}

// TestJSONIsVisibleAndFaithful: nothing raw reaches a terminal, and what is read
// back is what was given.
func TestJSONIsVisibleAndFaithful(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\u009b\x7f", "\u202e\U000e0041", "</script>&\u2028"})).Draw(t, "text")
		document := marshal(map[string]any{"a": want, "raw": json.RawMessage(`"` + "\u009b" + `"`)}, rapid.Bool().Draw(t, "indented"))
		if strings.ContainsFunc(string(document), func(r rune) bool { return r != '\n' && !visible(r) }) {
			t.Errorf("raw: %q", document)
		}
		var got map[string]string
		if err := json.Unmarshal(document, &got); err != nil || got["a"] != strings.ToValidUTF8(want, "\ufffd") || got["raw"] != "\u009b" {
			t.Errorf("%q: %v, got %q", document, err, got)
		}
	})
}

// beforeTerminator returns the arguments that can be flags.
func beforeTerminator(args []string) []string {
	if end := slices.Index(args, "--"); end >= 0 {
		return args[:end]
	}
	return args
}
