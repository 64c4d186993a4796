package ttcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// A spoken is what one command line led to, with commands that do nothing.
type spoken struct {
	calls          []*cli.Invocation
	status         int
	stdout, stderr string
}

// A speaker runs command lines on the real table of commands, without what the
// commands do.
type speaker struct {
	program *cli.Program
	calls   []*cli.Invocation
}

func newSpeaker() *speaker {
	s := &speaker{program: program()}
	s.program.Groups = slices.Clone(s.program.Groups)
	for i, g := range s.program.Groups {
		heard := cli.Group{Title: g.Title}
		for _, c := range g.Commands {
			deaf := *c // the table is everybody's
			deaf.Traits.NoSync = true
			deaf.Run = func(_ context.Context, call *cli.Invocation) error {
				s.calls = append(s.calls, call)
				return nil
			}
			heard.Commands = append(heard.Commands, &deaf)
		}
		s.program.Groups[i] = heard
	}
	return s
}

func (s *speaker) speak(args ...string) spoken {
	var stdout, stderr bytes.Buffer
	env := &cli.Env{
		Args: args, Lookup: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Dir: "/", Home: "/",
	}
	s.calls = nil
	status := s.program.Main(context.Background(), env)
	return spoken{s.calls, status, stdout.String(), stderr.String()}
}

// respell writes a call down as a command line: its name, its flags each with its
// value, its arguments behind the end of the flags.
func respell(c *cli.Invocation) []string {
	args := c.Cmd.Path()
	for _, flag := range c.Program.FlagsOf(c.Cmd) {
		name := "--" + flag.Name
		switch {
		case !c.Given(flag.Name):
		case flag.Placeholder == "":
			args = append(args, name)
		case flag.Repeatable:
			for _, value := range c.Strings(flag.Name) {
				args = append(args, name+"="+value)
			}
		case flag.Placeholder == "N":
			args = append(args, fmt.Sprint(name, "=", c.Int64(flag.Name)))
		case flag.Placeholder == "D":
			args = append(args, fmt.Sprint(name, "=", c.Duration(flag.Name)))
		default:
			args = append(args, name+"="+c.String(flag.Name))
		}
	}
	args = append(args, "--")
	for _, arg := range c.Cmd.Args {
		args = append(args, c.Rest(arg.Name)...)
	}
	return args
}

// FuzzCommandLine: a command line calls one command, with what another spelling
// of the same line calls it with, or is refused before any command sees it, in
// words that are fit for a terminal, or as one line of JSON. Arguments are
// separated by NUL, which is in none of them.
func FuzzCommandLine(f *testing.F) {
	for _, line := range [][]string{
		{}, {"wait"}, {"wait", "--timeout", "110", "--park", "/tmp"}, {"wait", "--timeout=1e9999s"}, {"wait", "--timeout=-9223372036854775808ns"},
		{"pass", "next", "--status", "s", "--next-action=n", "--artifact", "a.go:1-2=edit", "--question", "", "--json"}, {"pass", "--status", "--json"},
		{"--agent", "a:1", "msg", "send", "room", "--", "--help", "-x"}, {"msg", "--agent=\x1b[2J\u202e", "sned", "room"}, {"msg"}, {"msg", "recv", "--follow", "--after=99999999999999999999"},
		{"events", "--event", "claim,release", "--event=", "--limit", "-1", "--target", "self"}, {"notes", "add", "--severity=Page", "x"}, {"notes", "list", "--after", "\xff\xfe"},
		{"--help"}, {"help", "msg", "send"}, {"help", "\r\n"}, {"version"}, {"--version", "--json"}, {"-vh"}, {"-vz", "--json"}, {"-"}, {"--"}, {"---"}, {"--=x"}, {"", ""},
		{"take", "--reason=" + strings.Repeat("é", 300), "--operator-requested=true"}, {"kick", "--", "-a"}, {"policy", "--owner-lease-ttl", "45m", "--heartbeat-interval=5m"},
		{"\ufeffwait"}, {"wait\r"}, {"check", "--path", "a", "b", "c"}, {"toString", "--json"}, {"state", "--json", "--json", "--text"}, {strings.Repeat("-", 500)},
	} {
		f.Add(strings.Join(line, "\x00"))
	}
	tt := newSpeaker()
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		s := tt.speak(args...)
		if strings.ContainsFunc(s.stderr, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' }) || len(s.stderr) > 2000 {
			t.Fatalf("%q reaches the terminal: %q", args, s.stderr)
		}
		switch {
		case s.status == 2 && s.stdout == "" && len(s.calls) == 0:
			checkUsage(t, args, s.stderr)
		case s.status != 0 || s.stderr != "" || len(s.calls) > 1:
			t.Fatalf("%q: status %d, %d calls, %q, %q", args, s.status, len(s.calls), s.stdout, s.stderr)
		case len(s.calls) == 1:
			tt.checkCall(t, args, s.calls[0])
		case s.stdout == "":
			t.Fatalf("%q: nothing happened", args)
		}
	})
}

func checkUsage(t *testing.T, args []string, stderr string) {
	t.Helper()
	end := slices.Index(append(args, "--"), "--")
	if !slices.Contains(args[:end], "--json") {
		if !strings.HasPrefix(stderr, "tt: ") || !strings.Contains(stderr, " (usage)\n") {
			t.Fatalf("%q: %q", args, stderr)
		}
		return
	}
	var e struct{ Error, Message, Hint string }
	if json.Unmarshal([]byte(stderr), &e) != nil || e.Error != "usage" || e.Message == "" || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("%q: %q", args, stderr)
	}
}

func (s *speaker) checkCall(t *testing.T, args []string, c *cli.Invocation) {
	t.Helper()
	spelling := respell(c)
	again := s.speak(spelling...)
	if len(again.calls) != 1 || !slices.Equal(respell(again.calls[0]), spelling) || again.calls[0].JSON != c.JSON {
		t.Fatalf("%q is %q, which is refused or another call: %q", args, spelling, again.stderr)
	}
	for _, more := range []string{"--help", "-h", "--no-such-flag", "-z"} {
		line := append([]string{more}, args...)
		if ran := s.speak(line...).calls; len(ran) != 0 {
			t.Fatalf("%q runs %s", line, ran[0].Cmd.Name)
		}
	}
}
