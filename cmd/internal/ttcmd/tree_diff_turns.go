package ttcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/journal/event"
)

// spansAfter returns the turns that are recorded after one, and the stretches between them and until now, oldest first.
// The end of a stretch that lasts until now is nil.
func (v *treeView) spansAfter(turnID int64) (spans []span) {
	current := int64(0)
	if v.state != nil && v.state.Owner != "" {
		current = v.state.Turn
	}
	_, before := ledger.TurnOf(v.all, turnID)
	for _, s := range v.all {
		if s.Why != ledger.WhyStart || s.Turn <= turnID || len(spans) > 0 && spans[len(spans)-1].turn >= s.Turn {
			continue
		}
		start, end := ledger.TurnOf(v.all, s.Turn)
		if before != nil {
			spans = append(spans, span{name: ledger.SpanOutside, turn: before.Turn, from: before, to: start})
		}
		if before = end; end != nil || s.Turn == current {
			spans = append(spans, span{name: ledger.SpanTurn, turn: s.Turn, agent: s.Agent, from: start, to: end})
		}
		if s.Turn == current {
			spans[len(spans)-1].to, before = nil, nil
		}
	}
	if before != nil {
		spans = append(spans, span{name: ledger.SpanOutside, turn: before.Turn, from: before})
	}
	return spans
}

// sinceMine says what changed since the end of the caller's last turn, stretch by stretch.
func (v *treeView) sinceMine(ctx context.Context, c *cli.Invocation, files []string) error {
	mine := int64(0)
	for _, s := range v.all {
		if (s.Why == ledger.WhyEnd || s.Why == ledger.WhyTakeover) && s.Agent == v.client.Self.ID {
			mine = max(mine, s.Turn)
		}
	}
	if _, err := v.turnNamed(ctx, c, "last"); err != nil {
		return v.orRenamed(c, err)
	}
	if mine == 0 {
		return v.orRenamed(c, v.noSnapshot("never", "no turn of %s has ended here, as far as is recorded", v.client.Self.ID).WithHint("tt diff last"))
	}
	view, err := v.lookNow(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	res := diffResult{Changes: []*ledger.Changes{}}
	for _, s := range v.spansAfter(mine) {
		if s.to == nil {
			s.to = view.Now
		}
		found, err := view.Changes(s.from, s.to, files, 0)
		if err != nil {
			return err
		}
		if found.IsEmpty() || s.agent == v.client.Self.ID {
			continue
		}
		found.Span, found.Turn, found.Agent, found.TreeID = s.name, s.turn, s.agent, v.Tree.ID()
		res.Changes = append(res.Changes, found)
	}
	return c.Out.Result(res, func(t *cli.Text) {
		for _, found := range res.Changes {
			writeChanges(t, found, c.Bool("name-only"))
		}
		if len(res.Changes) == 0 {
			t.Line("Nothing changed since your turn %d.", mine)
		}
	})
}

// A fileTurn is a turn that changed a file.
type fileTurn struct {
	Turn    int64      `json:"turn_id"`
	Agent   string     `json:"agent_id"`
	At      event.Time `json:"at"` // when the turn ended; of the one in progress, now
	Status  string     `json:"status"`
	Added   int        `json:"added,omitempty"`
	Removed int        `json:"removed,omitempty"`
	Mode    string     `json:"mode,omitempty"`
}

// A fileResult is the history of one file.
type fileResult struct {
	File    string     `json:"file"`
	Turns   []fileTurn `json:"turns"`
	Outside int        `json:"outside"` // stretches between turns in which it changed
}

// turnsOf lists the turns that changed a file, newest first.
func (v *treeView) turnsOf(ctx context.Context, c *cli.Invocation, arg string) error {
	if c.HasArg("turn") {
		return c.Usagef("--file is about all turns: give no TURN with it")
	}
	if len(v.all) == 0 {
		return v.orRenamed(c, v.noTurn(0))
	}
	paths, err := v.files(c, []string{arg})
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(v.Tree.Ledger.Root(), paths[0])); err == nil && info.IsDir() {
		return c.Usagef("%q is a directory: name a file of it", arg).WithHint("what a turn changed there: tt diff TURN %s", code.ShellWord(arg))
	}
	view, err := v.lookNow(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	res := fileResult{File: ledger.Printable(paths[0]), Turns: []fileTurn{}}
	for _, s := range v.spansAfter(0) {
		if s.to == nil {
			s.to = view.Now
		}
		p, err := view.ChangeOf(s.from, s.to, paths[0])
		switch {
		case err != nil:
			return explainTree(err)
		case p == nil:
		case s.name == ledger.SpanOutside:
			res.Outside++
		default:
			res.Turns = append(res.Turns, fileTurn{s.turn, s.agent, event.NewTime(s.to.Time()), p.Status, p.Added, p.Removed, p.Mode})
		}
	}
	slices.Reverse(res.Turns)
	return c.Out.Result(res, func(t *cli.Text) {
		var table cli.Table
		for _, x := range res.Turns {
			table.Row(fmt.Sprintf("turn %d", x.Turn), x.Agent, x.At.Local().Format("2006-01-02 15:04"), fmt.Sprintf("+%d −%d", x.Added, x.Removed),
				pathRemark(ledger.PathChange{Status: x.Status, Mode: x.Mode}))
		}
		t.Table(&table)
		if len(res.Turns) == 0 {
			t.Line("No turn changed %s, as far as is recorded.", res.File)
		}
		if res.Outside > 0 {
			t.Line("Changed outside of turns, too: %s.", counted(res.Outside, "time"))
		}
	})
}
