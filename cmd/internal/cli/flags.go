package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Flags declares the flags of one command. Every flag has a line of usage text,
// without a capital and a full stop. A flag with a value has a placeholder for it,
// such as "DIR".
type Flags struct {
	all    []Flag
	global bool // what is declared now belongs to every command
	hidden bool
	topic  string
}

// A Flag describes one declared flag.
type Flag struct {
	Name        string   `json:"name"`
	Short       string   `json:"short,omitempty"`   // one letter, "" for none
	Placeholder string   `json:"value,omitempty"`   // what stands for the value, "" for a switch
	Usage       string   `json:"usage"`             // one line
	Default     string   `json:"default,omitempty"` // the value when it is not given, "" for none
	Choices     []string `json:"choices,omitempty"` // the only values it accepts, nil for any
	Repeatable  bool     `json:"repeatable,omitempty"`
	Global      bool     `json:"-"`               // every command has it
	Topic       string   `json:"topic,omitempty"` // the help page that explains it, "" for that of the command
	Hidden      bool     `json:"-"`               // works, but no list shows it
	For         string   `json:"-"`               // the flag that is given by it, "" for itself

	check func(text string) error // refuses a value; nil: any text will do
	texts []string                // the values on the command line, "" for each time a switch is there
}

// String declares a flag with any text as value, the empty one included.
func (f *Flags) String(name, placeholder, usage string) {
	f.StringP(name, "", placeholder, usage)
}

// StringP is String for a flag that also has a letter.
func (f *Flags) StringP(name, short, placeholder, usage string) {
	f.add(Flag{Name: name, Short: short, Placeholder: placeholder, Usage: usage})
}

// Word declares a flag with any text but the empty one as value.
func (f *Flags) Word(name, placeholder, usage string) {
	f.add(Flag{Name: name, Placeholder: placeholder, Usage: usage, check: func(text string) error {
		if text == "" {
			return errors.New("is empty")
		}
		return nil
	}})
}

// StringList declares a flag that may be given several times.
func (f *Flags) StringList(name, placeholder, usage string) {
	f.add(Flag{Name: name, Placeholder: placeholder, Usage: usage, Repeatable: true})
}

// Bool declares a switch: it is on if it is given, and takes no value. It may be
// given twice.
func (f *Flags) Bool(name, usage string) {
	f.BoolP(name, "", usage)
}

// BoolP is Bool for a switch that also has a letter.
func (f *Flags) BoolP(name, short, usage string) {
	f.add(Flag{Name: name, Short: short, Usage: usage, Repeatable: true})
}

// Int64 declares a flag with a decimal whole number as value.
func (f *Flags) Int64(name, placeholder string, byDefault int64, usage string) {
	flag := Flag{Name: name, Placeholder: placeholder, Usage: usage, check: checked(parseNumber)}
	if byDefault != 0 {
		flag.Default = strconv.FormatInt(byDefault, 10)
	}
	f.add(flag)
}

// Duration declares a flag with a value as [ParseDuration] reads it.
func (f *Flags) Duration(name, placeholder string, byDefault time.Duration, usage string) {
	flag := Flag{Name: name, Placeholder: placeholder, Usage: usage, check: checked(ParseDuration)}
	if byDefault != 0 {
		flag.Default = Duration(byDefault)
	}
	f.add(flag)
}

// LongDuration declares a flag like Duration without a default, whose value may also be whole
// days, such as "30d" for 720 hours.
func (f *Flags) LongDuration(name, placeholder, usage string) {
	f.add(Flag{Name: name, Placeholder: placeholder, Usage: usage, check: checked(parseLong)})
}

// Choice declares a flag that accepts only the given words. The first is its
// default; a first word "" stands for no default.
func (f *Flags) Choice(name, placeholder string, choices []string, usage string) {
	words := slices.DeleteFunc(slices.Clone(choices), func(s string) bool { return s == "" })
	check := func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("is not one of %s", strings.Join(words, ", "))
		}
		return nil
	}
	f.add(Flag{Name: name, Placeholder: placeholder, Usage: usage, Default: choices[0], Choices: words, check: check})
}

