package ttcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// A rig is a workspace in which agents run tt, a process each.
type rig struct {
	t         *testing.T
	workspace string
	data      string
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, workspace: filepath.Join(t.TempDir(), "ws"), data: filepath.Join(t.TempDir(), "data")}
	if err := os.Mkdir(r.workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.workspace, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// command is tt, called by an agent.
func (r *rig) command(agent string, args ...string) *exec.Cmd {
	bin, err := programs()
	if err != nil {
		r.t.Fatal(err)
	}
	return &exec.Cmd{
		Path: filepath.Join(bin, "tt"), Args: append([]string{"tt"}, args...), Dir: r.workspace,
		Env: []string{"HOME=" + r.workspace, "USER=tester", "TALKING_STICK_LEDGER=off", "TT_HARNESS_AGENT_ID=" + agent, "TALKING_STICK_DATA_DIR=" + r.data, "TALKING_STICK_WAITER_GRACE=1h"},
	}
}

// run returns what tt printed, or its error.
func (r *rig) run(agent string, args ...string) (string, error) {
	out, err := r.command(agent, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: tt %s: %s", agent, strings.Join(args, " "), exit.Stderr)
	}
	return string(out), err
}

// events are all events of the room.
func (r *rig) events() []event.Event {
	var events []event.Event
	paths, err := filepath.Glob(filepath.Join(r.data, "rooms", "*", "journal.jsonl"))
	if err != nil || len(paths) != 1 {
		r.t.Fatalf("journals: %v, %v", paths, err)
	}
	log, err := journal.Open(paths[0])
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	if _, _, err := log.Scan(journal.Position{}, func(e *event.Event, _ int64) error {
		events = append(events, e.Clone())
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
	return events
}

// TestTwelveFightForOneRoom: twelve agents want turns of one room. Inside a turn an
// agent makes a file that must not exist, so that two at once would be seen.
func TestTwelveFightForOneRoom(t *testing.T) {
	t.Parallel()
	agents, turns := 12, int64(36)
	if testing.Short() {
		agents, turns = 6, 12
	}
	r := newRig(t)
	var taken sync.Map
	var wg sync.WaitGroup
	for i := range agents {
		wg.Add(1)
		go func() {
			defer wg.Done()
			agent := fmt.Sprintf("a:%02d", i)
			for last := int64(0); last < turns; {
				n, err := r.oneTurn(agent)
				if err != nil {
					t.Error(err)
					return
				}
				if who, twice := taken.LoadOrStore(n, agent); twice {
					t.Errorf("turn %d was granted to %s and to %s", n, who, agent)
				}
				last = n
			}
		}()
	}
	wg.Wait()
	checkTurns(t, r.events(), turns)
}

// oneTurn waits for a turn, works in it alone, and hands over.
func (r *rig) oneTurn(agent string) (int64, error) {
	out, err := r.run(agent, "wait", "--timeout", "120s", "--json")
	if err != nil {
		return 0, err
	}
	var res struct {
		Status string `json:"status"`
		TurnID int64  `json:"turn_id"`
	}
	if err := json.Unmarshal([]byte(out), &res); err != nil || res.Status != turn.YourTurn {
		return 0, fmt.Errorf("%s waited and got %s (%v)", agent, out, err)
	}
	inside := filepath.Join(r.workspace, "inside")
	f, err := os.OpenFile(inside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("%s is not alone in turn %d", agent, res.TurnID)
	}
	if err != nil {
		return 0, err
	}
	f.Close()
	if err := os.Remove(inside); err != nil {
		return 0, err
	}
	_, err = r.run(agent, "release", "--status", "worked", "--next-action", "go on")
	return res.TurnID, err
}

// checkTurns: turns are gapless, nobody gets one before the last has ended, and
// what the journal folds to is what state.json says.
func checkTurns(t *testing.T, events []event.Event, least int64) {
	t.Helper()
	last, owner := int64(0), ""
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d stands at place %d", e.Seq, i+1)
		}
		switch e.Type {
		case turn.Claim:
			if owner != "" || e.Turn != last+1 {
				t.Fatalf("event %d: turn %d for %s while %q holds turn %d", e.Seq, e.Turn, e.To, owner, last)
			}
			owner, last = e.To, e.Turn
		case turn.Released:
			if e.From != owner {
				t.Fatalf("event %d: %s released the turn of %q", e.Seq, e.From, owner)
			}
			owner = ""
		case turn.Takeover:
			t.Fatalf("event %d: a takeover, and nobody asked for one", e.Seq)
		}
	}
	if last < least {
		t.Errorf("%d turns, want %d", last, least)
	}
}

// TestStateIsOnlyACache: removing state.json at any time changes nothing that
// anybody can see, neither now nor in what comes after.
func TestStateIsOnlyACache(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	must := func(agent string, args ...string) string {
		t.Helper()
		out, err := r.run(agent, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	forget := func() {
		t.Helper()
		paths, _ := filepath.Glob(filepath.Join(r.data, "rooms", "*", "state.json"))
		for _, p := range paths {
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps := [][]string{
		{"a:1", "join"}, {"b:1", "join"}, {"a:1", "try"}, {"b:1", "msg", "send", "a:1", "hello"},
		{"b:1", "notes", "add", "remember"}, {"a:1", "release", "--status", "s", "--next-action", "n"},
		{"b:1", "wait"}, {"b:1", "policy", "--claim-ttl", "5m"}, {"a:1", "leave"},
	}
	for _, step := range steps {
		must(step[0], step[1:]...)
		seen := func() string {
			var view struct {
				Room    json.RawMessage              `json:"room"`
				Members []map[string]json.RawMessage `json:"members"`
			}
			if err := json.Unmarshal([]byte(must("watcher:1", "state", "--json")), &view); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(string(view.Room), view.Members, must("watcher:1", "notes", "list", "--json"), must("watcher:1", "events", "--json"))
		}
		before := seen()
		forget()
		if after := seen(); after != before {
			t.Errorf("after %v, without state.json:\n%s\nwith it:\n%s", step, after, before)
		}
	}
}
