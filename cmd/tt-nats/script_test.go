package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// The scripts in testdata/hosts are sessions on several hosts, with the programs as they
// are built and a server of their own. Each host reaches the server by a proxy.
//
//	host NAME            commands are those of the host from now on
//	cut NAME             nothing gets through between the host and the server any more
//	detain NAME          its changes do not get through any more, and the first process that makes one is stopped
//	mend NAME            all does again, with what was held up meanwhile, and the process goes on
//	server stop|continue|kill|restart
//	server lose          what it has stored is gone, once it was killed
//	server renew         the same, and the server is started with --new --restored
//	server save          its store is copied, once it was killed
//	server restore       the copy takes the place of the store, and the server is started with --restored
//	far NAME RTT [EVERY]  its messages take so long there and back; one in so many packets takes 800 ms more
//	trips MOST CMD…      runs the command of the host that was named last, in at most so many round trips
//	until PATTERN CMD…   runs the command until what it prints matches the pattern
func TestScripts(t *testing.T) {
	natstest.Program(t)
	bin := buildPrograms(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "hosts"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			n := &network{t: t, work: env.WorkDir, proxies: make(map[string]*proxy), server: natstest.Start(t)}
			env.Defer(n.close)
			env.Values[networkKey{}] = n
			env.Cd = filepath.Join(env.WorkDir, "ws")
			home := filepath.Join(env.WorkDir, "home")
			for _, dir := range []string{env.Cd, home} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			env.Vars = append(env.Vars, "HOME="+home, "USER=tester", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
				"TALKING_STICK_ROOM=acme/api", "TALKING_STICK_WAITER_GRACE=1h", "TALKING_STICK_DISABLE_SKILL_SYNC=1", "BIN="+bin)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"host": func(ts *testscript.TestScript, neg bool, args []string) {
				p := networkOf(ts).proxy(ts, arguments(ts, neg, args, 1)[0])
				ts.Setenv("TALKING_STICK_DATA_DIR", p.data)
				ts.Setenv("TALKING_STICK_ENGINE", p.url())
			},
			"cut": func(ts *testscript.TestScript, neg bool, args []string) {
				networkOf(ts).proxy(ts, arguments(ts, neg, args, 1)[0]).cut()
			},
			"detain": func(ts *testscript.TestScript, neg bool, args []string) {
				networkOf(ts).proxy(ts, arguments(ts, neg, args, 1)[0]).detain(ts)
			},
			"mend": func(ts *testscript.TestScript, neg bool, args []string) {
				networkOf(ts).proxy(ts, arguments(ts, neg, args, 1)[0]).mend()
			},
			"server": func(ts *testscript.TestScript, neg bool, args []string) {
				n := networkOf(ts)
				switch what := arguments(ts, neg, args, 1)[0]; what {
				case "stop":
					n.server.Stop()
				case "continue":
					n.server.Continue()
				case "kill":
					n.server.Kill()
				case "save":
					n.server.Save(n.t)
				case "restore":
					n.server.PutBack(n.t)
					n.server.Restart(n.t, "--restored")
				case "renew":
					n.server.Lose(n.t)
					n.server.Restart(n.t, "--restored")
				case "lose":
					n.server.Lose(n.t)
				case "restart":
					n.server.Restart(n.t)
				default:
					ts.Fatalf("a server cannot %s", what)
				}
			},
			"until": scriptUntil,
			"far":   scriptFar,
			"trips": scriptTrips,
		},
	})
}

func arguments(ts *testscript.TestScript, neg bool, args []string, n int) []string {
	if neg || len(args) != n {
		ts.Fatalf("want %d arguments, and no !", n)
	}
	return args
}

// buildPrograms builds tt and tt-nats and returns their directory.
func buildPrograms(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-o", bin, "github.com/talking-stick/tt/cmd/tt", "github.com/talking-stick/tt/cmd/tt-nats", "github.com/talking-stick/tt/cmd/tt-console")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// scriptUntil runs a command until what it prints matches a pattern.
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN CMD…")
	}
	const patience = 2 * time.Minute
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	var out []byte
	for start := time.Now(); time.Since(start) < patience; time.Sleep(10 * time.Millisecond) {
		cmd := scriptCommand(ts, args[1:])
		if input, err := os.Open(ts.MkAbs("stdin")); err == nil {
			defer input.Close()
			cmd.Stdin = input
		}
		if out, _ = cmd.CombinedOutput(); pattern.Match(out) {
			return
		}
	}
	ts.Fatalf("after %v it prints %s", patience, out)
}

