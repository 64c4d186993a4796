package event

import (
	"fmt"
	"time"
)

// timeLayout is the one form in which times are written.
const timeLayout = "2006-01-02T15:04:05.000Z"

// A Time is an instant in UTC with milliseconds. Its text and JSON form is
// RFC 3339 with exactly three decimals and Z: 2026-01-02T03:04:05.678Z. It reads
// any other RFC 3339 form as well. Times made by [NewTime] or read from text
// can be compared with ==.
type Time struct{ time.Time }

// NewTime returns t in UTC, cut to whole milliseconds, without a monotonic reading.
func NewTime(t time.Time) Time {
	t = t.UTC().Round(0)
	// Truncate would take as long as all the rest of reading a time.
	return Time{t.Add(-time.Duration(t.Nanosecond() % int(time.Millisecond)))}
}

// String returns the text form.
func (t Time) String() string { return string(t.appendText(nil)) }

// MarshalText returns the text form; it fails for years outside 0 to 9999.
func (t Time) MarshalText() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return t.appendText(nil), nil
}

// UnmarshalText reads the text form, or any RFC 3339 time, which it cuts to
// milliseconds.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := parseTime(text)
	if err == nil {
		*t = parsed
	}
	return err
}

// MarshalJSON returns the text form in quotes. It is there because the one of
// the embedded time.Time would be taken otherwise.
func (t Time) MarshalJSON() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return append(t.appendText([]byte{'"'}), '"'), nil
}

// UnmarshalJSON reads a string as [Time.UnmarshalText] does; null leaves t as it is.
func (t *Time) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"' {
		return fmt.Errorf("a time is a string, not %.40s", data)
	}
	return t.UnmarshalText(data[1 : len(data)-1])
}

// AppendText appends the text form.
func (t Time) AppendText(b []byte) []byte { return t.appendText(b) }

// ParseText is UnmarshalText, for package wire.
func (t *Time) ParseText(text []byte) error { return t.UnmarshalText(text) }

func (t Time) appendText(b []byte) []byte { return t.UTC().AppendFormat(b, timeLayout) }

func (t Time) check() error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("year %d cannot be written in RFC 3339", y)
	}
	return nil
}

func parseTime(b []byte) (Time, error) {
	var parsed time.Time
	if err := parsed.UnmarshalText(b); err != nil { // strict RFC 3339, unlike time.Parse
		return Time{}, fmt.Errorf("%.40q is no RFC 3339 time", b)
	}
	t := NewTime(parsed)
	return t, t.check() // an offset can push a time out of the four-digit years
}
