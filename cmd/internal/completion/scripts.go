package completion

import (
	_ "embed"
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

// scripts are those for the completion and for the prompt of each shell, each behind a line with its name.
//
// That for the completion of bash joins the words that readline has split: readline ends words at ":" and
// "=", which agent ids and flags contain, and replaces only the last part. It also runs in bash 3.2. It quotes
// the candidates, because bash inserts them unchanged. The prompt that the user had may show the status of the
// last command, so the scripts for it preserve that, and in fish the statuses of a whole pipeline.
//
//go:embed scripts.txt
var scripts string

// Script returns the script with which a shell completes the program's command lines, by calling
// "PROGRAM complete -- WORD…" (kind "complete"), or shows the stick in its prompt ("prompt"); "" for an unknown
// shell.
func Script(kind, shell, program string) string {
	_, script, _ := strings.Cut(scripts, "### "+kind+" "+shell+"\n")
	script, _, _ = strings.Cut(script, "### ")
	return strings.ReplaceAll(script, "PROGRAM", program)
}
