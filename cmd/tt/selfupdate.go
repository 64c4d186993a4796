package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	selfupdate "github.com/talking-stick/tt/skills/update"
)

var selfUpdateCommand = &front.Command{
	Name:  "self-update",
	Group: groupUpkeep,
	Short: "get a newer tt, the way this one was installed",
	Long: "Runs the command that does it where one command without a question is enough (go install), and else says what to run. " +
		"In a checkout of tt's own source it refuses.",
	Flags: func(f *front.Flags) {
		f.Bool("print", "only print the command")
	},
	Run: runSelfUpdate,
}

// An updateResult is the advice, and whether it was followed.
type updateResult struct {
	selfupdate.Advice
	Ran bool `json:"ran"`
}

func runSelfUpdate(ctx context.Context, c *front.Call) error {
	executable, err := c.Env.Executable()
	if err != nil {
		return code.New(code.Internal, "cannot tell where tt is installed").Because(err)
	}
	advice, err := selfupdate.Installation{
		Executable: executable, Home: c.Env.Home, GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Getenv: c.Env.Lookup,
		Build: selfupdate.Build{Installer: installer, Version: moduleVersion()},
	}.Advise()
	if err != nil {
		return err
	}
	if c.Bool("print") {
		return c.Out.Result(advice, func(t *front.Text) { t.Line("%s", advice.Shell) })
	}
	res := updateResult{Advice: advice}
	if advice.Runnable {
		if err := runUpdate(ctx, c, advice); err != nil {
			return err
		}
		res.Ran = true
	}
	return c.Out.Result(res, func(t *front.Text) { writeUpdate(t, res) })
}

// runUpdate lets the update speak on standard error: the result is ours.
func runUpdate(ctx context.Context, c *front.Call, advice selfupdate.Advice) error {
	cmd := exec.CommandContext(ctx, advice.Command[0], advice.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.Env.Stderr, c.Env.Stderr
	if err := cmd.Run(); err != nil {
		return code.New(code.Internal, "the update failed: %v", err).
			WithHint("it was: %s", advice.Shell).With("command", advice.Command).Because(err)
	}
	return nil
}

func writeUpdate(t *front.Text, r updateResult) {
	if r.Ran {
		t.Line("Updated %s with: %s", r.Executable, r.Shell)
		return
	}
	t.Line("To update %s, run:", r.Executable)
	t.Line("  %s", r.Shell)
	if r.Note != "" {
		t.Line("(%s)", r.Note)
	}
}