// In declares flags that several commands share and that a help topic explains. The
// help of these commands only lists their names.
func (f *Flags) In(topic string, declare func(*Flags)) {
	f.topic = topic
	declare(f)
	f.topic = ""
}

// Hidden declares flags that work, and that no list shows.
func (f *Flags) Hidden(declare func(*Flags)) {
	f.hidden = true
	declare(f)
	f.hidden = false
}

// DryRun declares the switch "dry-run", which is also understood as "print".
func (f *Flags) DryRun() {
	f.Bool("dry-run", "say what would be done, and do nothing")
	f.add(Flag{Name: "print", For: "dry-run", Hidden: true})
}

func (f *Flags) add(flag Flag) {
	flag.Global, flag.Topic, flag.Hidden = f.global, f.topic, flag.Hidden || f.hidden
	f.all = append(f.all, flag)
}

// on is what pflag passes for a switch without a value.
const on = "on"

// addTo declares the flags in set.
func (f *Flags) addTo(set *pflag.FlagSet) *pflag.FlagSet {
	for i := range f.all {
		flag := &f.all[i]
		known := set.VarPF(flag, flag.Name, flag.Short, flag.Usage)
		if flag.Placeholder == "" {
			known.NoOptDefVal = on
		}
	}
	return set
}

// String implements [pflag.Value]: it returns the value of the flag as it was written, the last
// one that was given, else the default.
func (f *Flag) String() string {
	if n := len(f.texts); n > 0 {
		return f.texts[n-1]
	}
	return f.Default
}

// Set implements [pflag.Value]: it adds a value if the flag accepts it.
func (f *Flag) Set(text string) error {
	if f.check != nil {
		if err := f.check(text); err != nil {
			return err
		}
	}
	f.texts = append(f.texts, text)
	return nil
}

// Type implements [pflag.Value].
func (f *Flag) Type() string { return f.Placeholder }

// find returns the flag with the name, nil if there is none.
func (f *Flags) find(name string) *Flag {
	for i := range f.all {
		if f.all[i].Name == name {
			return &f.all[i]
		}
	}
	return nil
}

// lookup returns the flag with the name. It panics if the command does not declare it.
func (f *Flags) lookup(name string) *Flag {
	flag := f.find(name)
	if flag == nil {
		panic("cli: flag --" + name + " is not declared")
	}
	return flag
}

// FlagsOf returns the flags of c that lists show, in the order of their declaration, its own
// before those of every command.
func (p *Program) FlagsOf(c *Command) []Flag { return p.declare(c).visible() }

func (f *Flags) visible() []Flag {
	return slices.DeleteFunc(slices.Clone(f.all), func(f Flag) bool { return f.Hidden })
}

func (p *Program) declare(c *Command) *Flags {
	f := new(Flags)
	if c != nil && c.Flags != nil {
		c.Flags(f)
	}
	if c != nil && p.Subject != nil && !c.Traits.NoSubject {
		var subject Flags
		p.Subject(&subject)
		f.all = append(f.all, slices.DeleteFunc(subject.all, func(s Flag) bool { return f.find(s.Name) != nil })...)
	}
	f.global = true
	f.Bool("json", "print JSON, which is the default for a harness")
	f.Bool("text", "print text for people")
	if p.Agents {
		f.String("agent", "ID", "act as this agent instead of the detected one")
	}
	f.BoolP("verbose", "v", "say more when something fails")
	f.BoolP("help", "h", "print this help and do nothing")
	return f
}

// valueOf returns the value of a flag as parse reads it, zero if there is none. It panics if
// the flag was declared with another type.
func valueOf[T any](f *Flag, parse func(string) (T, error)) (value T) {
	if text := f.String(); text != "" {
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
