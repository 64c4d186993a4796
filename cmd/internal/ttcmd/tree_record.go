package ttcmd

import (
	"context"
	"os/signal"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
)

// recordCommand records the tree of a room for others, see package changes.
var recordCommand = &cli.Command{
	Name:   "record",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true},
	Args:   []cli.Arg{{Name: "room", Usage: "the room's id"}},
	Short:  "take the snapshot of the beginning or end of a turn",
	Flags: func(f *cli.Flags) {
		f.Choice("at", "MOMENT", []string{"first", "start", "tick", "end"}, "which snapshot")
		f.Int64("turn", "N", 0, "the turn")
		f.Int64("moment", "NS", 0, "when the turn began")
	},
	Run: runRecord,
}

func runRecord(ctx context.Context, c *cli.Invocation) error {
	signal.Ignore(syscall.SIGHUP)
	client, err := newClient(c)
	if err != nil {
		return err
	}
	job := changes.Job{At: c.String("at"), Turn: c.Int64("turn")}
	if ns := c.Int64("moment"); ns > 0 {
		job.Moment = time.Unix(0, ns)
	}
	return changes.Record(ctx, client.Room(c.Arg("room"), nil), ledgerSetting(c), job)
}

func ledgerSetting(c *cli.Invocation) changes.Setting {
	set := changes.SettingOf(c.Env.Lookup, c.Env.Home)
	if at := build.AtStep; at != nil {
		set.Fault = func(step string) error { return at(fsroom.Step("tree-" + step)) }
	}
	return set
}

// recordFirst begins the first snapshot of the room's tree.
func recordFirst(ctx context.Context, c *cli.Invocation, room *member.Room) {
	changes.First(ctx, room, ledgerSetting(c))
}
