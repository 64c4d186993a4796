package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/talking-stick/tt/fsroom/code"
)

// parse reads the arguments of c, without the words of its name, as [protect] returns them.
// With an error the call has the flags that were read.
func (p *Program) parse(c *Command, args []string) (*Invocation, error) {
	call := &Invocation{Program: p, Cmd: c, flags: p.declare(c)}
	read, err := p.setFlags(c, call.flags, args)
	if err == nil {
		call.operands, err = p.distribute(c, read.operands, read.behind)
	}
	call.Verbose = call.Bool("verbose")
	if p.Agents {
		call.Agent = call.String("agent")
	}
	return call, err
}

// A reading is what setFlags has read.
type reading struct {
	operands []string
	ended    bool  // whether "--" was there
	behind   int   // how many operands stand behind it
	waiting  *Flag // the flag without a value at the end, or nil
}

// setFlags gives the flags in args their values. It refuses what is likely a mistake: a flag as
// the value of another, as in "--reason --json", and a second value for a flag. With an error the
// switches of every command are set all the same.
func (p *Program) setFlags(c *Command, flags *Flags, args []string) (read reading, err error) {
	set := flags.addTo(pflag.NewFlagSet("", pflag.ContinueOnError))
	err = set.ParseAll(args, func(known *pflag.Flag, text string) error {
		flag, value := known.Value.(*Flag), unmarked(text)
		if flag.For != "" {
			flag = flags.lookup(flag.For)
		}
		switch glued := strings.HasPrefix(text, mark); {
		case flag.Placeholder == "" && text != on:
			name := "--" + flag.Name
			return usagef("%s takes no value", name).With("flag", name).WithHint("write %s", name)
		case flag.Placeholder == "":
			return flag.Set("")
		case !glued && looksLikeFlag(value):
			return p.needsValue(flag, value)
		case len(flag.texts) > 0 && !flag.Repeatable:
			return usagef("--%s is given twice", flag.Name).With("flag", "--"+flag.Name).WithHint("keep one of them")
		}
		if err := flag.Set(value); err != nil {
			return p.badValue(c, flag, value, err)
		}
		return nil
	})
	for _, arg := range set.Args() {
		read.operands = append(read.operands, unmarked(arg))
	}
	if n := set.ArgsLenAtDash(); n >= 0 {
		read.ended, read.behind = true, len(read.operands)-n
	}
	if err != nil {
		p.setSwitches(flags, args)
	}
	var unknown *pflag.NotExistError
	var syntax *pflag.InvalidSyntaxError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		err = p.unknownFlag(c, flags, "-"+unmarked(unknown.GetSpecifiedShortnames()))
	case errors.As(err, &unknown):
		err = p.unknownFlag(c, flags, "--"+unmarked(unknown.GetSpecifiedName()))
	case errors.As(err, &syntax):
		err = usagef("%s is not how a flag is written", quote(unmarked(syntax.GetSpecifiedFlag()))).WithHint("%s", p.seeHelp(c))
	case errors.As(err, &missing):
		read.waiting = missing.GetFlag().Value.(*Flag)
		err = p.needsValue(read.waiting, "")
	}
	return read, err
}

// setSwitches sets the switches of every command that a wrong line has anywhere.
func (p *Program) setSwitches(flags *Flags, args []string) {
	global := Flags{all: slices.DeleteFunc(slices.Clone(flags.all), func(f Flag) bool { return !f.Global || f.Placeholder != "" })}
	set := global.addTo(pflag.NewFlagSet("", pflag.ContinueOnError))
	set.ParseErrorsAllowlist.UnknownFlagsHandling = pflag.IgnoreUnknownFlag
	args = slices.DeleteFunc(slices.Clone(args), func(s string) bool { // "-1h" is the value of a flag and asks for no help
		return strings.HasPrefix(s, "---") || strings.HasPrefix(s, "--=") || isFlag(s) && s[1] != '-' && strings.Trim(s[1:], "hv") != ""
	})
	_ = set.ParseAll(args, func(known *pflag.Flag, text string) error {
		if flag := flags.find(known.Name); text == on && len(flag.texts) == 0 {
			return flag.Set("")
		}
		return nil
	})
}

// distribute assigns the operands to the arguments that c declares. The last ones, as many as
// behind says, stand behind --.
func (p *Program) distribute(c *Command, operands []string, behind int) (map[string][]string, error) {
	given := make(map[string][]string, len(c.Args))
	for _, arg := range c.Args {
		given[arg.Name] = nil
		take := 1
		if arg.Rest {
			take = len(operands)
		}
		switch {
		case arg.Before && len(operands) <= behind:
		case len(operands) > 0:
			given[arg.Name], operands = operands[:take], operands[take:]
		case !arg.Optional:
			return nil, usagef("missing argument %s", arg.Display()).With("argument", arg.Name).
				WithHint("%s", cmp.Or(arg.Missing, "usage: "+p.UsageLine(c)))
		}
	}
	if len(operands) > 0 {
		return nil, p.tooMany(c, operands)
	}
	for _, arg := range c.Args {
		for _, value := range given[arg.Name] {
			if value == "" && !arg.Rest {
				return nil, usagef("the %s is empty", arg.Name).With("argument", arg.Name).WithHint("usage: %s", p.UsageLine(c))
			}
			if arg.Choices != nil && !slices.Contains(arg.Choices, value) {
				err := usagef("bad value for %s: %s is not %s", strings.ToUpper(arg.Name), quote(value), orList(arg.Choices)).
					With("argument", arg.Name).With("value", shorten(value))
				return nil, p.didYouMean(err, c, Nearest(value, arg.Choices)...)
			}
		}
	}
	return given, nil
}

func (p *Program) tooMany(c *Command, left []string) *code.Error {
	err := usagef("unexpected argument %s", quote(left[0])).With("argument", shorten(left[0]))
	var below []string // c may be the first word of other commands
	for _, other := range p.All() {
		if strings.HasPrefix(other.Name, c.Name+" ") {
			below = append(below, other.Name)
		}
	}
	if near := Nearest(c.Name+" "+left[0], below); near != nil && c.Name != "" {
		return p.didYouMean(err, c, near...)
	}
	return err.WithHint("usage: %s", p.UsageLine(c))
}
