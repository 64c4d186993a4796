package cli

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// asProcess returns the toy as a process of its own.
func asProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "FRONT_TEST_TOY=1", "TT_HARNESS_EXPORT=")
	return cmd
}

func TestProcess(t *testing.T) {
	cmd := asProcess(t, "throw", "anna")
	out, err := cmd.Output()
	if err != nil || string(out) != "anna has it\n" {
		t.Errorf("%v, %q", err, out)
	}
	cmd = asProcess(t, "throw")
	if out, _ := cmd.Output(); cmd.ProcessState.ExitCode() != 2 || len(out) > 0 {
		t.Errorf("status %d, %q", cmd.ProcessState.ExitCode(), out)
	}
}

// TestProcessWithoutReader: a closed pipe does not kill the process, which would
// leave its caller without a word on whether the command was carried out.
func TestProcessWithoutReader(t *testing.T) {
	for line, want := range map[string]int{"throw anna": 1, "shout hear": 0} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		reader.Close()
		var stderr bytes.Buffer
		cmd := asProcess(t, split(line)...)
		cmd.Stdout, cmd.Stderr = writer, &stderr
		_ = cmd.Run()
		writer.Close()
		if got := cmd.ProcessState.ExitCode(); got != want || (stderr.Len() > 0) != (want == 1) {
			t.Errorf("%s: status %d, stderr %q", line, got, stderr.String())
		}
	}
}

// TestProcessWithoutReaderOfErrors: nor does one that was to take the error.
func TestProcessWithoutReaderOfErrors(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer writer.Close()
	cmd := asProcess(t, "throw")
	cmd.Stderr = writer
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("%v", cmd.ProcessState)
	}
}

func TestSystemEnv(t *testing.T) {
	t.Setenv("HOME", "/home/anna")
	t.Setenv("USER", "anna")
	env := SystemEnv()
	if env.Dir == "" || env.Home != "/home/anna" || env.Lookup("USER") != "anna" || env.Now().IsZero() {
		t.Errorf("got %+v", env)
	}
	if _, err := env.Executable(); err != nil {
		t.Error(err)
	}
}
