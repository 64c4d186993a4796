package ttcmd

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// A commandResult is what a command of the shell would do.
type commandResult struct {
	Verdict string          `json:"verdict"` // read, write, unknown
	Refused bool            `json:"refused"`
	Effects []commandEffect `json:"effects"`
	Unknown []string        `json:"unknown"` // programs and targets of which nothing is known
}

type commandEffect struct {
	Op       string `json:"op"`
	Path     string `json:"path"`
	Git      bool   `json:"git"`
	Destroys bool   `json:"destroys"`
	Ignored  bool   `json:"ignored"`
	Outside  bool   `json:"outside,omitempty"` // of the workspace
}

// checkCommandLine judges --command as the guard of the shell does, in the directory that
// is checked.
func checkCommandLine(ctx context.Context, c *cli.Invocation, client *member.Client, w *workspace.Workspace) *commandResult {
	locate := func(path string) (*workspace.Workspace, error) { return locatePath(c, path) }
	j := hooks.JudgeCommand(ctx, c.Env, client, locate, w.Path, c.String("command"))
	res := &commandResult{Verdict: "read", Refused: j.Refused() != nil, Effects: []commandEffect{},
		Unknown: append([]string{}, j.Unknown...)}
	if len(j.Unknown) > 0 {
		res.Verdict = "unknown"
	}
	for _, change := range j.Changes {
		outside := change.Stick == nil && !isBelow(w.Root, change.Path) && !(change.Below && isBelow(change.Path, w.Root))
		res.Effects = append(res.Effects, commandEffect{change.Op, change.Path, change.Git, change.Destroys, change.Ignored, outside})
		if !change.Ignored && !outside {
			res.Verdict = "write"
		}
	}
	return res
}

// isBelow reports whether path is root or below it.
func isBelow(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (r *commandResult) write(t *cli.Text) {
	line := r.Verdict
	if r.Refused {
		line += ", refused"
	}
	t.Line("The command: %s", line)
	for _, e := range r.Effects {
		note := ""
		switch {
		case e.Outside:
			note = " (outside of the workspace)"
		case e.Ignored:
			note = " (ignored)"
		}
		t.Line("  %s: %s%s", cli.Line(e.Op), cli.Line(e.Path), note)
	}
	for _, what := range r.Unknown {
		t.Line("  not known: %s", cli.Line(what))
	}
}
