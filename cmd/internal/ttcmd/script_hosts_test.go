package ttcmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	engineshared "github.com/talking-stick/tt/cmd/internal/roomtypes/sharing"
	"github.com/talking-stick/tt/cmd/internal/ttcmd/scripthosts"
	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

// The scripts also run with rooms that an engine shares, see package scripthosts. Each script
// then has a namespace of its own.
//
// A script that speaks of one machine says so: [engine] skip, or [hosts] skip, with the
// reason.

// namespaces starts the engine that scripts share. The function it returns is that of the
// address of a namespace for the script that works in a directory, "" without an engine.
func namespaces(t *testing.T) func(work string) string {
	switch os.Getenv(scripthosts.EngineVariable) {
	case "":
		return func(string) string { return "" }
	case "nats":
		engineshared.Enable()
		engine.Slack = patience
		server := natstest.Start(t)
		return func(work string) string { return server.Namespace(t) + "-" + filepath.Base(work) }
	}
	t.Fatalf("%s=%s is not nats", scripthosts.EngineVariable, os.Getenv(scripthosts.EngineVariable))
	return nil
}

// A scriptSharing is how the rooms of one script are shared.
type scriptSharing struct {
	work string
	url  string // of the engine; "" for none
}

type sharingKey struct{}

// sharingOf returns how the rooms of a running script are shared.
func sharingOf(ts *testscript.TestScript) scriptSharing {
	return ts.Value(sharingKey{}).(scriptSharing)
}

// stores returns the directories in which the script's rooms are: that of the script, and
// with many hosts those of the others.
func (s scriptSharing) stores() []string {
	dirs := []string{s.store(filepath.Join(s.work, "data"))}
	entries, _ := os.ReadDir(scripthosts.Dir(s.work))
	for _, e := range entries {
		dirs = append(dirs, s.store(filepath.Join(scripthosts.Dir(s.work), e.Name())))
	}
	return dirs
}

// store returns where the rooms of a data directory are.
func (s scriptSharing) store(data string) string {
	if s.url == "" {
		return data
	}
	return hosts.MirrorDir(data, &hosts.Service{URL: s.url})
}

