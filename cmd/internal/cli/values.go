package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A value is what a flag has: its default until it is set.
type value interface {
	set(text string) error
	String() string
}

type textValue string

func (v *textValue) set(s string) error { *v = textValue(s); return nil }
func (v *textValue) String() string     { return string(*v) }

type listValue []string

func (v *listValue) set(s string) error { *v = append(*v, s); return nil }
func (v *listValue) String() string     { return strings.Join(*v, ",") }

type switchValue bool

func (v *switchValue) set(string) error { *v = true; return nil }
func (v *switchValue) String() string   { return strconv.FormatBool(bool(*v)) }

type numberValue int64

func (v *numberValue) set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return errors.New("is out of range")
	}
	if err != nil {
		return errors.New("is not a whole number")
	}
	*v = numberValue(n)
	return nil
}

func (v *numberValue) String() string { return strconv.FormatInt(int64(*v), 10) }

type spanValue struct {
	d    time.Duration
	days bool // whole days are accepted
}

func (v *spanValue) set(s string) error {
	if hours, ok := daysInHours(s); ok && v.days {
		v.d = time.Duration(hours) * time.Hour
		return nil
	}
	d, err := ParseDuration(s)
	if err != nil {
		return err
	}
	v.d = d
	return nil
}

func (v *spanValue) String() string { return Duration(v.d) }

type choiceValue struct {
	word    string
	choices []string
}

func (v *choiceValue) set(s string) error {
	for _, choice := range v.choices {
		if s == choice {
			v.word = s
			return nil
		}
	}
	return fmt.Errorf("is not one of %s", strings.Join(v.choices, ", "))
}

func (v *choiceValue) String() string { return v.word }
