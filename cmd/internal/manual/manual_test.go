package manual

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

func toy() *cli.Program {
	return &cli.Program{
		Name: "toy", Short: "play", Long: "First.\n\nSecond.",
		Pages: []string{"## balls: what there is\n\n  red   1\n  .blue 2\n\n# throw up: throw it\n\nSay \"it's\" \\o/\n\n" +
			"$ toy throw up \"anna\"\n  to anna\n\nExit 7: dropped\nExit 1: nobody there\n\nErrors: internal"},
		Groups: []cli.Group{{Title: "play", Commands: []*cli.Command{
			{
				Name: "throw up", Aliases: []string{"toss"},
				Args:  []cli.Arg{{Name: "to", Usage: "whom"}, {Name: "how", Optional: true}},
				Flags: func(f *cli.Flags) { f.Int64("times", "N", 3, "how often") },
			},
			{Name: "secret", Hidden: true},
		}}},
	}
}

func TestPages(t *testing.T) {
	pages := Pages(toy(), "v1.2")
	var names []string
	for _, p := range pages {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "toy.1 toy-throw-up.1 toy-help.1 toy-version.1" {
		t.Fatal(got)
	}
	for text, page := range map[string]int{
		".TH \"TOY\" 1 \"\" \"toy v1.2\"\n.SH \"NAME\"\ntoy \\- play\n": 0,
		"\nFirst.\n\nSecond.\n":                                                             0,
		"\nPlay:\n  throw up  throw it\n":                                                   0,
		".fi\n.SH \"BALLS\"\n.nf\n  red   1\n  .blue 2\n.fi\n":                              0,
		".TH \"TOY\\-THROW\\-UP\" 1 \"\" \"toy v1.2\"\n":                                    1,
		".SH \"DESCRIPTION\"\n.nf\nUsage: toy throw up TO [HOW] [FLAGS]\nAlias: toy toss\n": 1,
		"Say \\(dqit\\(aqs\\(dq \\eo/\n":                                                    1,
		"\n  TO   whom\n":                                                                   1,
		"\n      \\-\\-times N  how often (default 3)\n":                                    1,
		"\n  \\-v, \\-\\-verbose  ":                                                         0,
		", \\-v, \\-\\-verbose, ":                                                           1,
		"\nExamples:\n  toy throw up \\(dqanna\\(dq\n      to anna\n":                       1,
		// As in the help, what the command says of a status replaces what is common.
		"\n  0  done\n  1  nobody there\n  2  wrong usage\n  7  dropped\n": 1,
		"\nErrors:\n  internal\n": 1,
	} {
		if !strings.Contains(pages[page].Text, text) {
			t.Errorf("%s lacks %q:\n%s", pages[page].Name, text, pages[page].Text)
		}
	}
}

// No line of text may be taken for a request.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		".so /etc/passwd": `\&.so /etc/passwd`,
		"'br":             `\(aqbr`,
		`a\fB`:            `a\efB`,
		"--x":             `\-\-x`,
		"a.b":             "a.b",
		"":                "",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
