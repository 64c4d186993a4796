package ttcmd

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// BenchmarkHosts is what commands take in a room that two hosts share, beside a room of one
// host, in turn: of tt-nats itself, and of tt, which becomes it. The server is tt-natsd on
// the loopback, which syncs before it acknowledges. A handoff is from the start of
// "tt release" on one host to the line of "tt wait" on the other.
func BenchmarkHosts(b *testing.B) {
	s := newBenchStage(b)
	server := natstest.Start(b)
	local := s.newRoom(b)
	worlds := []*benchHosts{{name: "tt", program: "tt", hosts: [2]*benchRoom{local, local}}}
	for _, program := range []string{"tt-nats", "tt"} {
		namespace := server.Namespace(b)
		worlds = append(worlds, &benchHosts{
			name: map[string]string{"tt-nats": "tt-nats", "tt": "tt+tt-nats"}[program], program: program,
			env:   []string{"TALKING_STICK_ENGINE=" + namespace, "TALKING_STICK_ROOM=bench/" + program},
			hosts: [2]*benchRoom{s.newRoom(b), s.newRoom(b)},
		})
	}
	for _, w := range worlds {
		w.owner, w.next = "one:1", "two:2"
		s.run(w.as(1, w.next, "join"))
		s.run(w.as(0, w.owner, "try"))
		defer func() { s.run(w.as(w.at, w.owner, "leave")) }() // and with it the last guardian
	}
	for _, c := range [][]string{{"version"}, {"state", "--json"}, {"msg", "send", "room", "hello"}, {"check"}} {
		b.Run(c[0], func(b *testing.B) {
			compareWorlds(b, worlds, func(w *benchHosts) time.Duration {
				cmd := w.as(w.at, w.owner, c...)
				started := time.Now()
				s.run(cmd)
				return time.Since(started)
			})
		})
	}
	b.Run("handoff", func(b *testing.B) {
		compareWorlds(b, worlds, func(w *benchHosts) time.Duration {
			waiter := s.start(b, w.as(1-w.at, w.next, "wait", "--timeout", "1h", "--json"))
			time.Sleep(100 * time.Millisecond) // nothing outside shows that it has subscribed
			took := s.until(b, waiter, w.as(w.at, w.owner, "release", "--status", "s", "--next-action", "n"))
			if err := waiter.cmd.Wait(); err != nil {
				b.Fatal(err)
			}
			w.at, w.owner, w.next = 1-w.at, w.next, w.owner
			return took
		})
	})
}

// benchHosts are two hosts, or one, and the two agents of a room.
type benchHosts struct {
	name, program string
	env           []string
	hosts         [2]*benchRoom
	at            int // the host of the owner
	owner, next   string
}

func (w *benchHosts) as(host int, agent string, args ...string) *exec.Cmd {
	cmd := w.hosts[host].as(agent, args...)
	cmd.Path = filepath.Join(filepath.Dir(cmd.Path), w.program)
	cmd.Env = append(cmd.Env, w.env...)
	return cmd
}

// compareWorlds measures all worlds b.N times in turn, and reports the medians and the
// tenth percentiles of all as multiples of the first one's.
func compareWorlds(b *testing.B, worlds []*benchHosts, measure func(*benchHosts) time.Duration) {
	took := make([][]time.Duration, len(worlds))
	for i := range b.N {
		for j := range worlds {
			k := (i + j) % len(worlds)
			took[k] = append(took[k], measure(worlds[k]))
		}
	}
	first := took[0]
	for i, w := range worlds {
		mid, low := median(took[i]), took[i][len(took[i])/10]
		b.ReportMetric(float64(mid.Microseconds()), w.name+"-µs")
		if i > 0 {
			b.ReportMetric(float64(mid)/float64(median(first)), w.name+"/tt")
			b.ReportMetric(float64(low)/float64(first[len(first)/10]), w.name+"/tt-p10")
		}
	}
	b.ReportMetric(0, "ns/op")
}
