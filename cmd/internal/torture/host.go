//go:build linux

package torture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/journal/event"
)

// A host is a data directory on a machine.
type host struct {
	n         int
	tt        string
	machine   *machine // of a host that shares rooms; nil: this one
	data      string
	workspace string
	environ   []string
}

func (h *host) isRemote() bool { return h.machine != nil }

// process is a program on the host, with a handoff on its standard input.
func (h *host) process(line ...string) *process {
	p := &process{Cmd: exec.Command(line[0], line[1:]...), machine: h.machine, over: newLatch()}
	p.Env, p.Dir, p.Stdin = h.environ, h.workspace, strings.NewReader(`{"status":"s","next_action":"n"}`)
	p.Stdout, p.Stderr, p.outcome.line = &p.out, &p.err, line[1:]
	return p
}

// command is tt --json on the host.
func (h *host) command(args ...string) *process {
	return h.process(append(append([]string{h.tt}, args...), "--json")...)
}

// run runs it.
func (h *host) run(args ...string) *outcome { return h.command(args...).run() }

// ok runs tt commands, one per line, which must succeed.
func (h *host) ok(lines ...string) error {
	for _, line := range lines {
		if o := h.run(strings.Fields(line)...); o.exit != 0 {
			return fmt.Errorf("tt %v", o)
		}
	}
	return nil
}

// mirror brings the mirror of the host up to date. It returns the events of the room, and the bytes that say so.
func (h *host) mirror() (events []event.Event, text []byte, err error) {
	var o *outcome
	if !eventually(stall, func() bool {
		o = h.run("events", "--agent", "z:9")
		return o.exit == 0 && !strings.Contains(o.stderr, "knew last")
	}) {
		return nil, nil, fmt.Errorf("host %d does not come up to date: %v", h.n+1, o)
	}
	paths, _ := filepath.Glob(filepath.Join(h.data, "engines", "*", "rooms", "*", "journal.jsonl"))
	if len(paths) != 1 {
		return nil, nil, fmt.Errorf("host %d has the journals %q, want one", h.n+1, paths)
	}
	if text, err = os.ReadFile(paths[0]); err == nil {
		events, err = eventsIn(paths[0])
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			return nil, nil, fmt.Errorf("event %d is where event %d should be", e.Seq, i+1)
		}
	}
	return events, text, err
}
