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
		for state, want := range map[string]stat{"S": {}, "T": {stopped: true}, "t": {stopped: true}, "Z": {zombie: true}, "X": {zombie: true}} {
			want.start, want.parent, want.name = 122077, 1, name
			if got, err := parseStat([]byte("4242 (" + name + ") " + state + statTail)); got != want || err != nil {
				t.Errorf("%q, %s: %+v, %v", name, state, got, err)
			}
		}
	}
}

func TestParseStatRefuses(t *testing.T) {
	for _, line := range []string{
		"", "1", "1 (x", "1 x) S", ")(", "1 (x) S 1 2",
		"1 (x) S" + strings.Replace(statTail, "122077", "-5", 1),
		"1 (x) S" + strings.Replace(statTail, "122077", "x", 1),
		"1 (x) S" + strings.Replace(statTail, " 1 2", " y 2", 1),
	} {
		if got, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestParseStatNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOf(rapid.SampledFrom([]byte("() S19x\n"))).Draw(t, "line")
		parseStat(line)
	})
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
