package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/journal"
)

// TestLines finds every line, also those that Scan refuses.
func TestLines(t *testing.T) {
	good := func(seq string) string { return `{"event_seq":` + seq + `,"event_type":"x"}` + "\n" }
	long := strings.Repeat("y", journal.MaxLine+10)
	tests := map[string]struct {
		file string
		want string // per line: its number, - for one that does not read, t if it may be torn
	}{
		"empty":                {"", ""},
		"in order":             {good("1") + good("2"), "1 2"},
		"out of order":         {good("7") + good("2"), "7 2"},
		"damaged":              {good("1") + "###\n\n" + good("2"), "1 - - 2"},
		"from an editor":       {"\ufeff" + strings.ReplaceAll(good("1")+good("2"), "\n", "\r\n"), "1 2"},
		"torn":                 {good("1") + `{"event`, "1 -t"},
		"too long":             {good("1") + long + "\n" + good("2"), "1 - 2"},
		"too long and no end":  {good("1") + long, "1 -t"},
		"too long at its end ": {long + "\n", "-"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			log, err := journal.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			var got []string
			err = log.Lines(func(l *journal.Line) error {
				mark := "-"
				if l.Problem == "" {
					mark = string(rune('0' + l.Event.Seq))
				}
				if l.Torn {
					mark += "t"
				}
				got = append(got, mark)
				return nil
			})
			if err != nil || strings.Join(got, " ") != test.want {
				t.Errorf("%q (%v), want %q", got, err, test.want)
			}
			stop := errors.New("stop")
			if err := log.Lines(func(*journal.Line) error { return stop }); err != stop && test.file != "" {
				t.Errorf("%v, want %v", err, stop)
			}
		})
	}
}
