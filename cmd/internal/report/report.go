// Package report is the command "tt report": it reads the history of a room, without a
// lock and without changing anything, and writes it as a page (package page), as the data
// of the page (package model), or as trace events.
package report

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/report/model"
	"github.com/talking-stick/tt/cmd/internal/report/page"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/viewstore"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A result is what the command prints.
type result struct {
	File    string     `json:"file"`
	Bytes   int        `json:"bytes"`
	RoomID  string     `json:"room_id"`
	From    event.Time `json:"from"`
	To      event.Time `json:"to"`
	Events  int64      `json:"events"`
	Turns   int        `json:"turns"`
	Omitted int        `json:"omitted_turns,omitempty"`
	Warning string     `json:"warning,omitempty"`
	Content string     `json:"content,omitempty"` // with -o -
}

// standardOutput is the FILE of -o that stands for it.
const standardOutput = "-"

// Run carries the command out, see viewers.Report.
func Run(ctx context.Context, c *cli.Invocation) error {
	output := c.String("output")
	switch {
	case c.Given("output") && output == "":
		return c.Usagef("-o needs the name of a file, or - for standard output")
	case output == standardOutput && c.Bool("open"):
		return c.Usagef("--open and -o - exclude each other")
	}
	room, err := open(c)
	if err != nil {
		return err
	}
	m, err := read(ctx, c, room)
	if err != nil {
		return err
	}
	content, err := render(m, c.String("format"), c.Program.BuildVersion())
	if err != nil {
		return err
	}
	res := result{
		File: output, Bytes: len(content), RoomID: room.FS.Name(), From: instant(m.From), To: instant(m.To),
		Events: m.Events, Turns: len(m.Turns), Omitted: m.Omitted,
	}
	if output == standardOutput {
		if !c.Bool("json") {
			return c.Out.Print(string(content))
		}
		res.Content = string(content)
		return c.Out.Result(res, nil)
	}
	if res.File, err = save(c, room, content); err != nil {
		return err
	}
	if output != "" && !m.Redacted {
		res.Warning = "the file has every text of the room; --redact leaves the texts out"
	}
	if c.Bool("open") {
		if err := browse(res.File); err != nil {
			res.Warning = strings.TrimPrefix(res.Warning+"; the page could not be opened: "+err.Error(), "; ")
		}
	}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("%s", res.File)
		t.Line("%s, %s, %s bytes.", code.Count(res.Turns, "turn"), code.Count(int(res.Events), "event"), thousands(res.Bytes))
		if res.Omitted > 0 {
			t.Line("Left out: %s; --since and tt log show parts of the history.", code.Count(res.Omitted, "older turn"))
		}
		if res.Warning != "" {
			t.Line("Note: %s.", res.Warning)
		}
	})
}

func instant(ms int64) event.Time { return event.NewTime(time.UnixMilli(ms)) }

// thousands returns n with a blank between groups of three digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

// open returns the room that the command line names. It may have ended.
func open(c *cli.Invocation) (*member.Room, error) {
	var once sync.Once
	view, err := viewstore.Open(c, fsroom.Options{Warn: c.Notice, Behind: func(err error) bool {
		once.Do(func() { c.Notice(err.Error() + "; this is what this host knew last") })
		return true
	}})
	if err != nil {
		return nil, err
	}
	table := identity.System()
	self, err := session.Caller(c, table)
	if err != nil {
		return nil, err
	}
	client := &member.Client{Store: view.Store, Table: table, Self: self, Warn: c.Notice, Clock: view.Clock}
	w, missing := view.Workspace(c)
	room, _, err := client.Open(w, missing)
	if err != nil && w != nil {
		if ended := client.OpenEnded(w); ended != nil {
			return ended, nil
		}
	}
	return room, err
}

// read returns the model of the room.
func read(ctx context.Context, c *cli.Invocation, room *member.Room) (*model.Model, error) {
	snap, err := room.FS.View()
	if err != nil {
		return nil, err
	}
	b := model.Builder{AllLives: c.Bool("all")}
	err = room.EachEvent(ctx, 0, b.AllLives || !snap.State.Open, func(e *event.Event) error {
		b.Add(e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := addQuestions(ctx, &b, room); code.Of(err) == code.CorruptRoom { // the room is not, so the report is worth having
		c.Notice("questions are missing: " + err.Error())
	} else if err != nil {
		return nil, err
	}
	now := time.Now()
	o := model.Options{Now: now.UnixMilli(), Redact: c.Bool("redact")}
	if c.Given("since") {
		o.Since = now.Add(-c.Duration("since")).UnixMilli()
	}
	m := b.Model(o)
	m.Room, m.Path = room.FS.Name(), room.Directory()
	if last := len(m.Turns) - 1; last >= 0 && m.Turns[last].End == 0 {
		m.Turns[last].EndReason = room.Facts(snap.State).Activity(snap.State.Owner).Words()
	}
	if snap.State.Open {
		m.Verdicts = ledger.LastWords(changes.LastVerdicts(ctx, room, snap.State, changes.SettingOf(c.Env.Lookup, c.Env.Home)),
			func(at time.Time) string { return at.Format("Mon 2 Jan 2006, 15:04 MST") })
	}
	return m, nil
}

// addQuestions adds the questions of the room to the model.
func addQuestions(ctx context.Context, b *model.Builder, room *member.Room) error {
	t := questions.OfRoom(room.Client.Store, room.FS.Name())
	if !t.Exists() || !t.HasJournal() {
		return nil
	}
	_, err := t.Events(ctx, 0, func(e *event.Event) error {
		b.AddQuestion(e)
		return nil
	})
	return err
}

// render returns the model in a format.
func render(m *model.Model, format, version string) ([]byte, error) {
	switch format {
	case "json":
		return document(m)
	case "trace":
		return document(m.Trace())
	}
	return page.Render(m, version)
}

func document(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return cli.EscapeJSON(append(b, '\n')), err
}
