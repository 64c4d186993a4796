package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
)

// TestMain turns the test binary into the toy program where a test starts it as
// one.
func TestMain(m *testing.M) {
	if os.Getenv("FRONT_TEST_TOY") != "" {
		Execute(toy(func(*Invocation) {}))
	}
	os.Exit(m.Run())
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const toyPages = `# throw: throw the ball to a player

The player has to stand on the same field, and the ball is out of your hands
as soon as the command returns.

$ toy throw anna --high
  a throw to anna
$ toy throw ben

Exit 3: nobody caught it

Errors: not_joined, unknown_member

# shout send: shout something

# shout hear: listen

# store ball show: show a ball

# store ball wipe: wipe a ball

# store net: show the net

# secret one: not in any list

# fail: fail in several ways

# score: who has won

## exit-codes: what the statuses mean

Zero is good.

## ball: what a ball is

- skin: what one
  sees
- air: what is in it
`

// toy is a small program with everything a table can have. ran is told of every
// command that runs.
func toy(ran func(*Invocation)) *Program {
	do := func(run func(c *Invocation) error) func(context.Context, *Invocation) error {
		return func(_ context.Context, c *Invocation) error {
			ran(c)
			return run(c)
		}
	}
	return &Program{
		Name:    "toy",
		Agents:  true,
		Version: "1.2.3",
		Commit:  "abc123",
		Short:   "pass a ball between players",
		Long:    "Players join a field and throw the ball to each other. Only one of them has it at any time, and the others can see who that is.\n\n    toy throw anna\n\nThere is no referee.",
		Pages:   []string{toyPages},
		Groups: []Group{{"playing", []*Command{
			{
				Name: "throw", Aliases: []string{"toss"},
				Args: []Arg{{Name: "player", Usage: "who is to catch it"}, {Name: "path", Usage: "the field, by default the current directory", Optional: true}},
				Flags: func(f *Flags) {
					f.String("reason", "TEXT", "why you throw it")
					f.StringList("note", "TEXT", "something to shout")
					f.Bool("high", "throw it in a high arc, which takes longer but is seen from further away by everybody")
					f.Int64("speed", "N", 20, "how fast")
					f.Duration("timeout", "D", 110*time.Second, "how long to wait for the catch")
					f.Choice("hand", "HAND", []string{"right", "left"}, "which hand")
				},
				Run: do(func(c *Invocation) error {
					return c.Out.Result(map[string]any{"to": c.Arg("player")}, func(t *Text) {
						t.Line("%s has it", c.Arg("player"))
					})
				}),
			},
		}}, {"talking", []*Command{
			{
				Name:  "shout send",
				Args:  []Arg{{Name: "player", Show: "PLAYER|all"}, {Name: "body", Rest: true}},
				Flags: func(f *Flags) { f.Bool("loud", "louder"); f.StringP("because", "b", "TEXT", "why you shout") },
				Run:   do(func(c *Invocation) error { return c.Out.Result(c.Rest("body"), nil) }),
			},
			{
				Name: "shout hear", Streams: true,
				Run: do(func(c *Invocation) error { return errors.Join(c.Out.WriteLine(1, nil), c.Out.WriteLine("<two>", nil)) }),
			},
		}}, {"looking", []*Command{
			{Name: "store ball show", Run: do(failing), Flags: ballFlags},
			{Name: "store ball wipe", Run: do(failing), Flags: ballFlags},
			{
				Name: "store net", TextFirst: true, Reads: true,
				Args: []Arg{{Name: "side", Choices: []string{"left", "right"}, Optional: true}},
				Run: do(func(c *Invocation) error {
					return c.Out.Result(map[string]string{"side": c.Arg("side")}, func(t *Text) { t.Line("the %s side", c.Arg("side")) })
				}),
			},
			{Name: "secret one", Hidden: true, Run: do(failing)},
			{Name: "fail", Hidden: true, Args: []Arg{{Name: "how"}}, Run: do(failing)},
			{
				Name: "score", Aliases: []string{"points now"}, JSONOnly: true,
				Run: do(func(c *Invocation) error { return c.Out.Result(map[string]int{"A": 1, "B": 2}, nil) }),
			},
		}}},
	}
}

func ballFlags(f *Flags) {
	f.Bool("soft", "softly")
	f.In("ball", func(f *Flags) {
		f.String("skin", "WHAT", "what it is made of")
		f.Bool("air", "pump it up")
	})
}

func failing(c *Invocation) error {
	switch c.Arg("how") {
	case "refused":
		return code.New(code.StaleLease, "the ball is \x1b[31mgone").WithHint("look for it").
			With("owner", "anna").With("error", "must not replace the code").With("bad", func() {}).
			Because(errors.New("wind"))
	case "plain":
		return errors.New("no luck")
	case "usage":
		return c.Usagef("not like this")
	case "status":
		return Exit(4)
	case "zero":
		return Exit(0)
	case "panic":
		panic("lost the ball")
	case "undeclared":
		c.String("nonsense")
	}
	return nil
}

// A played is what one run of the toy left behind.
type played struct {
	status         int
	stdout, stderr string
	calls          []*Invocation
}

// play runs the toy in text mode without a terminal.
func play(t testing.TB, args ...string) played {
	t.Helper()
	return playIn(t, &Env{Args: args})
}

func playIn(_ testing.TB, env *Env) played {
	var p played
	var stdout, stderr bytes.Buffer
	env.Stdout, env.Stderr, env.Stdin = &stdout, &stderr, strings.NewReader("")
	env.Now = func() time.Time { return noon }
	p.status = toy(func(c *Invocation) { p.calls = append(p.calls, c) }).Main(context.Background(), env)
	p.stdout, p.stderr = stdout.String(), stderr.String()
	return p
}
