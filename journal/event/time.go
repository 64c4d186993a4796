package event

import (
	"fmt"
	"time"
)

// timeLayout is the form in which all times are written.
const timeLayout = "2006-01-02T15:04:05.000Z"

// A Time is an instant in UTC with milliseconds. Its text and JSON form is
// RFC 3339 with exactly three decimals and Z: 2026-01-02T03:04:05.678Z. It reads
// any other RFC 3339 form as well. Times made by [NewTime] or read from text
// can be compared with ==.
type Time struct{ time.Time }

// NewTime returns t in UTC, cut to whole milliseconds, without a monotonic reading.
func NewTime(t time.Time) Time {
	t = t.UTC().Round(0)
	return Time{t.Add(-time.Duration(t.Nanosecond() % int(time.Millisecond)))} // Truncate is slower
}

// String returns the text form, and "—" for no time.
func (t Time) String() string {
	if t.IsZero() {
		return "—"
	}
	return string(t.appendText(nil))
}

// AppendText appends the text form. The error says that the time lies outside the
// years 0 to 9999, in which case the text does not read back.
func (t Time) AppendText(b []byte) ([]byte, error) { return t.appendText(b), t.check() }

// MarshalText returns the text form. It fails for years outside 0 to 9999.
func (t Time) MarshalText() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return t.appendText(nil), nil
}

// UnmarshalText reads the text form, or any RFC 3339 time, which it cuts to
// milliseconds.
func (t *Time) UnmarshalText(text []byte) error {
	var parsed time.Time
	if err := parsed.UnmarshalText(text); err != nil { // strict RFC 3339, unlike time.Parse
		return fmt.Errorf("%.40q is no RFC 3339 time", text)
	}
	read := NewTime(parsed)
	if err := read.check(); err != nil { // an offset can move a time out of the four-digit years
		return err
	}
	*t = read
	return nil
}

// MarshalJSON returns the text form in quotes. Without it, encoding/json would use
// the method of the embedded time.Time.
func (t Time) MarshalJSON() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return append(t.appendText([]byte{'"'}), '"'), nil
}

// UnmarshalJSON reads a string as [Time.UnmarshalText] does. A null leaves t as it is.
func (t *Time) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"' {
		return fmt.Errorf("a time is a string, not %.40s", data)
	}
	return t.UnmarshalText(data[1 : len(data)-1])
}

func (t Time) appendText(b []byte) []byte { return t.UTC().AppendFormat(b, timeLayout) }

func (t Time) check() error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("year %d cannot be written in RFC 3339", y)
	}
	return nil
}
