package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// switchOn is the value that pflag sets for a switch without a value. No argument of a
// process can contain it, so it distinguishes "--json" from "--json=true".
const switchOn = "\x00"

type textValue string

func (v *textValue) Set(s string) error { *v = textValue(s); return nil }
func (v *textValue) String() string     { return string(*v) }
func (v *textValue) Type() string       { return "text" }

type listValue []string

func (v *listValue) Set(s string) error { *v = append(*v, s); return nil }
func (v *listValue) String() string     { return strings.Join(*v, ",") }
func (v *listValue) Type() string       { return "list" }

type switchValue bool

var errSwitch = errors.New("takes no value")

func (v *switchValue) Set(s string) error {
	if s != switchOn {
		return errSwitch
	}
	*v = true
	return nil
}

func (v *switchValue) String() string { return strconv.FormatBool(bool(*v)) }
func (v *switchValue) Type() string   { return "switch" }

type numberValue int64

func (v *numberValue) Set(s string) error {
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
func (v *numberValue) Type() string   { return "number" }

type spanValue struct {
	d    time.Duration
	days bool // whole days are accepted
}

func (v *spanValue) Set(s string) error {
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
func (v *spanValue) Type() string   { return "duration" }

type choiceValue struct {
	word    string
	choices []string
}

func (v *choiceValue) Set(s string) error {
	for _, choice := range v.choices {
		if s == choice {
			v.word = s
			return nil
		}
	}
	return fmt.Errorf("is not one of %s", strings.Join(v.choices, ", "))
}

func (v *choiceValue) String() string { return v.word }
func (v *choiceValue) Type() string   { return "choice" }
