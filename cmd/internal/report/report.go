// Package report is the command "tt report": it reads the history of a room, without a
// lock and without changing anything, and writes it as a page (package page), as the data
// of the page (package model), or as trace events.
package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
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
	"github.com/talking-stick/tt/lockfile"
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
	room, _, err := client.OpenPast(view.Workspace(c))
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
	if asked := questions.OfRoom(room.Client.Store, room.FS.Name()); asked.Exists() && asked.HasJournal() {
		_, err = asked.Events(ctx, 0, func(e *event.Event) error {
			b.AddQuestion(e)
			return nil
		})
	}
	if code.Of(err) == code.CorruptRoom { // the room is not, so the report is worth having
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

// render returns the model in a format.
func render(m *model.Model, format, version string) ([]byte, error) {
	data := any(m)
	switch format {
	case "html":
		return page.Render(m, version)
	case "trace":
		data = m.Trace()
	}
	b, err := json.Marshal(data)
	return cli.EscapeJSON(append(b, '\n')), err
}

// save writes the report to the file that -o names, else to one below the data directory,
// and returns its path. A file is replaced as a whole, and only its owner may read it.
func save(c *cli.Invocation, room *member.Room, content []byte) (string, error) {
	path, err := c.Env.Abs(c.String("output")), error(nil)
	if !c.Given("output") {
		path, err = freeName(filepath.Join(room.Client.Store.Dir(), "reports"), room.FS.Name(), c.String("format"), time.Now())
		if err != nil {
			return "", room.Client.Store.Explain(err, path)
		}
	}
	if err = write(path, content); err == nil {
		return path, nil
	}
	if errors.Is(err, syscall.ENOSPC) {
		return "", code.New(code.DiskFull, "no space left for %s", path).
			WithHint("free some space, or name a file on another disk: -o FILE").With("path", path).Because(err)
	}
	if info, failed := os.Stat(path); failed == nil && info.IsDir() {
		return "", c.Usagef("-o names a directory: %s", path).WithHint("name a file: -o %s", filepath.Join(path, "report.html"))
	}
	if _, failed := os.Stat(filepath.Dir(path)); errors.Is(failed, fs.ErrNotExist) {
		return "", c.Usagef("there is no directory %s", filepath.Dir(path)).WithHint("make it, or name another file with -o")
	}
	return "", code.New(code.Internal, "the report cannot be written: %v", err).
		WithHint("name another file with -o; without it the report goes to the data directory").
		With("path", path).Because(err)
}

// freeName makes the directory and returns a path in it that no file has.
func freeName(dir, room, format string, now time.Time) (string, error) {
	if err := fsroom.MakeDir(dir); err != nil {
		return dir, err
	}
	ending := cmp.Or(map[string]string{"json": ".json", "trace": ".trace.json"}[format], ".html")
	base := filepath.Join(dir, room+"-"+now.UTC().Format("20060102T150405Z"))
	path := base + ending
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil { // one that is there and cannot be seen cannot be written
			return path, nil
		}
		path = fmt.Sprintf("%s-%d%s", base, n, ending)
	}
}

// write replaces the file. What is no file, such as a pipe or a terminal, is written to;
// a link leads to what is replaced.
func write(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return errors.Join(err, f.Close())
	} else if err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	return lockfile.ReplaceUnsynced(path, content, filepath.Dir(path))
}

// browse opens the file with the program that the system has for it, and does not wait
// for that.
func browse(path string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	cmd := exec.Command(opener, path)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
