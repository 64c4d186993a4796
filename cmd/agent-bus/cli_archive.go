package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

var archiveCommand = &cli.Command{
	Name:   "cli archive",
	Traits: lastKnown,
	Args:   []cli.Arg{topicArg},
	Short:  "take a topic out of use and keep its files",
	Long: "Moves the topic's directory to topics.archived in the data directory; moved back to topics it is as it was. " +
		"Agents that use it find it gone. It also takes a topic that cannot be read out of the way, by its id.",
	Errors: []code.Code{topic.TopicNotFound},
	Run:    onBus(runArchive),
}

// archivedFolder is the folder of archived topics, beside the folder of topics.
const archivedFolder = "topics.archived"

// An archivedResult is the result of cli archive: where the topic's files are now.
type archivedResult struct {
	TopicID string `json:"topic_id"`
	Path    string `json:"path"`
}

func runArchive(ctx context.Context, c *cli.Invocation, b *bus) error {
	if err := b.ownTopics(); err != nil {
		return err
	}
	r, err := b.findTopic(c, c.Arg("topic"))
	if err != nil {
		return err
	}
	from := filepath.Join(b.Path, roomtypes.Topics().Folder, r.Name())
	to := filepath.Join(b.Path, archivedFolder, r.Name())
	move := func() error {
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return unusable(filepath.Dir(to), err)
		}
		if err := os.Rename(from, to); err != nil {
			return unusable(from, err)
		}
		return nil
	}
	// Under the topic's lock nobody is changing it. Nobody changes a topic that cannot
	// be read.
	err = r.Locked(ctx, func(*questions.Snapshot) error { return move() })
	if known := code.Of(err); known == code.CorruptRoom || known == code.UnsupportedFormat {
		err = move()
	}
	if err != nil {
		return err
	}
	return c.Out.Result(archivedResult{r.Name(), to}, func(t *cli.Text) { t.Line("Archived as %s.", to) })
}
