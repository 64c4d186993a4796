package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom/code"
)

var archiveCommand = &cli.Command{
	Name:   "cli archive",
	Traits: lastKnown,
	Args:   []cli.Arg{topicArg},
	Run:    onBus(runArchive),
}

// archivedFolder is the folder of archived topics, beside the folder of topics.
const archivedFolder = "topics.archived"

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
		// The topic of a room of tt has its id again when it is made anew.
		taken := func() bool { _, err := os.Lstat(to); return err == nil }
		for n, base := 2, to; taken(); n++ {
			to = fmt.Sprintf("%s.%d", base, n)
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
	return c.Out.Result(map[string]any{"topic_id": r.Name(), "path": to}, func(t *cli.Text) { t.Line("Archived as %s.", to) })
}

var wipeCommand = &cli.Command{
	Name:   "cli db wipe",
	Traits: lastKnown,
	Flags:  func(f *cli.Flags) { f.Bool("yes", "do not ask") },
	Run:    onBus(runWipe),
}

// codeDeclined is the code of a refusal because the answer was not yes.
const codeDeclined code.Code = "DECLINED"

func runWipe(_ context.Context, c *cli.Invocation, b *bus) error {
	if err := b.ownTopics(); err != nil {
		return err
	}
	path := filepath.Join(b.Path, roomtypes.Topics().Folder)
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c.Out.Result(map[string]any{"wiped": false, "path": path}, func(t *cli.Text) { t.Line("Nothing to delete: there is no %s.", path) })
	}
	if err != nil {
		return unusable(path, err)
	}
	// If the rooms of tt keep the directory's newer format, a wipe would not help.
	if _, err := b.Store(); code.Of(err) == code.UnsupportedFormat && sharedWithRooms(b.Path) {
		return err
	}
	if !c.Bool("yes") && !confirmed(c, path, entries) {
		return code.New(codeDeclined, "nothing was deleted").WithHint("answer yes, or use --yes")
	}
	if err := wipe(b.Path); err != nil {
		return err
	}
	return c.Out.Result(map[string]any{"wiped": true, "path": path}, func(t *cli.Text) { t.Line("Deleted %s.", path) })
}

// confirmed asks whether to delete the topics. It asks on standard error, because
// standard output is for the result.
func confirmed(c *cli.Invocation, path string, entries []fs.DirEntry) bool {
	n := len(slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !questions.IsID(e.Name()) }))
	fmt.Fprintf(c.Env.Stderr, "Delete %s with %s for good? [y/N] ", cli.Line(path), code.Count(n, "topic"))
	answer, err := bufio.NewReader(c.Env.Stdin).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return (err == nil || errors.Is(err, io.EOF)) && (answer == "y" || answer == "yes")
}

// wipe renames the topics directory before it removes what is in it, so that nobody
// finds half of the topics; what an interrupted wipe has left goes first. In a data directory
// without rooms it also removes the format file, which it does not check, because another
// version's format is a reason to wipe.
func wipe(dir string) error {
	away := filepath.Join(dir, "topics.wiped")
	err := os.RemoveAll(away)
	if err == nil {
		err = os.Rename(filepath.Join(dir, roomtypes.Topics().Folder), away)
	}
	if err == nil {
		err = os.RemoveAll(away)
	}
	if err == nil && !sharedWithRooms(dir) {
		err = os.Remove(filepath.Join(dir, "format"))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(dir, err)
	}
	return nil
}

// sharedWithRooms reports whether the data directory also has rooms of tt, or rooms
// that have ended.
func sharedWithRooms(dir string) bool {
	_, none := os.Lstat(filepath.Join(dir, "rooms"))
	_, noneEnded := os.Lstat(filepath.Join(dir, "archive"))
	return none == nil || noneEnded == nil
}

func unusable(path string, err error) error {
	return code.New(code.DataDirUnusable, "%s cannot be used: %v", path, err).With("path", path).Because(err)
}
