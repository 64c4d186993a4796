package journal

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
func NewTime(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// ParseTime reads the text form of a Time, or any RFC 3339 time, which it cuts
// to milliseconds.
func ParseTime(s string) (Time, error) { return parseTime([]byte(s)) }

// String returns the text form.
func (t Time) String() string { return string(t.appendText(nil)) }

// MarshalText returns the text form; it fails for years outside 0 to 9999.
func (t Time) MarshalText() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return t.appendText(nil), nil
}

// UnmarshalText is [ParseTime].
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

// UnmarshalJSON reads a string as [ParseTime] does; null leaves t as it is.
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
	if t, ok := parseOwn(b); ok {
		return t, nil
	}
	var parsed time.Time
	if err := parsed.UnmarshalText(b); err != nil { // strict RFC 3339, unlike time.Parse
		return Time{}, fmt.Errorf("%.40q is no RFC 3339 time", b)
	}
	t := NewTime(parsed)
	return t, t.check() // an offset can push a time out of the four-digit years
}

// parseOwn reads exactly timeLayout, several times faster than package time:
// rebuilding a long room is mostly this and the strings.
func parseOwn(b []byte) (Time, bool) {
	if len(b) != len(timeLayout) || b[4] != '-' || b[7] != '-' || b[10] != 'T' ||
		b[13] != ':' || b[16] != ':' || b[19] != '.' || b[23] != 'Z' {
		return Time{}, false
	}
	year, ok0 := digits(b[0:4])
	month, ok1 := digits(b[5:7])
	day, ok2 := digits(b[8:10])
	hour, ok3 := digits(b[11:13])
	minute, ok4 := digits(b[14:16])
	second, ok5 := digits(b[17:19])
	milli, ok6 := digits(b[20:23])
	if !(ok0 && ok1 && ok2 && ok3 && ok4 && ok5 && ok6) || hour > 23 || minute > 59 || second > 59 {
		return Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, milli*1e6, time.UTC)
	if int(t.Month()) != month { // Date turns 31 April into 1 May
		return Time{}, false
	}
	return Time{t}, true
}

func digits(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
