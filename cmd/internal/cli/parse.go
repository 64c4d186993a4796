package cli

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// parse reads the arguments of c, without the words of its name, strictly.
func (p *Program) parse(c *Command, args []string) (*Invocation, error) {
	flags := p.declare(c)
	operands, err := p.setFlags(c, flags, args)
	if err != nil {
		return nil, err
	}
	behind := 0
	if end := slices.Index(args, "--"); end >= 0 {
		behind = len(args) - end - 1
	}
	given, err := p.distribute(c, operands, behind)
	if err != nil {
		return nil, err
	}
	return &Invocation{Program: p, Cmd: c, flags: flags, operands: given}, nil
}

// setFlags gives the flags in args their values and returns the operands. It refuses what
// is likely a mistake: a flag as the value of another, as in "--reason --json", and a
// second value for a flag.
func (p *Program) setFlags(c *Command, flags *Flags, args []string) (operands []string, err error) {
	var last *Flag // the flag whose value comes next
	for t := range Tokens(args, flags.takesValue) {
		arg := args[t.Index]
		switch t.Kind {
		case Operand:
			operands = append(operands, arg)
		case ShortFlags:
			err = p.setSwitches(c, flags, t, arg)
		case LongFlag:
			last, err = p.setNamed(c, flags, t, arg)
		case FlagValue:
			if looksLikeFlag(arg) {
				return nil, p.needsValue(last, args[t.Index:])
			}
			err = p.setValue(c, last, arg)
			last = nil
		}
		if err != nil {
			return nil, err
		}
	}
	if last != nil {
		return nil, p.needsValue(last, nil)
	}
	return operands, nil
}

// setSwitches turns on the switches of a cluster of letters, as in "-hv".
func (p *Program) setSwitches(c *Command, flags *Flags, t Token, arg string) error {
	if t.Flag == "" {
		return p.unknownFlag(c, flags, arg)
	}
	for i := range len(t.Flag) {
		flag := flags.find(t.Flag[i : i+1])
		if flag == nil || flag.Placeholder != "" {
			return p.unknownFlag(c, flags, arg)
		}
		if t.Glued {
			return p.takesNoValue(flag)
		}
		if err := p.setValue(c, flag, ""); err != nil {
			return err
		}
	}
	return nil
}

// setNamed sets the flag that t names. It returns the flag if its value is the next
// argument.
func (p *Program) setNamed(c *Command, flags *Flags, t Token, arg string) (*Flag, error) {
	flag := flags.find(t.Flag)
	switch {
	case t.Flag == "" || t.Flag[0] == '-':
		return nil, usagef("%s is not how a flag is written", quote(arg)).WithHint("%s", p.seeHelp(c))
	case flag == nil || flag.Short == t.Flag && arg[1] == '-':
		return nil, p.unknownFlag(c, flags, "--"+t.Flag)
	case len(flag.texts) > 0 && !flag.Repeatable:
		return nil, usagef("--%s is given twice", flag.Name).With("flag", "--"+flag.Name).WithHint("keep one of them")
	case flag.Placeholder == "" && t.Glued:
		return nil, p.takesNoValue(flag)
	case flag.Placeholder == "" || t.Glued:
		return nil, p.setValue(c, flag, t.Value)
	}
	return flag, nil
}

func (p *Program) setValue(c *Command, flag *Flag, text string) error {
	if flag.check != nil {
		if err := flag.check(text); err != nil {
			return p.badValue(c, flag, text, err)
		}
	}
	flag.texts = append(flag.texts, text)
	return nil
}

func (f *Flags) takesValue(name string) bool {
	flag := f.find(name)
	return flag != nil && flag.Placeholder != ""
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
				WithHint("usage: %s", p.UsageLine(c))
		}
	}
	if len(operands) > 0 {
		return nil, p.tooMany(c, operands)
	}
	for _, arg := range c.Args {
		for _, value := range given[arg.Name] {
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
