package identity

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary plays "tt whoami" and other processes when it is told to in
// this variable.
const roleVariable = "IDENTITY_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "whoami":
		playWhoami()
	case "verdict":
		playVerdict()
	case "facts":
		fmt.Printf("%q %v\n", BootID(), Monotonic() > 0)
	}
}

// A report is what a "whoami" prints.
type report struct {
	Agent Agent
	Self  Process
}

func playWhoami() {
	agent, err := Resolve(SystemEnv(), System(), "")
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(report{agent, System().Self()})
}

// playVerdict reads a process from standard input and prints its verdict.
func playVerdict() {
	var p Process
	if err := json.NewDecoder(os.Stdin).Decode(&p); err != nil {
		panic(err)
	}
	fmt.Println(System().Verdict(p))
}

// executable returns the path of the test binary.
func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// cleanEnv is an environment that gives no harness away, with extra variables.
// Under the race detector a process would sleep for a second before it ends.
func cleanEnv(role string, extra ...string) []string {
	always := []string{"PATH=" + os.Getenv("PATH"), "HOME=/", "GORACE=atexit_sleep_ms=0", roleVariable + "=" + role}
	return append(always, extra...)
}

// whoami runs a command line that ends in a whoami, and returns its report.
func whoami(t *testing.T, env []string, command ...string) report {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v %s", command, err, out)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%q: %v in %q", command, err, out)
	}
	return r
}

// copyAs copies a program to a folder of the test's under another name.
func copyAs(t *testing.T, program, name string) string {
	t.Helper()
	from, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), name)
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}

// A child is a process that lives until its standard input is closed.
type child struct {
	*exec.Cmd
	stdin   io.Closer
	process Process
}

// startChild starts a cat, and returns it when it answers.
func startChild(t *testing.T) *child {
	t.Helper()
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	fmt.Fprintln(stdin, "there")
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || !strings.HasPrefix(line, "there") {
		t.Fatalf("the child says %q, %v", line, err)
	}
	info, err := System().Inspect(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return &child{cmd, stdin, info.Process}
}

// end kills the child and takes its status, so that its pid is free.
func (c *child) end() {
	c.Process.Kill()
	c.Wait()
}

// patience bounds waits for what must happen; it is no measure of speed.
const patience = 2 * time.Minute

func waitFor(t *testing.T, what string, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("%s: nothing after %v", what, patience)
	}
}
