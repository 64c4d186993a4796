package ttcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A treeHealth is a store of changes of a work tree.
type treeHealth struct {
	Root        string      `json:"root"`
	Bytes       int64       `json:"bytes"` // without what the repository has too
	Snapshots   int         `json:"snapshots"`
	ScanMillis  int64       `json:"last_scan_ms"` // how long the last scan took that found a change
	LastAt      *event.Time `json:"last_at,omitempty"`
	RootMissing bool        `json:"root_missing,omitempty"`
	Kept        bool        `json:"kept,omitempty"` // the last snapshot is younger than a prune leaves by default
}

// healthOf returns what is recorded of a tree.
func healthOf(l *ledger.Ledger) treeHealth {
	_, err := os.Stat(l.Root())
	h := treeHealth{Root: l.Root(), Bytes: l.Size(), RootMissing: errors.Is(err, fs.ErrNotExist)}
	all, _ := l.Lines()
	h.Snapshots = len(all)
	for _, s := range all {
		if ms := (s.End - s.At) / int64(time.Millisecond); s.End > s.At {
			h.ScanMillis = max(ms, 1)
		}
	}
	if s := last(all); s != nil {
		at, def := event.NewTime(s.Time()), turn.DefaultPolicy()
		h.LastAt, h.Kept = &at, time.Since(s.Time()) < time.Duration(def.LedgerKeep)*time.Millisecond
	}
	return h
}

// pruneLedger removes stores with all that they have, linked packs included.
func pruneLedger(ctx context.Context, c *cli.Invocation, client *member.Client) error {
	var only string
	if !c.Bool("all") {
		w, err := locateArg(c)
		if w == nil {
			return err
		}
		only = w.Root
		if room, _, err := client.Find(w, nil); err == nil && room != nil {
			only = room.Directory()
		}
	}
	var removed []treeHealth
	for _, l := range ledger.Stores(changes.Folder(client.Store), ledger.Options{Home: c.Env.Home}) {
		if only != "" && filepath.Base(l.Dir()) != fsroom.RoomName(only) {
			continue
		}
		health := healthOf(l)
		if err := l.Remove(ctx); err != nil {
			return err
		}
		health.Kept = false
		removed = append(removed, health)
	}
	return c.Out.Result(map[string]any{"removed": removed}, func(t *cli.Text) {
		for _, r := range removed {
			t.Line("Removed what was recorded of %s (%s).", r.Root, sizeWords(r.Bytes))
		}
		if len(removed) == 0 {
			t.Line("Nothing was recorded.")
		}
	})
}

// writeTrees writes what the snapshots of trees cost, and which directories are gone.
func writeTrees(t *cli.Text, trees []treeHealth) {
	for _, tree := range trees {
		switch {
		case tree.RootMissing && tree.Kept:
			t.Line("%s changes of %s are recorded, which is not there any more (%s): where it was renamed, what it lost comes back by tt restore "+
				"when it has that name again", t.Dim("note"), tree.Root, sizeWords(tree.Bytes))
		case tree.RootMissing:
			t.Line("%s changes of %s are recorded, which is not there any more (%s); tt doctor --prune-ledger --path %s "+
				"removes them", t.Dim("note"), tree.Root, sizeWords(tree.Bytes), code.ShellWord(tree.Root))
		}
	}
	if n := len(trees); n > 0 {
		bytes, newest := int64(0), trees[n-1]
		for _, tree := range trees {
			bytes += tree.Bytes
		}
		t.Line("%s snapshots of %s take %s; the last scan, of %s, took %d ms", t.Dim("note"), counted(n, "tree"), sizeWords(bytes), newest.Root,
			newest.ScanMillis)
	}
}
