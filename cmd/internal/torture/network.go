//go:build linux

package torture

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A machine is a network namespace with an address of its own. All namespaces end with
// this process.
type machine struct {
	ip, path string
	do       chan func() // on a thread that stays in the namespace
	port     string      // on the bridge
}

func newMachine(n int) (*machine, error) {
	m := &machine{ip: fmt.Sprintf("10.231.7.%d", n), port: fmt.Sprintf("p%d", n), do: make(chan func())}
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
	return m, errors.Join(<-made, m.ip4("link set lo up"))
}

// ending is locked once the run ends: nothing is started any more.
var ending sync.RWMutex

// in runs f on the machine; nil is this one. Processes that f starts, and connections that it makes, are
// the machine's.
func (m *machine) in(f func()) {
	ending.RLock()
	defer ending.RUnlock()
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

// A network is machines on a bridge, which is in a namespace of its own, the first one.
type network []*machine

// newNetwork makes n machines that reach each other.
func newNetwork(n int) (w network, err error) {
	for i := range n + 1 {
		m, failed := newMachine(i)
		if w = append(w, m); failed != nil {
			return w, failed
		}
		if i == 0 {
			err = errors.Join(m.ip4("link add br0 type bridge"), m.ip4("link set br0 up"))
			continue
		}
		err = errors.Join(err,
			w[0].ip4("link add %s type veth peer name eth0 netns %s", m.port, m.path),
			w.plug(m, "master br0 up"),
			m.ip4("addr add %s/24 dev eth0", m.ip),
			m.ip4("link set eth0 up"),
		)
	}
	return w, err
}

// close removes the machines, on which nothing may run any more.
func (w network) close() {
	for _, m := range w {
		close(m.do)
	}
}

// plug plugs a machine in, or unplugs it: up or down.
func (w network) plug(m *machine, how string) error { return w[0].ip4("link set %s %s", m.port, how) }
