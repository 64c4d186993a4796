// Package natstest starts servers for tests.
package natstest

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// programVariable names tt-natsd. Building it takes a minute, so "make test-hosts" does it, and
// without it what needs a server is skipped.
const programVariable = "TT_TEST_NATSD"

// Program returns the path of tt-natsd, and skips the test if there is none.
func Program(t testing.TB) string {
	t.Helper()
	path := os.Getenv(programVariable)
	if path == "" {
		t.Skipf("it needs a server: %s is not set; make test-hosts sets it", programVariable)
	}
	return path
}

// A Server is a running tt-natsd.
type Server struct {
	URL  string // without a namespace
	args []string
	cmd  *exec.Cmd
	out  *bufio.Reader
}

// Start starts a server on the loopback, and ends it with the test. If there are args,
// they take the place of --listen and --store.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if len(args) == 0 {
		args = []string{"--listen", "127.0.0.1:0", "--store", t.TempDir()}
	}
	s := &Server{args: args}
	s.Restart(t)
	return s
}

// StartCluster starts servers that form a cluster, and ends them with the test.
func StartCluster(t testing.TB, n int) []*Server {
	t.Helper()
	dir := t.TempDir()
	var ports, routes []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports, routes = append(ports, port), append(routes, "nats://127.0.0.1:"+port)
		l.Close()
	}
	servers := make([]*Server, n)
	for i := range servers {
		config := filepath.Join(dir, fmt.Sprintf("%d.conf", i))
		text := fmt.Sprintf("server_name: n%d\ncluster { name: tt, listen: \"127.0.0.1:%s\", routes: [%s] }\n", i, ports[i], strings.Join(routes, ", "))
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		servers[i] = &Server{args: []string{"--listen", "127.0.0.1:0", "--store", filepath.Join(dir, fmt.Sprint(i)), "--config", config}}
		servers[i].launch(t)
	}
	address := "nats://"
	for _, s := range servers {
		s.await(t)
		address += strings.TrimPrefix(s.URL, "nats://") + ","
	}
	for _, s := range servers {
		s.URL = strings.TrimSuffix(address, ",")
	}
	return servers
}

// Restart starts the server, which does not run, again, with more arguments, and waits until it is
// ready.
func (s *Server) Restart(t testing.TB, more ...string) {
	t.Helper()
	s.launch(t, more...)
	s.await(t)
}

func (s *Server) launch(t testing.TB, more ...string) {
	t.Helper()
	args := slices.Concat(s.args, more)
	if store := s.store(); store != "" {
		if _, err := os.Stat(filepath.Join(store, "store.json")); err != nil {
			args = append(args, "--new")
		}
	}
	s.cmd = exec.Command(Program(t), args...)
	stderr := new(bytes.Buffer)
	s.cmd.Stderr = stderr
	cmd := s.cmd
	t.Cleanup(func() { // after Kill
		if t.Failed() && cmd.ProcessState != nil {
			t.Logf("standard error of %q:\n%s", s.args, stderr)
		}
	})
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
}

// await waits until the server is ready.
func (s *Server) await(t testing.TB) {
	t.Helper()
	line, err := s.out.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !ok {
		s.Kill()
		t.Fatalf("tt-natsd says %q: %v", line, err)
	}
	s.URL = url
	// The next start is at the same address.
	if i := slices.Index(s.args, "--listen"); i >= 0 {
		s.args[i+1] = strings.TrimPrefix(url, "nats://")
	}
}

// Kill ends the server without a warning.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// Save copies the store of a server that does not run.
func (s *Server) Save(t testing.TB) { copyStore(t, s.store(), s.store()+"-copy") }

// PutBack puts the copy of the store in its place.
func (s *Server) PutBack(t testing.TB) {
	s.Lose(t)
	copyStore(t, s.store()+"-copy", s.store())
}

func copyStore(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

// Lose removes the store of a server that does not run.
func (s *Server) Lose(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll(s.store()); err != nil {
		t.Fatal(err)
	}
}

// store returns the directory of the store, "" if the arguments name none.
func (s *Server) store() string {
	if i := slices.Index(s.args, "--store"); i >= 0 {
		return s.args[i+1]
	}
	return ""
}

// Stop stops the server's process, until Continue. When it returns the server answers nothing
// any more.
func (s *Server) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGSTOP)
	for {
		// The signal stops one thread after the other; this waits for the last one.
		if _, err := syscall.Wait4(s.cmd.Process.Pid, nil, syscall.WUNTRACED, nil); err != syscall.EINTR {
			return
		}
	}
}

// Continue continues a stopped server.
func (s *Server) Continue() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// Namespace returns the address of a namespace that no other test has.
func (s *Server) Namespace(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r > 127 {
			return '-'
		}
		return r
	}, t.Name())
	return fmt.Sprintf("%s/%s-%x", s.URL, name[max(0, len(name)-40):], time.Now().UnixNano())
}
