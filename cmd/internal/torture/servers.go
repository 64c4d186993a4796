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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

const port = "4222"

// A server is a tt-natsd on a machine of its own.
type server struct {
	*process // nil: it was never started
	n        int
	machine  *machine
	dir      string
	line     []string // that starts it
	disk     disk     // that has the store; without an image it is a directory
}

// servers are one server, or a cluster.
type servers []*server

// newServers makes servers, each with a disk of its own if that is asked for.
func newServers(program, base string, machines []*machine, disks bool) (all servers, err error) {
	var routes []string
	for _, m := range machines {
		routes = append(routes, "nats://"+m.ip+":6222")
	}
	for i, m := range machines {
		s := &server{n: i, machine: m, dir: filepath.Join(base, fmt.Sprintf("server%d", i+1))}
		s.line, s.disk = []string{program, "--listen", m.ip + ":" + port}, disk{dir: s.dir, dataName: "store"}
		err = errors.Join(err, os.MkdirAll(s.dir, 0o700))
		if len(machines) > 1 {
			config := filepath.Join(s.dir, "cluster.conf")
			s.line = append(s.line, "--config", config)
			err = errors.Join(err, os.WriteFile(config, fmt.Appendf(nil,
				"server_name: %s\ncluster { name: torture, listen: \"%s:6222\", no_advertise: true, routes: [%s] }\n",
				s.name(), m.ip, strings.Join(routes, ", ")), 0o600))
		}
		if disks {
			s.disk = disk{fileSystem: ext4Large, dataName: "store"}.at(s.dir + "-disk")
			err = errors.Join(err, s.disk.format(), s.disk.mount())
		}
		all = append(all, s)
	}
	return all, err
}

func (s *server) name() string { return "s" + strconv.Itoa(s.n+1) }

// start starts the server. It is ready some time later.
func (s *server) start() error {
	line := append(slices.Clone(s.line), "--store", s.disk.data())
	if _, err := os.Stat(filepath.Join(s.disk.data(), "store.json")); err != nil {
		line = append(line, "--new")
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.process = (&host{machine: s.machine, workspace: s.dir, environ: os.Environ()}).process(line...)
	s.Stdout, s.Stderr = log, log
	s.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return s.launch()
}

// startup is how long servers may take to start, with disks and processors that are busy.
const startup = 90 * time.Second

// start starts all servers and waits until they are ready.
func (all servers) start() error {
	for _, s := range all {
		if err := s.start(); err != nil {
			return err
		}
	}
	for _, s := range all {
		var log []byte
		ready := func() bool {
			log, _ = os.ReadFile(filepath.Join(s.dir, "log"))
			return bytes.Contains(log, []byte("listening "))
		}
		eventually(startup, func() bool { return ready() || s.over.closed() })
		if !ready() {
			return fmt.Errorf("server %s does not start: %s", s.name(), log)
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

func (all servers) url(namespace string) string {
	var hosts []string
	for _, s := range all {
		hosts = append(hosts, s.machine.ip+":"+port)
	}
	return "nats://" + strings.Join(hosts, ",") + "/" + namespace
}

// leader returns the server that leads the stream, as one of the servers says.
func (all servers) leader() (leader *server, err error) {
	if len(all) == 1 {
		return all[0], nil
	}
	eventually(startup, func() bool {
		for _, s := range all {
			var name string
			name, err = s.askLeader()
			if i := slices.IndexFunc(all, func(s *server) bool { return s.name() == name }); i >= 0 {
				leader = all[i]
				return true
			}
		}
		time.Sleep(100 * time.Millisecond) // to vote
		return false
	})
	if leader == nil {
		return nil, fmt.Errorf("there is no leader after %v: %v", startup, err)
	}
	return leader, nil
}

func (s *server) askLeader() (leader string, err error) {
	var conn *nats.Conn
	s.machine.in(func() {
		conn, err = nats.Connect("nats://"+s.machine.ip+":"+port, nats.Timeout(time.Second), nats.NoReconnect())
	})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	answer, err := conn.Request("$JS.API.STREAM.INFO.TT", nil, time.Second)
	if err != nil {
		return "", err
	}
	var info struct{ Cluster struct{ Leader string } }
	err = json.Unmarshal(answer.Data, &info)
	return info.Cluster.Leader, err
}
