//go:build linux

package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// Of what is done to the store of a server, the hosts have to give back what it has lost.

// lacking are the codes of commands while a store lacks something.
var lacking = []string{"engine_restored", "engine_rewound", "disk_full"}

// straddle is longer than a call of the engine lasts. One that a host has begun before the store lost
// what it had sent, and that finds another entry in its place, would do its change again.
const straddle = 5 * time.Second

// stores lets agents take turns, two on another host under the id of the first ones, over slow links
// that lose packets, while strange things are done to the store of the server.
func stores(e *env, r *report) {
	e.try(r, plan{servers: 1, hosts: 3, agents: e.pick(3, 6, 6), twins: 2, lease: time.Minute,
		disks: true, far: 100 * time.Millisecond, allowed: append(lacking, "agent_elsewhere"), faults: []failure{
			{"entries come that are no change, and one of a later version", strangeEntries, 0},
			{"the disk is full", fullDisk, 2 * time.Second},
			{"an older copy of the store is put back", copiedBack, straddle},
			{"one bit of the store is wrong", wrongBit, straddle},
		}})
}

// crowd lets fifty agents take turns.
func crowd(e *env, r *report) {
	e.try(r, plan{servers: 1, hosts: 10, agents: 50, lease: 5 * time.Minute, prompt: true})
}

func fullDisk(t *trial) (func() error, error) {
	path := filepath.Join(t.servers[0].disk.dir, "fill")
	err := command("fallocate", "-l", "1G", path) // which takes what there is, and fails
	if _, there := os.Stat(path); there != nil {
		return nil, err
	}
	return func() error { return os.Remove(path) }, nil
}

// copiedBack puts a copy of the store in its place that lacks some turns.
func copiedBack(t *trial) (func() error, error) {
	s := t.servers[0]
	s.kill()
	backup := s.store + "-backup"
	err := command("cp", "-a", s.store, backup)
	if err == nil {
		err = t.servers.start()
	}
	if err != nil || !t.calm() {
		return nil, err
	}
	s.kill()
	if err := os.RemoveAll(s.store); err != nil {
		return nil, err
	}
	if err := os.Rename(backup, s.store); err != nil {
		return nil, err
	}
	s.restored = true
	err = t.servers.start()
	s.restored = false
	return t.giveBack, err
}

// wrongBit flips one bit in the first half of what the server has stored. It may lose all that comes
// after it.
func wrongBit(t *trial) (func() error, error) {
	s := t.servers[0]
	time.Sleep(2 * time.Second) // the server notes every second how far it has got
	s.kill()
	files, err := filepath.Glob(filepath.Join(s.store, "jetstream", "*", "streams", "TT", "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no entries in %s: %v", s.store, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	bit := t.random().IntN(4 * len(b))
	b[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		return nil, err
	}
	return t.giveBack, t.servers.start()
}

// giveBack lets every host give back what the server has lost, and then opens it.
func (t *trial) giveBack() error {
	for _, open := range [][]string{nil, {"--open"}} {
		for _, h := range t.hosts {
			var o *outcome
			line := append([]string{"doctor", "--repair", "--agent", "z:9"}, open...)
			if !eventually(stall, func() bool {
				o = h.run(0, line...)
				return o.exit == 0 || open == nil && !slices.Contains(unreachable, o.code)
			}) {
				return fmt.Errorf("host %d: %v", h.n+1, o)
			}
		}
	}
	return nil
}

// strangeEntries appends what every host has to skip, and an event of a type that none knows.
func strangeEntries(t *trial) (func() error, error) {
	s, h := t.servers[0], t.hosts[0]
	conn, err := nats.Connect(s.url(), nats.SetCustomDialer(s.machine))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	mirrors, err := filepath.Glob(filepath.Join(h.data, "engines", "*", "rooms", "*", "mirror.json"))
	if err != nil || len(mirrors) != 1 {
		return nil, fmt.Errorf("the mirrors of host 1 are %q: %v", mirrors, err)
	}
	subject := "ttlog.torture.rooms." + filepath.Base(filepath.Dir(mirrors[0]))
	send := func(data []byte, header nats.Header) error {
		answer, err := conn.RequestMsg(&nats.Msg{Subject: subject, Data: data, Header: header}, 5*time.Second)
		var v struct{ Error any }
		if err == nil {
			err = json.Unmarshal(answer.Data, &v)
		}
		if err == nil && v.Error != nil {
			err = fmt.Errorf("%v", v.Error)
		}
		return err
	}
	events, journal, err := h.mirror()
	if err != nil {
		return nil, err
	}
	first := journal[:slices.Index(journal, '\n')+1]
	for _, data := range []string{"garbage", "", "{}\n", string(first), string(first[:len(first)/2]), "\x00\xff\n\n"} {
		if err := send([]byte(data), nil); err != nil {
			return nil, err
		}
	}
	if err := send(journal, nats.Header{"Nats-TTL": {"1s"}}); err != nil {
		return nil, err
	}
	later := func() bool {
		if err = h.upToDate(); err != nil {
			return false
		}
		var at struct {
			Revision int64
			Note     int64 `json:"note_revision"`
		}
		b, readErr := os.ReadFile(mirrors[0])
		if events, journal, err = h.mirror(); err != nil || readErr != nil || json.Unmarshal(b, &at) != nil {
			return false
		}
		lines := bytes.SplitAfter(bytes.TrimSpace(journal), []byte("\n"))
		var e map[string]any
		if err = json.Unmarshal(lines[len(lines)-1], &e); err != nil {
			return false
		}
		e["event_type"], e["event_seq"], e["event_id"], e["of_a_later_version"] = "something_later", len(events)+1, "ev-later", true
		b, err = json.Marshal(e)
		if err == nil {
			err = send(append(b, '\n'), nats.Header{"Nats-Expected-Last-Subject-Sequence": {fmt.Sprint(max(at.Revision, at.Note))}})
		}
		return err == nil
	}
	if !eventually(stall, later) {
		return nil, fmt.Errorf("an event of a later version: %w", err)
	}
	return func() error { return nil }, nil
}
