package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/talking-stick/tt/fsroom/code"
)

// parse reads the arguments of c, without the words of its name, strictly.
func (p *Program) parse(c *Command, args []string) (*Invocation, error) {
	flags := p.declare(c)
	args = slices.Clone(args)
	if err := p.checkValues(c, flags, args); err != nil {
		return nil, err
	}
	if err := flags.set.Parse(args); err != nil {
		return nil, p.explain(c, flags, err)
	}
	operands := flags.set.Args()
	for i := range operands {
		operands[i] = strings.TrimPrefix(operands[i], textMark)
	}
	given, err := p.distribute(c, operands)
	if err != nil {
		return nil, err
	}
	return &Invocation{Program: p, Cmd: c, flags: flags, operands: given}, nil
}

// checkValues refuses what pflag lets pass: a flag as the value of another, as in
// "--reason --json", a second value for a flag, and letters that are not flags. It
// marks operands that begin like a flag, so that pflag takes them as operands.
func (p *Program) checkValues(c *Command, flags *Flags, args []string) error {
	var last *Flag // the flag whose value comes next
	given := make(map[*Flag]bool)
	for t := range Tokens(args, flags.takesValue) {
		arg := args[t.Index]
		switch t.Kind {
		case Terminator:
			return nil
		case Operand:
			if isText(arg) {
				args[t.Index] = textMark + arg
			}
		case ShortFlags:
			if !flags.knowsLetters(t.Flag) {
				return p.unknownFlag(c, flags, arg)
			}
		case LongFlag:
			flag := flags.find(t.Flag)
			if flag == nil {
				continue
			}
			if given[flag] && !flag.Repeatable {
				return usagef("--%s is given twice", flag.Name).With("flag", "--"+flag.Name).WithHint("keep one of them")
			}
			if given[flag] = true; !t.Glued && flag.Placeholder != "" {
				last = flag
			}
		case FlagValue:
			if looksLikeFlag(arg) {
				return p.needsValue(c, last, args[t.Index:])
			}
			last = nil
		}
	}
	if last != nil {
		return p.needsValue(c, last, nil)
	}
	return nil
}

func (f *Flags) takesValue(name string) bool {
	flag := f.find(name)
	return flag != nil && flag.Placeholder != ""
}

// knowsLetters reports whether a cluster of letters, as in "-hv", is all switches.
func (f *Flags) knowsLetters(cluster string) bool {
	for i := range len(cluster) {
		if flag := f.set.ShorthandLookup(cluster[i : i+1]); flag == nil || flag.NoOptDefVal == "" {
			return false
		}
	}
	return cluster != ""
}

// textMark is put before an operand that begins like a flag. No argument of a process
// can contain it.
const textMark = "\x00"

// explain turns an error of pflag into a usage error.
func (p *Program) explain(c *Command, flags *Flags, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		return p.unknownFlag(c, flags, "--"+unknown.GetSpecifiedName())
	case errors.As(err, &invalid):
		return p.badValue(c, flags.find(invalid.GetFlag().Name), invalid.GetValue(), invalid.Unwrap())
	case errors.As(err, &syntax):
		return usagef("%s is not how a flag is written", quote(syntax.GetSpecifiedFlag())).WithHint("%s", p.seeHelp(c))
	default:
		return usagef("%s", err.Error()).WithHint("%s", p.seeHelp(c))
	}
}

// distribute assigns the operands to the arguments that c declares.
func (p *Program) distribute(c *Command, operands []string) (map[string][]string, error) {
	given := make(map[string][]string, len(c.Args))
	for _, arg := range c.Args {
		given[arg.Name] = nil
		take := 1
		if arg.Rest {
			take = len(operands)
		}
		switch {
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
				return nil, p.didYouMean(err, c, nearest(value, arg.Choices)...)
			}
		}
	}
	return given, nil
}

func (p *Program) tooMany(c *Command, left []string) *code.Error {
	err := usagef("unexpected argument %s", quote(left[0])).With("argument", shorten(left[0]))
	var below []string // c may be the first word of other commands
	for _, other := range p.Commands {
		if strings.HasPrefix(other.Name, c.Name+" ") {
			below = append(below, other.Name)
		}
	}
	if near := nearest(c.Name+" "+left[0], below); near != nil && c.Name != "" {
		return p.didYouMean(err, c, near...)
	}
	return err.WithHint("usage: %s", p.UsageLine(c))
}
