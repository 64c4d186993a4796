//go:build linux

package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

// A server is a tt-natsd on a machine of its own.
type server struct {
	*process // nil: it was never started
	*host
	name string
	line []string // that starts it
	disk disk     // that has the store; without an image it is a directory
}

func (s *server) store() string { return filepath.Join(s.disk.dir, "store") }

// servers are one server, or a cluster.
type servers []*server

// newServers makes servers, each with a disk of its own if that is asked for.
func (t *trial) newServers(machines []*machine, disks bool) (err error) {
	var routes []string
	for _, m := range machines {
		routes = append(routes, "nats://"+m.ip+":6222")
	}
	for i, m := range machines {
		name := fmt.Sprintf("s%d", i+1)
		h := t.on(filepath.Join(t.dir, name)) // which ends with the directory
		h.machine, h.dir = m, h.data
		s := &server{host: h, name: name, line: []string{t.natsd, "--listen", m.ip + ":4222"}, disk: disk{dir: h.dir}}
		err = errors.Join(err, os.MkdirAll(h.dir, 0o700))
		if len(machines) > 1 {
			config := filepath.Join(h.dir, "cluster.conf")
			s.line = append(s.line, "--config", config)
			err = errors.Join(err, os.WriteFile(config, fmt.Appendf(nil,
				"server_name: %s\ncluster { name: torture, listen: \"%s:6222\", no_advertise: true, routes: [%s] }\n",
				name, m.ip, strings.Join(routes, ", ")), 0o600))
		}
		if disks {
			s.disk = disk{fileSystem: ext4Large}.at(filepath.Join(h.dir, "disk"))
			err = errors.Join(err, s.disk.format())
		}
		t.servers = append(t.servers, s)
	}
	return err
}

// startup is how long servers may take to start, with disks and processors that are busy.
const startup = 90 * time.Second

// start starts all servers and waits until they are ready.
func (all servers) start() error {
	for _, s := range all {
		line := append(slices.Clone(s.line), "--store", s.store())
		if _, err := os.Stat(filepath.Join(s.store(), "store.json")); err != nil {
			line = append(line, "--new")
		}
		log, err := os.Create(filepath.Join(s.host.dir, "log"))
		if err != nil {
			return err
		}
		defer log.Close()
		s.process = s.host.process(line...)
		s.Stdout, s.Stderr = log, log
		s.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := s.launch(); err != nil {
			return err
		}
	}
	for _, s := range all {
		var log []byte
		if !eventually(startup, func() bool {
			log, _ = os.ReadFile(filepath.Join(s.host.dir, "log"))
			return bytes.Contains(log, []byte("listening "))
		}) {
			return fmt.Errorf("server %s does not start: %s", s.name, log)
		}
	}
	return nil
}

// kill ends servers without a warning.
func (all servers) kill() {
	for _, s := range all {
		if s.process != nil && s.Process != nil {
			s.process.kill()
		}
	}
}

// signal signals all servers.
func (all servers) signal(sig syscall.Signal) {
	for _, s := range all {
		s.process.signal(sig)
	}
}

func (all servers) url() string {
	var hosts []string
	for _, s := range all {
		hosts = append(hosts, s.host.machine.ip+":4222")
	}
	return "nats://" + strings.Join(hosts, ",") + "/torture"
}

// leader returns the number of the server that leads the stream, as the first one says.
func (all servers) leader() (n int, err error) {
	if len(all) == 1 {
		return 0, nil
	}
	if !eventually(startup, func() bool {
		var conn *nats.Conn
		all[0].host.machine.in(func() { conn, err = nats.Connect(servers{all[0]}.url()) })
		if err != nil {
			return false
		}
		defer conn.Close()
		var info struct{ Cluster struct{ Leader string } }
		answer, failed := conn.Request("$JS.API.STREAM.INFO.TT", nil, time.Second)
		if err = failed; err == nil {
			err = json.Unmarshal(answer.Data, &info)
		}
		n = slices.IndexFunc(all, func(s *server) bool { return s.name == info.Cluster.Leader })
		return n >= 0
	}) {
		return 0, fmt.Errorf("there is no leader after %v: %v", startup, err)
	}
	return n, nil
}
