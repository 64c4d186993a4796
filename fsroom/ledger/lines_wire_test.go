package ledger

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestLines reads the lines of a store as they have always been, and writes them the same.
func TestLines(t *testing.T) {
	t.Parallel()
	id := func(b byte) (id ID) { id[0] = b; return id }
	const zeros = "00000000000000000000000000000000000000"
	tests := []struct {
		line string
		want Snapshot
	}{
		{`{"snapshot":9,"at_ns":5,"end_ns":7,"why":"end","turn_id":4,"agent_id":"a:1","tree":"01` + zeros + `","scan":"02` + zeros +
			`","ignored":"03` + zeros + `","head":{"commit":"c000000000000000000000000000000000000000","branch":"main"},"files":2,"perm":[420,493],"modes":{"a \"b\"":384},` +
			`"left_out":[{"path":"big","why":"large"},{"why":"too_many","files":3}],"unsure":["é"],"note":"n","boot":"b"}`,
			Snapshot{Number: 9, At: 5, End: 7, Why: WhyEnd, Turn: 4, Agent: "a:1", Tree: id(1), Scan: id(2), Ignored: id(3),
				Head: Head{ID{0xc0}, "main"}, Files: 2, Perm: [2]uint32{0o644, 0o755}, Modes: modes{`a "b"`: 0o600},
				LeftOut: []LeftOut{{Path: "big", Why: "large"}, {Why: "too_many", Files: 3}}, Unsure: []string{"é"}, Note: "n", Boot: "b"}},
		{`{"snapshot":1,"at_ns":0,"end_ns":0,"why":"","tree":"","scan":"","ignored":"","head":{},"files":0,"perm":[0,0]}`, Snapshot{Number: 1}},
	}
	for _, tt := range tests {
		l := New(t.TempDir(), Options{})
		if err := l.appendLine(&tt.want); err != nil {
			t.Fatal(err)
		}
		if err := l.appendLine(&tt.want); err != nil {
			t.Fatal(err)
		}
		all, err := l.Lines()
		if err != nil || len(all) == 0 || !reflect.DeepEqual(*all[len(all)-1], tt.want) {
			t.Errorf("%v, %+v, want %+v", err, all, tt.want)
		}
		written, err := os.ReadFile(l.linesFile())
		if lines := strings.Split(string(written), "\n"); err != nil || lines[1] != tt.line {
			t.Errorf("%v, written %s, want %s", err, lines[1], tt.line)
		}
	}
	if all, bad := new(Ledger).parseLines([]byte(`{"snapshot":1,"files":"2"}` + "\n{\"snapshot\":1")); len(all) != 0 || bad != 2 {
		t.Errorf("damaged: %v, %d", all, bad)
	}
}

// TestRecent: what is read for the end of a turn says the same of it as all lines, however long the
// store is and whatever stands between.
func TestRecent(t *testing.T) {
	t.Parallel()
	const start, end, guard = WhyStart, WhyEnd, WhyGuard
	type lines []string // of the form "why turn"
	line := func(why string, turn int) string { return fmt.Sprint(why, " ", turn) }
	long := func(n int, why string, turn int) lines { return slices.Repeat(lines{line(why, turn)}, n) }
	tests := []struct {
		name   string
		lines  lines
		turn   int64
		number int64 // of the first snapshot that is read
	}{
		{"none", nil, 1, 0},
		{"the first turn", lines{line(WhyFirst, 0), line(start, 1)}, 1, 1},
		{"many turns", slices.Concat(long(500, end, 3), lines{line(start, 4), line(end, 4), line(start, 5), line(guard, 5)}), 5, 502},
		{"begun late", lines{line(start, 4), line(start, 5), line(end, 4)}, 5, 1},
		{"begun twice", lines{line(end, 3), line(end, 4), line(start, 5), line(guard, 5), line(start, 5)}, 5, 2},
		{"not begun", slices.Concat(long(9, start, 3), lines{line(end, 4)}), 5, 1},
		{"a long turn", slices.Concat(lines{line(start, 3), line(end, 4), line(start, 5)}, long(500, guard, 5)), 5, 2},
		{"with damage", slices.Concat(long(300, end, 3), lines{line(end, 4), "", line(start, 5)}), 5, 301},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New(t.TempDir(), Options{})
			for i, line := range tt.lines {
				if line == "" {
					line = "damaged 0"
				}
				s := &Snapshot{Number: int64(i + 1), Tree: ID{1}, Boot: strings.Repeat("b", 100)}
				if _, err := fmt.Sscan(line, &s.Why, &s.Turn); err != nil {
					t.Fatal(err)
				}
				if s.Why == "damaged" {
					s.Number = 0
				}
				if err := l.appendLine(s); err != nil {
					t.Fatal(err)
				}
			}
			all, err := l.Lines()
			recent, err2 := l.Recent(tt.turn)
			if err != nil || err2 != nil || len(recent) == 0 != (tt.number == 0) || len(recent) > 0 && recent[0].Number != tt.number {
				t.Fatalf("%v, %v, %d of %d", err, err2, len(recent), len(all))
			}
			start, end := TurnOf(all, tt.turn)
			if s, e := TurnOf(recent, tt.turn); !reflect.DeepEqual(s, start) || !reflect.DeepEqual(e, end) {
				t.Errorf("turn %v to %v, want %v to %v", s, e, start, end)
			}
		})
	}
}
