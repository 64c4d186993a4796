package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
)

func env(variables map[string]string, args ...string) *Env {
	return &Env{Args: args, Lookup: func(name string) string { return variables[name] }}
}

func TestMode(t *testing.T) {
	const asJSON, asText = "{\"to\":\"anna\"}\n", "anna has it\n"
	tests := []struct {
		line, export string
		harness      bool
		want         string
	}{
		{"throw anna", "", false, asText},
		{"throw anna --json", "", false, asJSON},
		{"--json throw anna", "", false, asJSON},
		{"throw anna", "1", false, asJSON},
		{"throw anna", "TRUE", false, asJSON},
		{"throw anna", "0", false, asText},
		{"throw anna", "yes", false, asText},
		{"throw anna --text", "1", true, asText},
		{"throw anna", "", true, asJSON},
		{"throw anna -- --json", "", false, asText},
		{"store net left", "1", true, "the left side\n"},
		{"store net left --json", "", false, "{\"side\":\"left\"}\n"},
	}
	for _, test := range tests {
		var stdout bytes.Buffer
		world := env(map[string]string{"TT_HARNESS_EXPORT": test.export}, split(test.line)...)
		world.Stdout, world.Stderr = &stdout, io.Discard
		program := toy(func(*Invocation) {})
		program.DefaultJSON = func(*Env) bool { return test.harness }
		status := program.Main(context.Background(), world)
		if status != 0 || stdout.String() != test.want {
			t.Errorf("%+v: status %d, stdout %q", test, status, stdout.String())
		}
	}
}

// TestUsageErrorsHonourTheMode also where the arguments cannot be understood.
func TestUsageErrorsHonourTheMode(t *testing.T) {
	for _, harness := range []bool{true, false} {
		var stderr bytes.Buffer
		program := toy(func(*Invocation) {})
		program.DefaultJSON = func(*Env) bool { return harness }
		program.Main(context.Background(), &Env{Args: []string{"throw", "--bogus"}, Stdout: io.Discard, Stderr: &stderr})
		if strings.HasPrefix(stderr.String(), "{") != harness {
			t.Errorf("harness %v: %q", harness, stderr.String())
		}
	}
}

func TestJSONShape(t *testing.T) {
	tests := []struct {
		line string
		tty  bool
		want string
	}{
		{"score", false, "{\"A\":1,\"B\":2}\n"},
		{"score", true, "{\n  \"A\": 1,\n  \"B\": 2\n}\n"},
		{"shout hear", false, "1\n\"<two>\"\n"},
		{"shout hear", true, "1\n\"<two>\"\n"},
		{"shout send all <&> --json", false, "[\"<&>\"]\n"},
		{"version", false, "toy 1.2.3 (abc123)\n"},
		{"--version", false, "toy 1.2.3 (abc123)\n"},
		{"--version --json", false, `{"name":"toy","version":"1.2.3","commit":"abc123"}` + "\n"},
		{"version --json", false, `{"name":"toy","version":"1.2.3","commit":"abc123"}` + "\n"},
	}
	for _, test := range tests {
		world := env(nil, split(test.line)...)
		world.StdoutTTY = test.tty
		p := playIn(t, world)
		if p.status != 0 || p.stdout != test.want {
			t.Errorf("%s, terminal %v: status %d, stdout %q", test.line, test.tty, p.status, p.stdout)
		}
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		line   string
		status int
		stderr string
	}{
		{"fail refused", 1, "toy: the ball is \\x1b[31mgone (stale_lease)\nhint: look for it\n"},
		{"fail refused -v", 1, "toy: the ball is \\x1b[31mgone (stale_lease)\ncause: wind\nhint: look for it\n"},
		{"fail refused --json", 1, `{"error":"stale_lease","message":"the ball is \u001b[31mgone","hint":"look for it","owner":"anna"}` + "\n"},
		{"fail plain", 1, "toy: no luck (internal)\n"},
		{"fail plain --json", 1, `{"error":"internal","message":"no luck"}` + "\n"},
		{"fail status", 4, ""},
		{"fail zero", 0, ""},
		{"fail panic", 1, "toy: internal error: lost the ball (internal)\nhint: please report this with what the same command prints with --verbose\n"},
		{"fail undeclared", 1, "toy: internal error: cli: flag --nonsense is not declared (internal)\nhint: please report this with what the same command prints with --verbose\n"},
	}
	for _, test := range tests {
		p := play(t, split(test.line)...)
		if p.status != test.status || p.stdout != "" || p.stderr != test.stderr {
			t.Errorf("%s: status %d, stdout %q\n got %q\nwant %q", test.line, p.status, p.stdout, p.stderr, test.stderr)
		}
	}
}

