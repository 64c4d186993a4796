//go:build linux

package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

const port = "4222"

// A server is a tt-natsd on a machine of its own.
type server struct {
	*process // nil: it does not run
	n        int
	program  string
	machine  *machine
	dir      string
	store    string
	disk     disk   // that the store is on; the zero disk is none
	cluster  string // configuration; "" for a server alone
	restored bool   // its store was copied back
}

// servers are one server, or a cluster.
type servers []*server

func newServers(program, base string, machines []*machine) (all servers, err error) {
	var routes []string
	for _, m := range machines {
		routes = append(routes, "nats://"+m.ip+":6222")
	}
	for i, m := range machines {
		s := &server{n: i, program: program, machine: m, dir: filepath.Join(base, fmt.Sprintf("server%d", i+1))}
		s.store = filepath.Join(s.dir, "store")
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, err
		}
		if len(machines) > 1 {
			s.cluster = fmt.Sprintf("server_name: %s\ncluster { name: torture, listen: \"%s:6222\", no_advertise: true, routes: [%s] }\n",
				s.name(), m.ip, strings.Join(routes, ", "))
		}
		all = append(all, s)
	}
	return all, nil
}

func (s *server) name() string { return "s" + strconv.Itoa(s.n+1) }

func (s *server) url() string { return "nats://" + s.machine.ip + ":" + port }

// log is what the server has written.
func (s *server) log() string { return filepath.Join(s.dir, "log") }

// start starts the server, which is ready some time later.
func (s *server) start() error {
	args := []string{s.program, "--listen", s.machine.ip + ":" + port, "--store", s.store}
	if _, err := os.Stat(filepath.Join(s.store, "store.json")); err != nil {
		args = append(args, "--new")
	}
	if s.restored {
		args = append(args, "--restored")
	}
	if s.cluster != "" {
		config := filepath.Join(s.dir, "cluster.conf")
		if err := os.WriteFile(config, []byte(s.cluster), 0o600); err != nil {
			return err
		}
		args = append(args, "--config", config)
	}
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close()
	p := (&host{machine: s.machine, workspace: s.dir, environ: os.Environ()}).process(args...)
	p.Stdout, p.Stderr = log, log
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err = p.launch(); err == nil {
		s.process = p
	}
	return err
}

func (s *server) signal(sig syscall.Signal) {
	if s.process != nil {
		s.process.signal(sig)
	}
}

// kill ends the server without a warning.
func (s *server) kill() {
	if s.process != nil {
		s.process.kill()
		s.process = nil
	}
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
			log, _ = os.ReadFile(s.log())
			return bytes.Contains(log, []byte("listening "))
		}
		eventually(startup, func() bool { return ready() || s.over.closed() })
		if !ready() {
			return fmt.Errorf("server %s does not start: %s", s.name(), log)
		}
	}
	return nil
}

func (all servers) kill() {
	for _, s := range all {
		s.signal(syscall.SIGCONT)
		s.kill()
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
func (all servers) leader() (*server, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	err := errors.New("no server answers")
	for deadline := time.Now().Add(startup); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		for _, s := range all {
			var name string
			if name, err = s.askLeader(); err != nil {
				continue
			}
			for _, leader := range all {
				if leader.name() == name {
					return leader, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("there is no leader after %v: %w", startup, err)
}

func (s *server) askLeader() (string, error) {
	conn, err := nats.Connect(s.url(), nats.SetCustomDialer(s.machine), nats.Timeout(time.Second), nats.NoReconnect())
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
