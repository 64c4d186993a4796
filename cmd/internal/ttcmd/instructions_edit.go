package ttcmd

import (
	"context"
	"os/exec"
	"runtime"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/skills/instructions"
)

// An editResult says which file to edit, and whether an editor was there.
type editResult struct {
	Scope   instructions.Scope `json:"scope"`
	Path    string             `json:"path"`
	Created bool               `json:"created"`
	Opened  bool               `json:"opened"`
}

func runInstructionsEdit(ctx context.Context, c *cli.Invocation) error {
	scope, err := layerOf(c, instructions.User)
	if err != nil {
		return err
	}
	l, err := layers(c, scope)
	if err != nil {
		return err
	}
	path, created, err := l.EditTarget(scope)
	if err != nil {
		return err
	}
	res := editResult{Scope: scope, Path: path, Created: created}
	if res.Opened, err = openEditor(ctx, c, path); err != nil {
		return err
	}
	return c.Out.Result(res, func(t *cli.Text) {
		if res.Opened {
			t.Line("Edited %s", res.Path)
			return
		}
		t.Line("Edit %s", res.Path)
	})
}

// openEditor edits the file and waits for the editor to end. Without a terminal
// it starts none: an agent would wait for ever.
func openEditor(ctx context.Context, c *cli.Invocation, path string) (opened bool, err error) {
	command := chosenEditor(c.Env, path)
	if command == nil {
		opener := instructions.Opener{GOOS: runtime.GOOS, Getenv: c.Env.Lookup, LookPath: exec.LookPath}
		command = opener.Command(path)
	}
	if !c.Env.StdinTTY || c.JSON || command == nil {
		return false, nil
	}
	if err := edit(ctx, command); err != nil {
		return false, code.New(code.Internal, "%v", err).
			WithHint("the file is %s; set EDITOR to an editor that works", path).With("path", path).Because(err)
	}
	return true, nil
}
