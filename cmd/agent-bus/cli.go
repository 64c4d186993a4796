package main

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
)

// onBus makes a command of what is done with the bus that the environment names.
// Errors get the bus's codes and hints, except those of usage.
func onBus(run func(context.Context, *cli.Invocation, *bus) error) func(context.Context, *cli.Invocation) error {
	return func(ctx context.Context, c *cli.Invocation) error {
		b, err := openBus(c.Env)
		if err != nil {
			return err
		}
		err = run(ctx, c, b)
		var coded *code.Error
		if errors.As(err, &coded) && coded.Code != code.Usage {
			return b.busError(err)
		}
		return err
	}
}
