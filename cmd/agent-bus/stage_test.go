package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
)

// A scenario is one numbered expectation of the bus, seen from outside. It is
// played twice: with servers in memory under virtual time, and with a process
// for every server under real time.
type scenario struct {
	name string // numbers and words
	play func(*stage)
}

// A stage is a data directory and the servers on it.
type stage struct {
	testing.TB
	dir     string
	env     map[string]string
	virtual bool // time is, and servers are in memory
	fault   func(fsroom.Step) error
	peers   int
	id      string // of the topic "pink", once somebody asked for it
}

func play(t *testing.T, scenarios []scenario) {
	t.Parallel()
	for i, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			t.Run("memory", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { sc.play(newStage(t, true)) })
			})
			if testing.Short() && i > 0 { // processes differ in their transport, not in what a scenario says
				return
			}
			t.Run("processes", func(t *testing.T) {
				t.Parallel()
				sc.play(newStage(t, false))
			})
		})
	}
}

func newStage(t testing.TB, virtual bool) *stage {
	return &stage{TB: t, dir: filepath.Join(tempDir(t), "data"), env: map[string]string{}, virtual: virtual}
}

// tempDir is in memory where there is such a thing: how long a sync takes on a
// disk that others use as well is not what is tested. TMPDIR overrides it.
func tempDir(t testing.TB) string {
	t.Helper()
	if os.Getenv("TMPDIR") != "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "agent-bus-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// lookup is the environment of the stage's programs.
func (s *stage) lookup(name string) string {
	if name == envDataDir {
		return s.dir
	}
	return s.env[name]
}

// A peer is one client with a server of its own.
type peer struct {
	*stage
	client *mcp.ClientSession
	server *mcp.CommandTransport // nil in memory
}

// peer starts a server and connects to it, by turns in both eras of the protocol.
func (s *stage) peer() *peer {
	s.Helper()
	s.peers++
	era := "2026-07-28"
	if s.peers%2 == 0 {
		era = "2025-06-18"
	}
	return s.peerIn(era, nil)
}

func (s *stage) peerIn(era string, options *mcp.ClientOptions) *peer {
	s.Helper()
	if s.virtual {
		_, transport := s.newServer()
		return s.connected(transport, era, options)
	}
	process := &mcp.CommandTransport{Command: s.command()}
	p := s.connected(process, era, options)
	p.server = process
	return p
}

func (s *stage) connected(transport mcp.Transport, era string, options *mcp.ClientOptions) *peer {
	s.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		s.Fatalf("connect: %v", err)
	}
	s.Cleanup(func() { _ = session.Close() })
	return &peer{stage: s, client: session}
}

// end ends the peer's session, and returns when its server has ended, too.
func (p *peer) end() {
	p.Helper()
	if err := p.client.Close(); err != nil {
		p.Fatal(err)
	}
	if p.virtual {
		synctest.Wait()
	}
}

// newServer makes a server in memory and the transport to reach it.
func (s *stage) newServer() (*server, mcp.Transport) {
	s.Helper()
	limits, err := tools.SettingsFrom(s.lookup)
	if err != nil {
		s.Fatalf("limits: %v", err)
	}
	b := newBus(s.dir, limits)
	b.Options.NoWatch, b.Options.Fault = s.virtual, s.fault
	shutdownCtx, end := context.WithCancel(context.Background())
	s.Cleanup(func() {
		end()
		if store, err := b.Store(); err == nil {
			_ = store.Close()
		}
	})
	srv := newServer(shutdownCtx, b, "test", io.Discard, slog.LevelError)
	near, far := net.Pipe()
	if _, err := srv.connect(context.Background(), srv.transport(near, near, end)); err != nil {
		s.Fatalf("serve: %v", err)
	}
	return srv, &mcp.IOTransport{Reader: far, Writer: far}
}

// command is the program with arguments, as a process on the stage's directory.
func (s *stage) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// A process under the race detector sleeps a second at its end unless told not to.
	cmd.Env = []string{asProgram + "=1", envDataDir + "=" + s.dir, "HOME=" + s.dir, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// cli runs an admin command and returns its exit status and both outputs.
func (s *stage) cli(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = program().Main(context.Background(), &cli.Env{
		Args: args, Lookup: s.lookup, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: s.dir, Home: s.dir, Now: time.Now,
	})
	return status, out.String(), errs.String()
}

// pink is the id of the topic "pink", which the first call makes.
func (s *stage) pink() string {
	s.Helper()
	if s.id == "" {
		s.id = s.peer().made("pink")
	}
	return s.id
}

// as is a new peer that has joined pink under the name.
func (s *stage) as(name string) *peer {
	s.Helper()
	s.pink()
	p := s.peer()
	p.join(s.id, name)
	return p
}

// all runs the functions at the same time.
func all(dos ...func()) {
	var group sync.WaitGroup
	for _, do := range dos {
		group.Go(do)
	}
	group.Wait()
}

// took is how long do takes.
func took(do func()) time.Duration {
	started := time.Now()
	do()
	return time.Since(started)
}

var f = fmt.Sprintf

// TestEveryScenarioIsPlayed keeps the list whole: a hundred and ten of them.
func TestEveryScenarioIsPlayed(t *testing.T) {
	t.Parallel()
	played := map[string]bool{}
	for _, sc := range slices.Concat(smokeScenarios(), topicScenarios(), joinScenarios(), askScenarios(), pendingScenarios(), answerScenarios(),
		renderScenarios(), settleScenarios(), flowScenarios()) {
		for _, word := range strings.Fields(sc.name) {
			played[word] = true
		}
	}
	for n := 1; n <= 110; n++ {
		if !played[fmt.Sprint(n)] {
			t.Errorf("no scenario is number %d", n)
		}
	}
}

// damage makes the middle of pink's journal unreadable.
func (s *stage) damage() {
	s.Helper()
	path := s.dir + "/topics/" + s.id + "/journal.jsonl"
	data, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte{'\n'})
	lines[1] = []byte("{damaged\n")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		s.Fatal(err)
	}
}
