package front

// What manual pages and completions need to say the same as the help.

// UsageLine is the command line of c in general: "tt kick AGENT [PATH] [FLAGS]".
func (p *Program) UsageLine(c *Command) string { return p.usageLine(c) }

// Display is how help shows the argument: "AGENT".
func (a Arg) Display() string { return a.show() }

// Description is the usage of the flag with its choices and its default.
func (f Flag) Description() string { return f.describe() }

// Statuses are the exit statuses of c, the common ones first.
func (c *Command) Statuses() []ExitStatus { return append(commonExits(c), c.Exits...) }

// Visible returns the commands that lists show, in the order of the help.
func (p *Program) Visible() []*Command { return p.visible() }