func TestVerbosePanicShowsWhere(t *testing.T) {
	p := play(t, "fail", "panic", "-v")
	if p.status != 1 || !strings.Contains(p.stderr, "toy_test.go") || !strings.HasSuffix(p.stderr, "hint: please report this with the lines above\n") {
		t.Errorf("status %d, stderr %q", p.status, p.stderr)
	}
}

// A deaf writer fails with its error.
type deaf struct{ err error }

func (d deaf) Write([]byte) (int, error) { return 0, d.err }

func TestLostOutput(t *testing.T) {
	tests := []struct {
		line   string
		err    error
		status int
		says   string
	}{
		{"throw anna", syscall.EPIPE, 1, "(internal)\nhint: what the command did stands; only its output is lost\n"},
		{"throw anna", syscall.ENOSPC, 1, "could not be written: no space left on device (internal)\n"},
		{"shout hear", syscall.EPIPE, 0, ""},
		{"store net", syscall.EPIPE, 0, ""},
		{"help", syscall.EPIPE, 0, ""},
		{"throw --help", syscall.EPIPE, 0, ""},
		{"--version", syscall.EPIPE, 0, ""},
		{"shout hear", syscall.ENOSPC, 1, "(internal)\n"},
		{"help", syscall.ENOSPC, 1, "(internal)\n"},
		{"--version", syscall.ENOSPC, 1, "(internal)\n"},
	}
	for _, test := range tests {
		var stderr bytes.Buffer
		world := &Env{Args: split(test.line), Stdout: deaf{test.err}, Stderr: &stderr}
		status := toy(func(*Invocation) {}).Main(context.Background(), world)
		if status != test.status || !strings.Contains(stderr.String(), test.says) || (test.says == "") != (stderr.Len() == 0) {
			t.Errorf("%s, %v: status %d, stderr %q", test.line, test.err, status, stderr.String())
		}
	}
}

// TestForgottenWriteError: a command that ignores the error of its output has
// failed nevertheless.
func TestForgottenWriteError(t *testing.T) {
	program := &Program{Name: "toy", Groups: []Group{{Commands: []*Command{{Name: "go", Run: func(_ context.Context, c *Invocation) error {
		_ = c.Out.Print("gone")
		return nil
	}}}}}}
	status := program.Main(context.Background(), &Env{Args: []string{"go"}, Stdout: deaf{io.ErrShortWrite}, Stderr: io.Discard})
	if status != 1 {
		t.Errorf("status %d", status)
	}
}

func TestWarn(t *testing.T) {
	for asJSON, want := range map[bool]string{false: "toy: warning: mind \\x1b[2J\n", true: ""} {
		var stderr bytes.Buffer
		c := &Invocation{Out: newOutput("toy", &Env{Stderr: &stderr}, asJSON), JSON: asJSON}
		c.Warn("mind %s", "\x1b[2J")
		if stderr.String() != want {
			t.Errorf("JSON %v: %q", asJSON, stderr.String())
		}
	}
}

