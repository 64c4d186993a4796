package main

import (
	"context"
	"strconv"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom"
)

func doctorCommand() *front.Command {
	return &front.Command{
		Name:  "doctor",
		Group: groupUpkeep,
		Args:  []front.Arg{pathArg()},
		Short: "verify the files of every room against its journal",
		Long: "Checks every room of the data directory, or with a path the rooms of that workspace: the journal line by line, the projection " +
			"against it, file modes, leftovers of killed processes, and locks. Changes nothing.",
		Flags: pathFlag,
		Exits: []front.ExitStatus{{Status: 1, Meaning: "a problem was found and remains, or the command failed"}},
		Run:   runDoctor,
	}
}

// A doctorResult lists what was found.
type doctorResult struct {
	Checked  int              `json:"checked"` // rooms
	Problems []fsroom.Problem `json:"problems"`
}

func runDoctor(_ context.Context, c *front.Call) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	names, err := d.roomsToCheck()
	if err != nil {
		return err
	}
	res := doctorResult{Problems: []fsroom.Problem{}}
	for _, name := range names {
		r := fsroom.At(d.store, rules, name)
		if !r.Exists() {
			continue
		}
		res.Checked++
		res.Problems = append(res.Problems, r.Check()...)
	}
	if err := c.Out.Result(res, func(t *front.Text) { writeDoctor(t, res) }); err != nil || len(res.Problems) == 0 {
		return err
	}
	return front.Exit(1)
}

// roomsToCheck are those of a named path, else all.
func (d *desk) roomsToCheck() ([]string, error) {
	w, err := d.workspace()
	if err != nil {
		return nil, err
	}
	named := d.call.HasArg("path") || d.call.Given("path")
	return d.roomNames(w, !named)
}

func writeDoctor(t *front.Text, r doctorResult) {
	for _, p := range r.Problems {
		if p.Line > 0 {
			t.Line("%s %s:%d: %s", t.Red("bad"), p.File, p.Line, p.Problem)
		} else {
			t.Line("%s %s: %s", t.Red("bad"), p.File, p.Problem)
		}
		if p.Repair != "" {
			t.Line("    repair would %s", p.Repair)
		}
	}
	if len(r.Problems) == 0 {
		t.Line("%s %s checked, nothing is wrong.", t.Green("ok"), counted(r.Checked, "room"))
	}
}

// counted writes "1 room", "2 rooms".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
