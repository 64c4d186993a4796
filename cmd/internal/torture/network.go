//go:build linux

package torture

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// A machine is a network namespace with an address of its own. All namespaces end with
// this process.
type machine struct {
	ip, path string
	do       chan func() // on a thread that stays in the namespace
	port     string      // on the bridge
}

// A network is machines on a bridge, which is in a namespace of its own.
type network struct {
	bridge   *machine
	machines []*machine
}

func newMachine() (*machine, error) {
	m := &machine{do: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNET)
		m.path = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid())
		made <- err
		for f := range m.do {
			f()
		}
	}()
	if err := <-made; err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	return m, m.ip4("link set lo up")
}

// in runs f on the machine; nil is this one. Processes that f starts, and connections that it makes, are
// the machine's.
func (m *machine) in(f func()) {
	if m == nil {
		f()
		return
	}
	done := make(chan struct{})
	m.do <- func() { f(); close(done) }
	<-done
}

// command runs a program of the system on the machine.
func (m *machine) command(name string, args ...string) (err error) {
	var out []byte
	m.in(func() { out, err = exec.Command(name, args...).CombinedOutput() })
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// command runs a program of the system on this machine.
func command(name string, args ...string) error { return (*machine)(nil).command(name, args...) }

// ip4 runs the program ip on the machine.
func (m *machine) ip4(format string, args ...any) error {
	return m.command("ip", strings.Fields(fmt.Sprintf(format, args...))...)
}

// newNetwork makes machines that reach each other.
func newNetwork(n int) (*network, error) {
	bridge, err := newMachine()
	if err != nil {
		return nil, err
	}
	w := &network{bridge: bridge}
	err = errors.Join(bridge.ip4("link add br0 type bridge"), bridge.ip4("link set br0 up"))
	for i := 1; i <= n && err == nil; i++ {
		var m *machine
		if m, err = newMachine(); err != nil {
			break
		}
		m.ip, m.port = fmt.Sprintf("10.231.7.%d", i), fmt.Sprintf("p%d", i)
		w.machines = append(w.machines, m)
		err = errors.Join(
			bridge.ip4("link add %s type veth peer name eth0 netns %s", m.port, m.path),
			bridge.ip4("link set %s master br0 up", m.port),
			m.ip4("addr add %s/24 dev eth0", m.ip),
			m.ip4("link set eth0 up"),
		)
	}
	return w, err
}

// close removes the machines, on which nothing may run any more.
func (w *network) close() {
	for _, m := range append(w.machines, w.bridge) {
		close(m.do)
	}
}

// plug plugs a machine in, or unplugs it: up or down.
func (w *network) plug(m *machine, how string) error {
	return w.bridge.ip4("link set %s %s", m.port, how)
}
