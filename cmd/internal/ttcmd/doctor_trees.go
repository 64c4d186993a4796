package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/ledger"
)

// A treeHealth is a store of changes of a work tree.
type treeHealth struct {
	Root        string `json:"root"`
	Bytes       int64  `json:"bytes"` // without what the repository has too
	RootMissing bool   `json:"root_missing,omitempty"`
}

func treesFolder(client *member.Client) string {
	return filepath.Join(client.Store.Local().Dir(), ledger.Folder)
}

// checkTrees checks what is recorded of work trees.
func (x *doctorRun) checkTrees(ctx context.Context, c *cli.Invocation, client *member.Client) {
	for _, l := range ledger.Stores(treesFolder(client), c.Env.Home) {
		_, err := os.Stat(l.Root())
		x.Trees = append(x.Trees, treeHealth{l.Root(), l.Size(), errors.Is(err, fs.ErrNotExist)})
		for _, p := range l.Check(ctx, x.repair) {
			x.Problems = append(x.Problems, doctor.Problem{File: p.Path, Problem: p.Message, Repaired: p.Repaired,
				Harmless: p.Harmless, Repair: "removes what is damaged, keeps the rest"})
		}
	}
}

// A prunedResult is what was removed.
type prunedResult struct {
	Removed []treeHealth `json:"removed"`
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
		if room, _, err := client.Find(w); err == nil && room != nil {
			only = room.Directory()
		}
	}
	res := prunedResult{Removed: []treeHealth{}}
	for _, l := range ledger.Stores(treesFolder(client), c.Env.Home) {
		if only != "" && filepath.Base(l.Dir()) != fsroom.RoomName(only) {
			continue
		}
		size := l.Size()
		if err := l.Remove(ctx); err != nil {
			return err
		}
		res.Removed = append(res.Removed, treeHealth{Root: l.Root(), Bytes: size})
	}
	return c.Out.Result(res, func(t *cli.Text) {
		for _, r := range res.Removed {
			t.Line("Removed what was recorded of %s (%s).", r.Root, sizeWords(r.Bytes))
		}
		if len(res.Removed) == 0 {
			t.Line("Nothing was recorded.")
		}
	})
}

// sizeWords returns a size for people.
func sizeWords(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}
