package ledger

import (
	"bytes"
	"reflect"
	"testing"
)

// TestLines reads the lines of a store as they have always been, and writes them the same.
func TestLines(t *testing.T) {
	id := func(b byte) (id ID) { id[0] = b; return id }
	const zeros = "00000000000000000000000000000000000000"
	tests := []struct {
		line string
		want Snapshot
	}{
		{`{"snapshot":9,"at_ns":5,"end_ns":7,"why":"end","turn_id":4,"agent_id":"a:1","tree":"01` + zeros + `","scan":"02` + zeros +
			`","ignored":"03` + zeros + `","head":{"commit":"c0","branch":"main"},"files":2,"perm":[420,493],"modes":{"a \"b\"":384},` +
			`"left_out":[{"path":"big","why":"large"},{"why":"too_many","files":3}],"unsure":["é"],"note":"n","boot":"b"}`,
			Snapshot{Number: 9, At: 5, End: 7, Why: WhyEnd, Turn: 4, Agent: "a:1", Tree: id(1), Scan: id(2), Ignored: id(3),
				Head: Head{"c0", "main"}, Files: 2, Perm: [2]uint32{0o644, 0o755}, Modes: modes{`a "b"`: 0o600},
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
		if line := bytes.TrimSuffix(bytes.SplitAfter(l.read, []byte("\n"))[1], []byte("\n")); string(line) != tt.line {
			t.Errorf("written %s, want %s", line, tt.line)
		}
	}
	if all, bad := parseLines([]byte(`{"snapshot":1,"files":"2"}` + "\n{\"snapshot\":1")); len(all) != 0 || bad != 2 {
		t.Errorf("damaged: %v, %d", all, bad)
	}
}
