package ttcmd

import (
	"context"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/instructions"
)

var instructionsShowCommand = &cli.Command{
	Name:   "instructions show",
	Traits: cli.Traits{NoSync: true},
	Args:   []cli.Arg{pathArg},
	Short:  "show the house rules for agents",
	Long: "Three layers, one after the other: what comes with tt, your own, and the project's .talking-stick/instructions.md. " +
		`Sections such as "## Claude" are shown to that harness only.`,
	Flags: func(f *cli.Flags) {
		f.String("harness", "NAME", strings.Join(harness.Agents(), ", ")+", or all (default: the caller's)")
		f.Choice("scope", "LAYER", []string{string(instructions.Effective), string(instructions.Bundled), string(instructions.User),
			string(instructions.Project)}, "all of them together, or one")
		pathFlag(f)
	},
	Errors:    []code.Code{code.BodyTooLarge},
	TextFirst: true,
	Run:       runInstructionsShow,
}

var instructionsEditCommand = &cli.Command{
	Name:   "instructions edit",
	Traits: cli.Traits{NoSync: true},
	Args:   []cli.Arg{pathArg},
	Short:  "edit your layer of the house rules, or the project's",
	Long:   "Makes the file if it is not there. Without a terminal it only says where the file is.",
	Flags: func(f *cli.Flags) {
		f.Bool("user", "your own layer, for all projects (the default)")
		f.Bool("project", "the project's layer")
		pathFlag(f)
	},
	Exclusive: [][2]string{{"user", "project"}},
	Run:       runInstructionsEdit,
}

// layers returns the layers for the workspace that the command line names. A workspace
// that cannot be found is an error only if the scope is the project, or if a path was
// given.
func layers(c *cli.Invocation, scope instructions.Scope) (instructions.Layers, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return instructions.Layers{}, err
	}
	path, err := givenPath(c, "path")
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
	scope := instructions.Scope(c.String("scope"))
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
	me, err := caller(c, identity.System())
	if err != nil {
		return "", err
	}
	return instructions.ReaderOf(me.ID), nil
}

// An editResult is the file to edit, and whether an editor was opened for it.
type editResult struct {
	Scope   instructions.Scope `json:"scope"`
	Path    string             `json:"path"`
	Created bool               `json:"created"`
	Opened  bool               `json:"opened"`
}

func runInstructionsEdit(ctx context.Context, c *cli.Invocation) error {
	scope := instructions.User
	if c.Bool("project") {
		scope = instructions.Project
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
	if res.Opened = c.Env.StdinTTY && !c.JSON; res.Opened { // an agent would wait for ever
		if err := runEditor(ctx, c.Env, path); err != nil {
			return code.New(code.Internal, "%v", err).
				WithHint("the file is %s; set EDITOR to an editor that works", path).With("path", path).Because(err)
		}
	}
	return c.Out.Result(res, func(t *cli.Text) {
		if res.Opened {
			t.Line("Edited %s", res.Path)
			return
		}
		t.Line("Edit %s", res.Path)
	})
}
