package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a Go duration ("1m50s") or bare seconds ("110", "0.5"). It
// refuses negative durations. The text of its error completes a sentence that begins
// with the value.
func ParseDuration(s string) (time.Duration, error) {
	text := s
	if s != "" && strings.Trim(s, "0123456789.") == "" {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	rest := strings.TrimLeft(text, "0123456789")
	_, invalid := time.ParseDuration("1" + rest)
	switch hours, inDays := daysInHours(s); {
	case d < 0:
		return 0, errors.New("is negative")
	case err == nil:
		return d, nil
	case inDays:
		return 0, fmt.Errorf("has days, which differ in length: write %dh", hours)
	case rest != text && invalid == nil:
		return 0, errors.New("is too large: at most 87600h, which are ten years")
	}
	return 0, errors.New("is not a duration such as 110s, 2m, or 110 for seconds")
}

// daysInHours reads "7d", a form that people write and Go does not know.
func daysInHours(s string) (hours int, ok bool) {
	days, err := strconv.Atoi(strings.TrimSuffix(s, "d"))
	return days * 24, err == nil && strings.HasSuffix(s, "d") && 0 <= days && days < 1e5
}

// Duration returns d in a form that ParseDuration reads: "45m", "1h30m", "1m50s",
// "250ms". It rounds to milliseconds, and from a minute on to seconds.
func Duration(d time.Duration) string {
	unit := time.Millisecond
	if d.Abs() >= time.Minute {
		unit = time.Second
	}
	text := d.Round(unit).String()
	// time.Duration writes "45m0s" and "1h0m0s".
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Elapsed returns how long something has taken or may still take: as [Duration], in whole seconds.
func Elapsed(d time.Duration) string { return Duration(max(0, d.Truncate(time.Second))) }

// Relative returns the distance of t from now in one unit: "just now", "30s ago",
// "13m ago", "in 14m", "3d ago", and "—" for the zero time.
func Relative(t, now time.Time) string {
	if t.IsZero() {
		return "—"
	}
	past := now.Sub(t)
	switch {
	case past < 0:
		return "in " + oneUnit(-past)
	case past < justNow:
		return "just now"
	default:
		return oneUnit(past) + " ago"
	}
}

// justNow is the age below which Relative does not count seconds.
const justNow = 5 * time.Second

// oneUnit returns d in its largest unit, rounded down, but at least one second.
func oneUnit(d time.Duration) string {
	const day = 24 * time.Hour
	unit := time.Hour
	switch {
	case d < time.Minute:
		d, unit = max(d, time.Second), time.Second
	case d < time.Hour:
		unit = time.Minute
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	}
	return Duration(d.Truncate(unit))
}
