package turn

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// A Switch is one field of a policy that is no time, as [Limit] describes the others.
type Switch struct {
	Flag   string   // "shell-guard"
	Env    string   // "TALKING_STICK_SHELL_GUARD"
	About  string   // what the switch is for
	Values []string // the first one is that of a room in which nobody has chosen
	Field  func(*Policy) *string
	Person bool // only a person may change it
}

// Switches returns one Switch for every field of a policy that is no time.
func Switches() []Switch {
	return []Switch{
		{"shell-guard", "TALKING_STICK_SHELL_GUARD", "refuse commands of the shell that write to agents without the stick",
			[]string{"on", "off"}, func(p *Policy) *string { return &p.ShellGuard }, true},
		{"auto", "TALKING_STICK_AUTO", "sessions with hooks take the turn by their first write beside another one, and end it " +
			"when they stop", []string{"on", "off"}, func(p *Policy) *string { return &p.Auto }, true},
	}
}

// Set stores the value in the field. It refuses one that is not among Values.
func (w Switch) Set(p *Policy, value string) error {
	if !slices.Contains(w.Values, value) {
		return code.New(code.Usage, "%s must be %s, not %q", w.Flag, strings.Join(w.Values, " or "), value)
	}
	*w.Field(p) = value
	return nil
}

// withSwitches returns the policy with the switches that an older program has not written.
func (p Policy) withSwitches() Policy {
	for _, w := range Switches() {
		if f := w.Field(&p); *f == "" {
			*f = w.Values[0]
		}
	}
	return p
}
