//go:build linux

package torture

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// copies moves rooms of one host to three servers, while the servers are killed and
// stopped, and kills the move itself.
func copies(e *env, r *report) {
	t, err := e.newTrial(r, plan{servers: 3, hosts: 2, agents: 1, lease: time.Minute})
	defer t.end()
	if !r.check("setting up", err) {
		return
	}
	faults := []failure{
		{"the leader is killed", ofLeader(killServer), 3 * time.Second},
		{"the leader is stopped", ofLeader(stopServer), 8 * time.Second},
		{"all servers are killed", killAll, time.Second},
		{"the leader hears nothing", ofLeader(deaf), 8 * time.Second},
	}
	for n := range e.pick(1, len(faults), 3*len(faults)) {
		f := faults[n%len(faults)]
		r.check(fmt.Sprintf("move %d, %s", n+1, f.name), t.move(n, f))
	}
}

// move makes a room, moves it while a fault lasts, and compares what another host finds. The
// fault begins some time after the move.
func (t *trial) move(n int, f failure) error {
	namespace := fmt.Sprintf("move%d", n)
	url := t.servers.url(namespace)
	with := func(h *host, dir string, engine string) (*host, error) {
		moved, err := newHost(h.n, h.tt, filepath.Join(t.dir, fmt.Sprintf("%s-%d", dir, n)), url, h.machine)
		if moved != nil && engine == "" {
			moved.environ = slices.DeleteFunc(moved.environ, func(v string) bool { return strings.HasPrefix(v, "TALKING_STICK_ENGINE=") })
		}
		return moved, err
	}
	from, err := with(t.hosts[0], "from", "")
	if err != nil {
		return err
	}
	const id = "mover:1"
	lines := [][]string{{"wait"}, {"release", "--status", "half done", "--next-action", "do the rest"}}
	for i := range 200 { // a room of 3 MB, which is moved in several parts
		lines = append(lines, []string{"notes", "add", fmt.Sprintf("%d %s", i, strings.Repeat("x", 16000))})
	}
	for _, line := range lines {
		if o := from.run(0, append(line, "--agent", id)...); o.exit != 0 {
			return fmt.Errorf("before it: %v", o)
		}
	}
	before := from.exec(0, "", "room", "export")
	if before.exit != 0 || strings.Count(before.stdout, "\n") < len(lines) {
		return fmt.Errorf("before it: %v", before)
	}

	t.report.faults++
	healed := make(chan error)
	random := t.random()
	delay := time.Duration(random.Int64N(int64(50 * time.Millisecond)))
	go func() {
		time.Sleep(delay)
		heal, err := f.inflict(t)
		if err == nil {
			time.Sleep(f.lasts)
			err = heal()
		}
		healed <- err
	}()
	deadline := time.Now().Add(f.lasts + stall)
	for try := 0; ; try++ {
		var killAfter time.Duration
		if try < 12 {
			killAfter = time.Duration(1 + random.Int64N(int64(80*time.Millisecond)))
		}
		o := from.run(killAfter, "room", "copy", url, "--agent", id)
		if o.exit == 0 {
			t.report.acks++
			break
		}
		switch {
		case o.exit == -1 && killAfter > 0:
			t.report.kills++
		case !slices.Contains(unreachable, o.code):
			<-healed
			return fmt.Errorf("after %d tries: %v", try, o)
		default:
			t.report.refused++
		}
		if time.Now().After(deadline) {
			<-healed
			return fmt.Errorf("not moved after %d tries: %v", try, o)
		}
	}
	if err := <-healed; err != nil {
		return err
	}

	to, err := with(t.hosts[1], "to", url)
	if err != nil {
		return err
	}
	var after *outcome
	if !eventually(stall, func() bool { after = to.exec(0, "", "room", "export"); return after.exit == 0 }) {
		return fmt.Errorf("after it: %v", after)
	}
	if before.stdout != after.stdout {
		return fmt.Errorf("the room has %d bytes after it, and had %d; the first difference is at %d",
			len(after.stdout), len(before.stdout), firstDifference([]byte(before.stdout), []byte(after.stdout)))
	}
	var o *outcome
	if !eventually(stall, func() bool { o = to.run(0, "wait", "--timeout", "5s", "--agent", id); return o.exit == 0 }) || !strings.Contains(o.stdout, "half done") {
		return fmt.Errorf("the turn after it: %v", o)
	}
	t.report.turns++
	return nil
}
