package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text returns the value of the flag as it was written: the last one that was given, else the
// default.
func (f *Flag) text() string {
	if n := len(f.texts); n > 0 {
		return f.texts[n-1]
	}
	return f.Default
}

// valueOf returns the value of a flag as parse reads it, zero if there is none. It panics if
// the flag was declared with another type.
func valueOf[T any](f *Flag, parse func(string) (T, error)) (value T) {
	if text := f.text(); text != "" {
		var err error
		if value, err = parse(text); err != nil {
			panic("cli: flag --" + f.Name + " " + err.Error())
		}
	}
	return value
}

// checked returns the check of a flag whose values parse reads.
func checked[T any](parse func(string) (T, error)) func(string) error {
	return func(text string) error { _, err := parse(text); return err }
}

func parseNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("is out of range")
	case err != nil:
		return 0, errors.New("is not a whole number")
	}
	return n, nil
}

// parseLong is [ParseDuration] that also reads whole days.
func parseLong(s string) (time.Duration, error) {
	if hours, ok := daysInHours(s); ok {
		return time.Duration(hours) * time.Hour, nil
	}
	return ParseDuration(s)
}

// oneOf returns the check of a flag that accepts the choices only.
func oneOf(choices []string) func(string) error {
	return func(s string) error {
		if !slices.Contains(choices, s) {
			return fmt.Errorf("is not one of %s", strings.Join(choices, ", "))
		}
		return nil
	}
}
