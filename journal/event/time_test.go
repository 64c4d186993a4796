package event

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimeReads(t *testing.T) {
	tests := []struct{ text, want string }{ // want "" is a refusal
		{"2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"},
		{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"},
		{"2026-01-02T03:04:05.6789999Z", "2026-01-02T03:04:05.678Z"},
		{"2026-01-02T03:04:05.1+02:00", "2026-01-02T01:04:05.100Z"},
		{"2026-01-02T03:04:05.678000+00:00", "2026-01-02T03:04:05.678Z"},
		{"2024-02-29T00:00:00.000Z", "2024-02-29T00:00:00.000Z"},
		{"0001-01-01T00:00:00.000Z", "—"},
		{"0000-12-31T23:59:59.999Z", "0000-12-31T23:59:59.999Z"},
		{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
		{"2025-02-29T00:00:00.000Z", ""},
		{"2025-04-31T00:00:00.000Z", ""},
		{"2025-00-10T00:00:00.000Z", ""},
		{"2025-13-10T00:00:00.000Z", ""},
		{"2025-01-00T00:00:00.000Z", ""},
		{"2025-01-10T24:00:00.000Z", ""},
		{"2025-01-10T00:60:00.000Z", ""},
		{"2025-01-10T00:00:60.000Z", ""},
		{"2025-01-10T00:00:00.0x0Z", ""},
		{"2025-01-10 00:00:00.000Z", ""},
		{"2025-01-10T00:00:00.000", ""},
		{"0000-01-01T00:00:00+23:59", ""},
		{"9999-12-31T23:59:59-01:00", ""},
		{"", ""},
		{"yesterday", ""},
	}
	for _, tt := range tests {
		var got Time
		err := got.UnmarshalText([]byte(tt.text))
		if (err == nil) != (tt.want != "") || err == nil && got.String() != tt.want {
			t.Errorf("UnmarshalText(%q) = %v, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}

// TestNewTimeTruncates to whole milliseconds, also before the year 1.
func TestNewTimeTruncates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1e11, 1e11).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		if got, want := NewTime(at), (Time{at.UTC().Truncate(time.Millisecond)}); got != want {
			t.Fatalf("%v became %v, want %v", at, got, want)
		}
	})
}

func TestTimeJSON(t *testing.T) {
	east := time.Date(2026, 1, 2, 5, 4, 5, 678_999_999, time.FixedZone("", 7200))
	out, err := json.Marshal(map[string]Time{"t": NewTime(east)})
	if err != nil || string(out) != `{"t":"2026-01-02T03:04:05.678Z"}` {
		t.Fatal(string(out), err)
	}
	var back struct {
		T, N Time
		Z    Time `json:"z,omitzero"`
	}
	if err := json.Unmarshal([]byte(`{"t":"2026-01-02T03:04:05.678Z","n":null}`), &back); err != nil || back.T != NewTime(east) || !back.N.IsZero() {
		t.Fatal(back, err)
	}
	for _, wrong := range []string{`5`, `""`, `"x"`, `{}`, `"`} {
		if err := new(Time).UnmarshalJSON([]byte(wrong)); err == nil {
			t.Errorf("%s was read as a time", wrong)
		}
	}
	if text, err := NewTime(east).MarshalText(); err != nil || string(text) != "2026-01-02T03:04:05.678Z" {
		t.Fatal(string(text), err)
	}
	for _, year := range []int{-1, 10000} {
		far := NewTime(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC))
		if _, err := json.Marshal(far); err == nil {
			t.Errorf("year %d was written", year)
		}
		if _, err := far.MarshalText(); err == nil {
			t.Errorf("year %d was written", year)
		}
	}
}
