//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A host is a data directory on a machine.
type host struct {
	n         int
	tt        string
	machine   *machine // of a host that shares rooms; nil: this one
	dir       string   // its home, with all that is its own
	data      string
	workspace string
	environ   []string
}

const roomName = "torture/hosts"

func newHost(n int, tt, dir, url string, m *machine, environ ...string) (*host, error) {
	h := &host{n: n, tt: tt, machine: m, dir: dir, data: filepath.Join(dir, "data"), workspace: filepath.Join(dir, "workspace")}
	h.environ = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TALKING_STICK_DATA_DIR=" + h.data,
		"TALKING_STICK_ENGINE=" + url, "TALKING_STICK_ROOM=" + roomName}, environ...)
	return h, os.MkdirAll(h.workspace, 0o700)
}

func (h *host) isRemote() bool { return h.machine != nil }

func (h *host) process(stdin string, line ...string) *process {
	p := newProcess(h.workspace, h.environ, line)
	p.Stdin = strings.NewReader(stdin)
	return p
}

func (h *host) launch(p *process) error {
	if h.isRemote() {
		return p.launch(h.machine.start)
	}
	return p.launch(nil)
}

// longest is how long a command may take: a wait of a few seconds, its calls of the engine,
// on a busy machine.
const longest = 60 * time.Second

// run runs a command of tt on the host. Unless killAfter is 0 it is killed after that time.
func (h *host) run(killAfter time.Duration, args ...string) *outcome {
	return h.exec(killAfter, "", append(args, "--json")...)
}

// exec is run with a standard input, and without --json.
func (h *host) exec(killAfter time.Duration, stdin string, args ...string) *outcome {
	p := h.process(stdin, append([]string{h.tt}, args...)...)
	if err := h.launch(p); err != nil {
		return &outcome{line: args, exit: 1, stderr: err.Error()}
	}
	if killAfter > 0 {
		defer time.AfterFunc(killAfter, func() { p.signal(syscall.SIGKILL) }).Stop()
	}
	return p.within(longest)
}

// mirror returns the events of the room as the host has them, and the bytes that say so.
func (h *host) mirror() (events []event.Event, journal []byte, err error) {
	paths, err := filepath.Glob(filepath.Join(h.data, "engines", "*", "rooms", "*", "journal.jsonl"))
	if err == nil && len(paths) != 1 {
		err = fmt.Errorf("host %d has the journals %q, want one", h.n+1, paths)
	}
	if err == nil {
		journal, err = os.ReadFile(paths[0])
	}
	for line := range strings.Lines(string(journal)) {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, nil, fmt.Errorf("after event %d: %w", len(events), err)
		}
		events = append(events, e)
		if e.Seq != int64(len(events)) {
			return nil, nil, fmt.Errorf("event %d is where event %d should be", e.Seq, len(events))
		}
	}
	return events, journal, err
}

// upToDate brings the mirror of the host up to date.
func (h *host) upToDate() error {
	var o *outcome
	if eventually(stall, func() bool {
		o = h.run(0, "events", "--agent", "z:9")
		return o.exit == 0 && !strings.Contains(o.stderr, "knew last") || o.exit != 0 && !slices.Contains(unreachable, o.code)
	}) && o.exit == 0 {
		return nil
	}
	return fmt.Errorf("host %d does not come up to date: %v", h.n+1, o)
}