// TestNotices: for a program an error is alone on standard error. A notice is printed when no error can follow, and as soon as
// a stream has begun.
func TestNotices(t *testing.T) {
	const notice, failed = "toy: warning: mind\n", `{"error":"internal","message":"broken","warnings":["mind"]}` + "\n"
	fail := func(*Invocation) error { return errors.New("broken") }
	line := func(c *Invocation) error { return c.Out.WriteLine(1, nil) }
	for _, test := range []struct {
		args string
		then []func(*Invocation) error
		want string
	}{
		{"go --json", []func(*Invocation) error{fail}, failed},
		{"go --json", nil, notice},
		{"go --json", []func(*Invocation) error{func(*Invocation) error { return Exit(3) }}, notice},
		{"go --json", []func(*Invocation) error{line, fail}, notice + `{"error":"internal","message":"broken"}` + "\n"},
		{"go", []func(*Invocation) error{fail}, notice + "toy: broken (internal)\n"},
	} {
		var stderr bytes.Buffer
		program := &Program{Name: "toy", Groups: []Group{{Commands: []*Command{{Name: "go", Run: func(_ context.Context, c *Invocation) error {
			c.Notice("mind")
			for _, do := range test.then {
				if err := do(c); err != nil {
					return err
				}
			}
			return nil
		}}}}}}
		program.Main(t.Context(), &Env{Args: split(test.args), Stdout: io.Discard, Stderr: &stderr})
		if stderr.String() != test.want {
			t.Errorf("%s: %q, want %q", test.args, stderr.String(), test.want)
		}
	}
}

// TestVersionFromTheBuild: a program that does not know its version says what the
// build recorded.
func TestVersionFromTheBuild(t *testing.T) {
	var stdout bytes.Buffer
	program := &Program{Name: "toy"}
	program.Main(context.Background(), &Env{Args: []string{"version"}, Stdout: &stdout, Stderr: io.Discard})
	if name, version, _ := strings.Cut(stdout.String(), " "); name != "toy" || strings.TrimSpace(version) == "" {
		t.Errorf("got %q", stdout.String())
	}
}

// TestWidth: help follows a narrow terminal, and nothing else does.
func TestWidth(t *testing.T) {
	for columns, want := range map[int]int{0: defaultWidth, 1: leastWidth, 60: 60, 200: 200} {
		world := &Env{Width: func() int { return columns }}
		if got := world.columns(true); got != want {
			t.Errorf("%d: got %d", columns, got)
		}
		if got := world.columns(false); got != defaultWidth {
			t.Errorf("%d without a terminal: got %d", columns, got)
		}
	}
}

// TestErrorsFit: an error and its hint fit a terminal, and are a line each elsewhere.
func TestErrorsFit(t *testing.T) {
	const message, hint = "a message of twenty-nine bytes", "what to do about it, in more words than fit"
	program := &Program{Name: "toy"}
	for terminal, want := range map[bool]string{
		false: "toy: " + message + " (internal)\nhint: " + hint + "\n",
		true:  "toy: a message of twenty-nine bytes\n  (internal)\nhint: what to do about it, in more words\n  than fit\n",
	} {
		env := &Env{StderrTTY: terminal, Width: func() int { return 42 }}
		if got := program.describe(code.New(code.Internal, message).WithHint(hint), env, false, false); got != want {
			t.Errorf("terminal %v: %q", terminal, got)
		}
	}
}

// A version that is the beginning of the commit says nothing new.
func TestVersionText(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "toy v1.2.3 (abc123def456)\n", "abc123d": "toy abc123def456\n"} {
		var stdout bytes.Buffer
		program := &Program{Name: "toy", Version: version, Commit: "abc123def456"}
		program.Main(context.Background(), &Env{Args: []string{"version"}, Stdout: &stdout, Stderr: io.Discard})
		if stdout.String() != want {
			t.Errorf("%s: got %q, want %q", version, stdout.String(), want)
		}
	}
}
