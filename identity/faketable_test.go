package identity_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/talking-stick/tt/identity"
)

// Host, boot and namespace of the processes of a new fakeTable.
const (
	fakeHost      = "testhost"
	fakeBoot      = "00000000-0000-4000-8000-000000000001"
	fakeNamespace = "4026531836"
)

// startStep is the time between the starts of two processes. It is longer than any
// tolerance with which starts are compared.
const startStep = 10_000

// A fakeTable is a process table that tests fill by hand, so that process trees, reused pids,
// reboots and foreign hosts need no real processes. It starts with process 1 ("init") and has
// no calling process until Call. It may be used concurrently.
type fakeTable struct {
	mu        sync.Mutex
	here      identity.Process // without pid and start
	processes map[int]identity.Info
	hidden    map[int]bool
	self      int
	nextPID   int
	lastStart uint64
	inspected int
}

// newFakeTable returns a table that holds process 1 only.
func newFakeTable() *fakeTable {
	t := &fakeTable{
		here:      identity.Process{Host: fakeHost, Boot: fakeBoot, Namespace: fakeNamespace},
		processes: make(map[int]identity.Info),
		hidden:    make(map[int]bool),
		nextPID:   100,
	}
	t.add(1, 0, []string{"/sbin/init"})
	return t
}

// Start adds a child of ppid that runs args, and returns its pid.
func (t *fakeTable) Start(ppid int, args ...string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nextPID++
	t.add(t.nextPID, ppid, args)
	return t.nextPID
}

// StartAs adds a process with a given pid, in place of the one that has it.
func (t *fakeTable) StartAs(pid, ppid int, args ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(pid, ppid, args)
}

func (t *fakeTable) add(pid, ppid int, args []string) {
	t.lastStart += startStep
	p := t.here
	p.PID, p.Start = pid, t.lastStart
	t.processes[pid] = identity.Info{
		Process: p, PPID: ppid, Name: shortName(args), Args: args,
		StartedAt: time.Unix(1_700_000_000, 0).UTC().Add(time.Duration(t.lastStart) * time.Millisecond),
	}
}

// Call starts a new "tt" below ppid and makes it the caller. It returns its pid.
func (t *fakeTable) Call(ppid int) int {
	pid := t.Start(ppid, "tt")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.self = pid
	return pid
}

// Exec replaces what pid runs; pid and start stay, as with exec(2).
func (t *fakeTable) Exec(pid int, args ...string) {
	t.change(pid, func(p *identity.Info) { p.Args, p.Name = args, shortName(args) })
}

// Rename sets the short name alone, as a process or its title does.
func (t *fakeTable) Rename(pid int, name string) {
	t.change(pid, func(p *identity.Info) { p.Name = name })
}

// Zombify ends pid, whose parent does not collect its status.
func (t *fakeTable) Zombify(pid int) {
	t.change(pid, func(p *identity.Info) { p.Args, p.Zombie = nil, true })
}

// Hide makes pid impossible to inspect, though it may run.
func (t *fakeTable) Hide(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hidden[pid] = true
}

// End removes pid; its children go to process 1.
func (t *fakeTable) End(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.processes, pid)
	for child, p := range t.processes {
		if p.PPID == pid {
			p.PPID = 1
			t.processes[child] = p
		}
	}
}

// Move puts the caller and its whole table on another host, into another boot or
// another pid namespace. Values of Process returned before do not change.
func (t *fakeTable) Move(host, boot, namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.here = identity.Process{Host: host, Boot: boot, Namespace: namespace}
	for pid, p := range t.processes {
		p.Host, p.Boot, p.Namespace = host, boot, namespace
		t.processes[pid] = p
	}
}

// Process returns the process that has pid now, the zero value if there is none.
func (t *fakeTable) Process(pid int) identity.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.processes[pid].Process
}

// Inspected returns how many times Inspect was called.
func (t *fakeTable) Inspected() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inspected
}

// Self returns the caller; without one, a process of pid 0.
func (t *fakeTable) Self() identity.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, ok := t.processes[t.self]; ok {
		return p.Process
	}
	return t.here
}

var errHidden = errors.New("the process is hidden")

// Inspect implements [identity.Table].
func (t *fakeTable) Inspect(pid int) (identity.Info, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inspected++
	if t.hidden[pid] {
		return identity.Info{}, errHidden
	}
	p, ok := t.processes[pid]
	if !ok {
		return identity.Info{}, fs.ErrNotExist
	}
	return p, nil
}

// Look implements [identity.Table].
func (t *fakeTable) Look(pid int) (identity.Info, error) { return t.Inspect(pid) }

// Verdict implements [identity.Table].
func (t *fakeTable) Verdict(p identity.Process) identity.Verdict {
	return identity.Judge(p, t.Self(), t.Inspect)
}

func (t *fakeTable) change(pid int, how func(*identity.Info)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.processes[pid]
	if !ok {
		panic("no such process")
	}
	how(&p)
	t.processes[pid] = p
}

// shortName returns the kernel's short name of the program: 15 bytes of its file name.
func shortName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name := filepath.Base(args[0])
	return name[:min(len(name), 15)]
}

var _ identity.Table = (*fakeTable)(nil)
