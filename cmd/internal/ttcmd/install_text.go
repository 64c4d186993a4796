package ttcmd

import (
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/skills"
)

// writeInstall says what became of each harness. A dry run shows every step with
// the text that it would write.
func writeInstall(t *cli.Text, r installResult, out bool) {
	if len(r.Results) == 0 {
		t.Line("There is no harness on this machine.")
		return
	}
	if r.DryRun {
		t.Line("Nothing is written. This would be done:")
	}
	changed := false
	for _, one := range r.Results {
		changed = changed || one.Harness != gitName && (one.Status == skills.Added || one.Status == skills.Updated)
		t.Line("%s: %s: %s", t.Bold(string(one.Harness)), statusWord(t, one.Status), one.Message)
		if !r.DryRun {
			writeBackups(t, one)
			continue
		}
		for _, step := range one.Steps {
			t.Block("    ", step.String())
		}
	}
	if changed && !r.DryRun && !out {
		t.Line("House rules for your agents: tt instructions edit")
	}
}

func statusWord(t *cli.Text, s skills.Status) cli.Styled {
	switch s {
	case skills.Failed:
		return t.Red(string(s))
	case skills.Added, skills.Updated, skills.Removed:
		return t.Green(string(s))
	case skills.Skipped:
		return t.Yellow(string(s))
	}
	return t.Dim(string(s))
}

// writeBackups says where the old content of a file is kept.
func writeBackups(t *cli.Text, r skills.Result) {
	for _, step := range r.Steps {
		if strings.TrimSpace(step.Backup) != "" {
			t.Line("    the old %s is kept as %s", step.Path, step.Backup)
		}
	}
}
