package completion

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// toy is a program with what makes completing difficult: names of several words,
// an alias, flags with and without values, and arguments behind each other.
func toy() *cli.Program {
	return &cli.Program{Name: "toy", Agents: true, Pages: []string{"# throw: throw it\n\n# shout send: shout\n\n# shout hear: listen"}, Groups: []cli.Group{{Commands: []*cli.Command{
		{Name: "throw", Aliases: []string{"toss"}, Args: []cli.Arg{{Name: "to"}, {Name: "where", Optional: true}}, Flags: func(f *cli.Flags) {
			f.Choice("spin", "left|right", []string{"", "left", "right"}, "which way")
			f.String("ball", "NAME", "which ball")
			f.Bool("hard", "with force")
			f.StringList("mark", "TEXT", "write on it")
			f.StringList("colour", "NAME,…", "paint it")
		}},
		{Name: "shout send", Args: []cli.Arg{{Name: "word", Rest: true}}},
		{Name: "shout hear"},
		{Name: "secret", Hidden: true},
	}}}}
}

// values answers with the position that it is asked for.
func values(s Position) Answer {
	if s.Flag == "colour" {
		return Words("red", "rose", "blue")
	}
	a := Words("in-" + s.Flag + s.Arg + "-" + strings.Join(s.Before, "+"))
	if s.Arg == "where" {
		a.Paths = Directories
	}
	return a
}

func TestFind(t *testing.T) {
	const globals = " --json --text --agent --verbose --help"
	tests := []struct{ line, want string }{
		{"", "throw toss shout help version"},
		{"t", "throw toss"},
		{"x", ""},
		{"secret ", ""},
		{"sh", "shout"},
		{"shout ", "send hear"},
		{"shout s", "send"},
		{"shout send ", "in-word-"},
		{"shout send a b ", "in-word-a+b"},
		{"shout hear ", ""},
		{"throw ", "in-to-"},
		{"toss ", "in-to-"},
		{"throw anna ", "in-where-anna :dirs"},
		{"throw anna here ", ""},
		{"throw --hard anna ", "in-where-anna :dirs"},
		{"throw --ball red anna ", "in-where-anna :dirs"},
		{"throw --ball=red anna ", "in-where-anna :dirs"},
		{"--agent x throw anna ", "in-where-anna :dirs"},
		{"throw --ball ", "in-ball-"},
		{"throw --ball -", ""},
		{"throw --spin ", "left right"},
		{"throw --spin=l", "--spin=left"},
		{"throw --ball=i", "--ball=in-ball-"},
		{"throw --hard=", ""},
		{"throw --colour ", "red rose blue"},
		{"throw --colour r", "red rose"},
		{"throw --colour blue,r", "blue,red blue,rose"},
		{"throw --colour red,r", "red,rose"},
		{"throw --colour=blue,red,", "--colour=blue,red,rose"},
		{"throw --none=", ""},
		{"throw --s", "--spin"},
		{"throw --", "--spin --ball --hard --mark --colour" + globals},
		{"throw --hard --spin left --mark a --", "--ball --mark --colour" + globals},
		{"throw -- --", ""},
		{"throw -- ", "in-to-"},
		{"throw -v an", ""},
		{"nonsense ", ""},
		{"nonsense --j", "--json"},
		{"--", strings.TrimSpace(globals)},
	}
	for _, tt := range tests {
		a := Find(toy(), strings.Split(tt.line, " "), values)
		var got []string
		for _, c := range a.Candidates {
			got = append(got, c.Word)
		}
		if a.Paths != NoPaths {
			got = append(got, ":"+string(a.Paths))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, s, tt.want)
		}
	}
	if a := Find(toy(), nil, values); len(a.Candidates) != 5 {
		t.Errorf("without words: %v", a)
	}
}

// A candidate must not be able to forge another line.
func TestString(t *testing.T) {
	a := Answer{Candidates: []Candidate{{"a\nb", "x\ty"}, {Word: "c"}}, Paths: Files}
	got := a.String()
	if lines := strings.Split(got, "\n"); len(lines) != 4 || strings.Count(lines[0], "\t") != 1 || lines[1] != "c" || lines[2] != ":files" {
		t.Errorf("got %q", got)
	}
}

func TestScript(t *testing.T) {
	for _, shell := range Shells() {
		if s := Script("complete", shell, "toy"); !strings.Contains(s, "command toy complete -- ") || strings.Contains(s, "PROGRAM") {
			t.Errorf("%s:\n%s", shell, s)
		}
	}
	if Script("complete", "tcsh", "toy") != "" {
		t.Error("a script for an unknown shell")
	}
}

// A word that begins the names of several commands is described by what follows.
func TestGroupIsDescribed(t *testing.T) {
	for _, c := range Find(toy(), []string{"sh"}, values).Candidates {
		if c != (Candidate{"shout", "send, hear"}) {
			t.Errorf("got %+v", c)
		}
	}
}
