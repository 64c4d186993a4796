package completion

import (
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// String returns the answer in the form that the scripts read: a line for each
// candidate, with its description after a tab, and ":files" or ":dirs" for paths.
func (a Answer) String() string {
	var b strings.Builder
	for _, c := range a.Candidates {
		b.WriteString(cli.Line(c.Word))
		if c.What != "" {
			b.WriteString("\t" + cli.Line(c.What))
		}
		b.WriteByte('\n')
	}
	if a.Paths != NoPaths {
		b.WriteString(":" + string(a.Paths) + "\n")
	}
	return b.String()
}

// Shells returns the shells that have a script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script with which the shell completes the program's command
// lines by calling "PROGRAM complete -- WORD…"; "" for an unknown shell.
func Script(shell, program string) string {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	return strings.ReplaceAll(script, "PROGRAM", program)
}
