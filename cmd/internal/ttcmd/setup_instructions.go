package ttcmd

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/instructions"
	"github.com/talking-stick/tt/skills/rewrite"
)

var instructionsShowCommand = &cli.Command{
	Name:   "instructions show",
	Reads:  true,
	Traits: cli.Traits{NoSync: true},
	Args:   []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.String("harness", "NAME", strings.Join(harness.Agents(), ", ")+", or all (default: the caller's)")
		f.String("scope", "LAYER", "effective, bundled, user or project (default effective)")
	},
	TextFirst: true,
	Run:       runInstructionsShow,
}

var instructionsEditCommand = &cli.Command{
	Name:      "instructions edit",
	Traits:    cli.Traits{NoSync: true},
	Args:      []cli.Arg{pathArg},
	Flags:     layerFlags,
	Exclusive: [][2]string{{"user", "project"}},
	Run:       runInstructionsEdit,
}

var instructionsResetCommand = &cli.Command{
	Name:      "instructions reset",
	Traits:    cli.Traits{NoSync: true},
	Args:      []cli.Arg{pathArg},
	Flags:     layerFlags,
	Exclusive: [][2]string{{"user", "project"}},
	Run:       runInstructionsReset,
}

func layerFlags(f *cli.Flags) {
	f.Bool("user", "your own layer, for all projects")
	f.Bool("project", "the project's layer")
}

// layers returns the layers for the workspace that the command line names. A workspace
// that cannot be found is an error only if the scope is the project, or if a path was
// given.
func layers(c *cli.Invocation, scope instructions.Scope) (instructions.Layers, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return instructions.Layers{}, err
	}
	path, err := session.Path(c, "path")
	if err != nil {
		return instructions.Layers{}, err
	}
	w, err := locatePath(c, path)
	switch {
	case err == nil:
		return instructions.Layers{DataDir: dir, WorkspaceRoot: w.Root}, nil
	case path == "" && scope != instructions.Project:
		return instructions.Layers{DataDir: dir}, nil
	}
	return instructions.Layers{}, err
}

func runInstructionsShow(_ context.Context, c *cli.Invocation) error {
	scope, err := instructions.ParseScope(c.String("scope"))
	if err != nil {
		return err
	}
	reader, err := readerOf(c)
	if err != nil {
		return err
	}
	l, err := layers(c, scope)
	if err != nil {
		return err
	}
	doc, err := l.Show(scope, reader)
	if err != nil {
		return err
	}
	return c.Out.Result(doc, func(t *cli.Text) {
		if strings.TrimSpace(doc.Text) != "" {
			t.Block("", doc.Text)
		}
	})
}

// readerOf returns the harness whose sections are shown: the one that is named, or
// the caller's.
func readerOf(c *cli.Invocation) (string, error) {
	if c.Given("harness") {
		return instructions.ParseReader(c.String("harness"))
	}
	me, err := session.Caller(c, identity.System())
	if err != nil {
		return "", err
	}
	return instructions.ReaderOf(me.ID), nil
}

// layerOf returns the layer that the flags name, or byDefault, with the layers that there are.
func layerOf(c *cli.Invocation, byDefault instructions.Scope) (scope instructions.Scope, l instructions.Layers, err error) {
	scope = byDefault
	switch {
	case c.Bool("user"):
		scope = instructions.User
	case c.Bool("project"):
		scope = instructions.Project
	case byDefault == "":
		return scope, l, c.Usagef("which layer? give --user or --project")
	}
	l, err = layers(c, scope)
	return scope, l, err
}

// A resetResult is the file of a layer, and whether it was removed.
type resetResult struct {
	Scope   instructions.Scope `json:"scope"`
	Path    string             `json:"path"`
	Removed bool               `json:"removed"`
	Backup  string             `json:"backup,omitempty"`
}

func runInstructionsReset(_ context.Context, c *cli.Invocation) error {
	scope, l, err := layerOf(c, "")
	if err != nil {
		return err
	}
	path, backup, err := l.Reset(scope, &rewrite.Writer{Backups: filepath.Join(l.DataDir, "backups"), Now: c.Env.Now})
	if err != nil {
		return err
	}
	res := resetResult{Scope: scope, Path: path, Removed: backup != "", Backup: backup}
	return c.Out.Result(res, func(t *cli.Text) {
		if !res.Removed {
			t.Line("There is no %s.", res.Path)
			return
		}
		t.Line("Removed %s; it is kept as %s.", res.Path, res.Backup)
	})
}

// An editResult is the file to edit, and whether an editor was opened for it.
type editResult struct {
	Scope   instructions.Scope `json:"scope"`
	Path    string             `json:"path"`
	Created bool               `json:"created"`
	Opened  bool               `json:"opened"`
}

func runInstructionsEdit(ctx context.Context, c *cli.Invocation) error {
	scope, l, err := layerOf(c, instructions.User)
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

// openEditor opens the file in an editor and waits for the editor to end. It starts no
// editor without a terminal: an agent would wait for ever.
func openEditor(ctx context.Context, c *cli.Invocation, path string) (opened bool, err error) {
	command := chosenEditor(c.Env, path)
	if command == nil {
		command = instructions.Opener(runtime.GOOS, path, c.Env.Lookup, exec.LookPath)
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