// refresh brings the mirrors of all hosts of a script up to date.
func (s scriptSharing) refresh() error {
	if s.url == "" {
		return nil
	}
	e, err := scripthosts.Open(&hosts.Service{URL: s.url})
	if err != nil {
		return err
	}
	defer e.Close()
	for _, dir := range s.stores() {
		store, err := fsroom.Open(dir, fsroom.Options{Engine: e, Host: "test"})
		if err != nil {
			return err
		}
		if err := errors.Join(refreshRooms(store, roomtypes.Stick()), refreshRooms(store, roomtypes.Topics())); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

func refreshRooms[S any](store *fsroom.Store, rules *fsroom.Rules[S]) error {
	if _, err := fsroom.Rooms(store, rules); err != nil {
		return err
	}
	names, err := fsroom.Folders(store, rules)
	for _, name := range names {
		if _, viewErr := fsroom.At(store, rules, name).View(); viewErr != nil {
			err = errors.Join(err, viewErr)
		}
	}
	return err
}

// compare returns how the mirrors differ from the history that the engine has. Each
// has to have all of it, byte for byte, once it is up to date, and before that some of its
// beginning.
func (s scriptSharing) compare() string {
	if s.url == "" {
		return ""
	}
	e, err := scripthosts.Open(&hosts.Service{URL: s.url})
	if err != nil {
		return err.Error()
	}
	defer e.Close()
	history, err := histories(e)
	if err != nil {
		return err.Error()
	}
	var problems bytes.Buffer
	for _, dir := range s.stores() {
		for room, want := range history {
			if got := mirrored(dir, room); !strings.HasPrefix(want, got) {
				fmt.Fprintf(&problems, "%s: the mirror of %s is no beginning of the engine's history:\n%s\nwant\n%s\n", dir, room, got, want)
			}
		}
	}
	if problems.Len() > 0 {
		return problems.String()
	}
	if err := s.refresh(); err != nil {
		return err.Error()
	}
	for _, dir := range s.stores() {
		for room, want := range history {
			if got := mirrored(dir, room); got != want {
				fmt.Fprintf(&problems, "%s: the mirror of %s is not the engine's history:\n%s\nwant\n%s\n", dir, room, got, want)
			}
		}
	}
	return problems.String()
}

// histories returns the lines of all rooms of an engine.
func histories(e engine.Engine) (map[string]string, error) {
	names, err := e.Rooms(context.Background(), "")
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for name := range names {
		var b strings.Builder
		if err := e.Read(context.Background(), name, 0, func(entry engine.Entry) error {
			b.Write(entry.Lines)
			return nil
		}); err != nil {
			return nil, err
		}
		all[name] = b.String()
	}
	return all, nil
}

// mirrored returns the lines of all lives of a room in a mirror. The files of the archive
// have the numbers of their events as names, of equal length.
func mirrored(dir, room string) string {
	folder, name, _ := strings.Cut(room, ".")
	files, _ := filepath.Glob(filepath.Join(dir, "archive", name, "*.jsonl"))
	slices.Sort(files)
	var b strings.Builder
	for _, path := range append(files, filepath.Join(dir, folder, name, "journal.jsonl")) {
		lines, _ := os.ReadFile(path)
		b.Write(lines)
	}
	return b.String()
}

// engineFiles returns the history of each room of an engine as if it were a file.
func (s scriptSharing) engineFiles() (map[string]string, error) {
	files := make(map[string]string)
	if s.url == "" {
		return files, nil
	}
	e, err := scripthosts.Open(&hosts.Service{URL: s.url})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	history, err := histories(e)
	for room, lines := range history {
		if strings.HasPrefix(room, "doctor.") {
			continue // doctor tries whether it may write, and the engine forgets it
		}
		files["engine:"+room] = fmt.Sprintf("%x", sha256.Sum256([]byte(lines)))
	}
	return files, err
}

// isFetched reports whether a file says only what a host has fetched, or who fetches, or is
// just being written by a guardian.
func isFetched(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, ".new-") || name == "mirror.json" || name == "clock.json" || name == "puller" || name == "fetched"
}

// scriptFetched is "fetched": every host has fetched what the others have done, as it has
// after a command of its own, or while one waits there.
func scriptFetched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: fetched")
	}
	ts.Check(sharingOf(ts).refresh())
}

// isOfNewHost reports whether a file is one of a host that was not there before.
func isOfNewHost(path string, before map[string]string) bool {
	rest, ok := strings.CutPrefix(path, "/hosts/")
	host, _, _ := strings.Cut(rest, "/")
	_, known := before["/hosts/"+host]
	return ok && !known || path == "/hosts"
}

var ttLine = regexp.MustCompile(`\btt ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?`)

// opensRoom reports whether a script runs a command that has to do with rooms. Commands of
// locks and of installing do not.
func opensRoom(script string) bool {
	commands := make(map[string]*cli.Command)
	for _, group := range program().Groups {
		if !slices.Contains([]string{groupTurns, groupTalk, groupLook}, group.Title) {
			continue
		}
		for _, cmd := range group.Commands {
			for _, name := range append([]string{cmd.Name}, cmd.Aliases...) {
				commands[name] = cmd
			}
		}
	}
	for _, words := range ttLine.FindAllStringSubmatch(script, -1) {
		cmd := commands[words[1]+" "+words[2]]
		if cmd == nil {
			cmd = commands[words[1]]
		}
		if cmd != nil && cmd.Name != "whoami" {
			return true
		}
	}
	return false
}

// scriptFiles returns the scripts to run: with an engine, those that open rooms.
func scriptFiles(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if !scripthosts.WithEngine() {
		return files
	}
	return slices.DeleteFunc(files, func(path string) bool {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return !opensRoom(string(b)) || scripthosts.Many() && !onHosts(string(b))
	})
}

// onHosts reports whether a script is not the same where each agent is on a host of its own: whether
// scripthosts.Choose may choose another one, or the script asks for hosts.
func onHosts(script string) bool {
	return strings.Contains(script, "hosts") || strings.Contains(script, "TT_HARNESS_AGENT_ID") ||
		slices.ContainsFunc(agentNamed.FindAllStringSubmatch(script, -1), func(m []string) bool { return !strings.HasPrefix(m[1], "a:") })
}

var agentNamed = regexp.MustCompile(`--agent[ =]['"]?(\S+)`)
