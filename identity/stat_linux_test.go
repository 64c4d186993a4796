package identity

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const statTail = " 1 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 122077 5124096 938"

func TestParseStat(t *testing.T) {
	for _, name := range []string{"bash", "", "a b", "a) S 1 2 3", ")(", "x)\n(y", "((((", "claude"} {
		s, err := parseStat([]byte("4242 (" + name + ") S" + statTail))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if want := (stat{name: name, state: 'S', ppid: 1, start: 122077}); s != want {
			t.Errorf("%q: %+v", name, s)
		}
	}
}

func TestParseStatRefuses(t *testing.T) {
	for _, line := range []string{
		"", "1", "1 (x", "1 x) S", ")(", "1 (x) S 1 2",
		"1 (x) SS" + statTail,
		"1 (x) S" + strings.Replace(statTail, "122077", "-5", 1),
		"1 (x) S" + strings.Replace(statTail, "122077", "x", 1),
		"1 (x) S" + strings.Replace(statTail, " 1 2", " y 2", 1),
	} {
		if s, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q: %+v", line, s)
		}
	}
}

func TestParseStatNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOf(rapid.SampledFrom([]byte("() S19x\n"))).Draw(t, "line")
		parseStat(line)
	})
}

func TestZombieStates(t *testing.T) {
	for _, c := range []struct {
		s    stat
		want bool
	}{
		{stat{state: 'Z'}, true}, {stat{state: 'X'}, true}, {stat{state: 'x'}, true},
		{stat{state: 'S'}, false}, {stat{state: 'R'}, false}, {stat{state: 'T'}, false},
	} {
		if got := c.s.zombie(); got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
}

func TestSplitArgs(t *testing.T) {
	for line, want := range map[string]int{"": 0, "a\x00": 1, "a\x00b\x00": 2, "a\x00\x00b\x00": 3, "title": 1, "cut\x00of": 2} {
		if got := splitArgs([]byte(line)); len(got) != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestBootInstantIsNow(t *testing.T) {
	info, err := System().Inspect(1)
	if err != nil {
		t.Fatal(err)
	}
	if age := time.Since(info.StartedAt); age < 0 || age > 100*365*24*time.Hour {
		t.Errorf("process 1 started at %v", info.StartedAt)
	}
}