// scriptCommand returns a command as the script would run it.
func scriptCommand(ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(ts.Getenv("BIN"), args[0]), args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "TALKING_STICK_DATA_DIR", "TALKING_STICK_ENGINE", "TALKING_STICK_ROOM"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// A network is the server of a script, and how its hosts reach it.
type network struct {
	t       *testing.T
	work    string
	server  *natstest.Server
	proxies map[string]*proxy
}

type networkKey struct{}

func networkOf(ts *testscript.TestScript) *network { return ts.Value(networkKey{}).(*network) }

// proxy returns the proxy of a host.
func (n *network) proxy(ts *testscript.TestScript, host string) *proxy {
	p := n.proxies[host]
	if p == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		p = &proxy{l: l, server: strings.TrimPrefix(n.server.URL, "nats://"), data: filepath.Join(n.work, "hosts", host), open: make(chan struct{})}
		close(p.open)
		n.proxies[host] = p
		go p.serve()
	}
	return p
}

// close ends the processes that hosts have started and that still run, and the network.
func (n *network) close() {
	n.server.Continue()
	for _, p := range n.proxies {
		p.mend()
		killIn(n.t, p.data)
	}
	for _, p := range n.proxies {
		p.close()
	}
}

// killIn ends the processes with the data directory in their environment: guardians.
func killIn(t *testing.T, data string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), "TALKING_STICK_DATA_DIR="+data) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil && pid != os.Getpid() {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	}
}

// A proxy is the way of one host to the server.
type proxy struct {
	l      net.Listener
	server string // its address
	data   string

	mu       sync.Mutex
	open     chan struct{} // closed while the way is open
	conns    []net.Conn
	way      way
	detained atomic.Pointer[detention]
}

// A detention keeps changes from getting through.
type detention struct {
	once  sync.Once
	first chan int // the process that was stopped
	over  chan struct{}
}

func (p *proxy) detain(ts *testscript.TestScript) {
	d := &detention{first: make(chan int, 1), over: make(chan struct{})}
	p.detained.Store(d)
	select {
	case pid := <-d.first:
		d.first <- pid
	case <-time.After(time.Minute):
		ts.Fatalf("no process changes anything")
	}
}

// pass returns when what a client sends may go on to the server.
func (p *proxy) pass(client *trips, b []byte) {
	d := p.detained.Load()
	if d != nil && (bytes.Contains(b, []byte("PUB ttlog.")) || bytes.Contains(b, []byte("PUB ttconfirm."))) {
		d.once.Do(func() {
			_ = syscall.Kill(client.pid(), syscall.SIGSTOP)
			d.first <- client.pid()
		})
		<-d.over
	}
	p.wait()
}

func (p *proxy) url() string { return "nats://" + p.l.Addr().String() + "/script" }

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

func (p *proxy) mend() {
	if d := p.detained.Swap(nil); d != nil {
		close(d.over)
		select {
		case pid := <-d.first:
			_ = syscall.Kill(pid, syscall.SIGCONT)
		default:
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *proxy) wait() {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	<-open
}

func (p *proxy) close() {
	p.l.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
}

func (p *proxy) serve() {
	for {
		here, err := p.l.Accept()
		if err != nil {
			return
		}
		go func() {
			p.wait()
			there, err := net.Dial("tcp", p.server)
			if err != nil {
				here.Close()
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, here, there)
			p.mu.Unlock()
			c := p.way.connected()
			go p.copy(p.way.late(here, c.answered), there, func([]byte) { p.wait() })
			p.copy(p.way.late(there, nil), c.asks(here), func(b []byte) { p.pass(c, b) })
			c.end()
		}()
	}
}

// copy copies what comes, once pass has returned.
func (p *proxy) copy(to io.WriteCloser, from io.ReadCloser, pass func([]byte)) {
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		pass(b[:n])
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				from.Close()
			}
			return
		}
	}
}
