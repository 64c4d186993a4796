package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/talking-stick/tt/"

// A listed package is what go list says of it.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
	Dir, Doc   string
}

func list(t *testing.T, args ...string) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,GoFiles,Dir,Doc"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	packages := make(map[string]listed)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

// A layer says what a package may import of ours, and why no more. A name in may
// stands for what is under it too.
type layer struct {
	may []string
	why string
}

// layers has a row for every package. A row stands for the packages under it that
// have none of their own.
var layers = map[string]layer{
	"lockfile":       {nil, "it locks and replaces files for everybody and knows nothing of what is in them"},
	"lockfile/queue": {[]string{"lockfile", "journal/wire"}, "whether a process lives is passed in: a lock knows neither agents nor rooms"},
	"journal/wire":   {nil, "it reads and writes JSON and knows no type of ours"},
	"journal/event":  {[]string{"journal/wire"}, "an event is what rules decide and journals keep, so it depends on neither"},
	"journal":        {[]string{"journal/event", "journal/wire", "lockfile"}, "it keeps events in a file and knows nothing of rooms"},

	"fsroom/code": {nil, "every package makes errors with it, and counts in texts"},
	"fsroom/talk": {[]string{"fsroom/code", "journal/event", "journal/wire"},
		"the rules are pure: who is a member and may say something is in fsroom/turn, what was said is read by cmd/internal/mailbox"},
	"fsroom/turn": {[]string{"fsroom/code", "fsroom/talk", "journal/event", "journal/wire"},
		"the rules are pure: gather facts in cmd/internal/member and pass them in turn.Facts; what is to happen comes back as events"},
	"fsroom/topic": {[]string{"fsroom/code", "fsroom/talk", "journal/event", "journal/wire"},
		"the rules are pure: parsing and texts of tools belong in cmd/agent-bus, storage in cmd/internal/questions"},
	"fsroom/engine":                   {nil, "it says what an engine does, and knows no room and no server"},
	"fsroom/engine/enginetest/memory": {[]string{"fsroom/engine", "fsroom/code"}, "an engine keeps entries and knows nothing of what is in them"},
	"fsroom/engine/enginetest":        {[]string{"fsroom/engine"}, "it tests every engine alike"},
	"fsroom": {[]string{"fsroom/code", "fsroom/engine", "journal", "lockfile"},
		"it stores any kind of room: what a room means comes to it as fsroom.Rules"},
	"fsroom/history": {[]string{"fsroom", "journal"}, "it is a room as lines, and does not know who orders them"},
	"fsroom/mirror": {[]string{"fsroom", "fsroom/history", "journal", "lockfile"},
		"it is the backend of rooms that hosts share: fsroom knows it as fsroom.Shared alone, and tt does not link it"},
	"fsroom/doctor":    {[]string{"fsroom", "journal", "lockfile"}, "it checks rooms of every kind and knows the rules of none"},
	"fsroom/gitfile":   {nil, "it reads what git has written, for the ledger as for the workspace, and knows neither"},
	"fsroom/ledger":    {[]string{"fsroom/gitfile", "journal/wire", "lockfile"}, "it records trees of files and knows no rooms: cmd/internal/changes says what a snapshot stands for"},
	"fsroom/workspace": {[]string{"fsroom/code", "fsroom/gitfile", "lockfile"}, "it says which directory a path means and opens no room"},

	"identity/harness": {[]string{"fsroom/code"}, "it is a table of facts; what is done with a fact belongs to who reads it"},
	"identity":         {[]string{"fsroom/code", "identity/harness", "journal/wire"}, "who calls, and whether a process lives, does not depend on rooms"},
	"skills": {[]string{"skills", "fsroom/code", "identity/harness", "lockfile"},
		"it changes settings files and needs no room: what a hook does is in cmd/internal/hooks"},

	"cmd/internal/cli": {[]string{"fsroom/code", "journal/wire"}, "it serves every program and knows the commands of none"},
	"cmd/internal/hearing": {[]string{"fsroom", "journal", "identity"},
		"it keeps what is known of how agents hear: what there is to hear, and who is woken, comes to it"},
	"cmd/internal/roomtypes/sharing": {[]string{"cmd/internal/roomtypes", "fsroom"},
		"programs with engines link it, and tt must not"},
	"cmd/internal/jobs": {[]string{"fsroom", "identity", "journal/event", "lockfile"},
		"it runs commands and says how they end: who is told, and how, is passed in"},
	"cmd/internal/member": {[]string{"cmd/internal/jobs", "cmd/internal/roomtypes", "cmd/internal/hearing", "fsroom", "journal", "identity"},
		"it is about taking turns, and knows neither flags nor output of a command: what an agent is told comes to it as member.News"},
	"cmd/internal/questions": {[]string{"cmd/internal/roomtypes", "cmd/internal/member", "cmd/internal/hearing", "fsroom", "identity", "journal"},
		"tt and agent-bus ask and answer by it, so it must not know flags or output of either"},
	"cmd/internal/mailbox": {[]string{"cmd/internal/hearing", "cmd/internal/member", "cmd/internal/questions", "fsroom", "journal"},
		"it says what there is for an agent, and leaves how it is printed to commands and hooks"},
	"cmd/internal/hooks": {[]string{"cmd/internal/cli", "cmd/internal/hearing", "cmd/internal/hooks", "cmd/internal/mailbox", "cmd/internal/member", "cmd/internal/session", "fsroom", "identity", "journal/wire", "skills"},
		"it runs when a harness calls tt: what it needs of the command line is passed in as hooks.Command"},
	"cmd/internal/hooks/payload": {[]string{"cmd/internal/cli", "cmd/internal/hooks/shell", "identity/harness", "journal/wire"},
		"it reads and writes what a harness understands, and knows no room"},
	"cmd/internal/hooks/shell": {nil, "it judges the text of a command: what is true of the machine is passed in as shell.Env"},
	"cmd/internal/hooks/guard": {[]string{"cmd/internal/cli", "cmd/internal/hooks/payload", "cmd/internal/hooks/shell", "fsroom/code", "identity/harness", "fsroom/workspace", "lockfile"},
		"its rules are tables of what is known: cmd/internal/hooks finds that out"},
	"cmd/internal/hooks/listen": {[]string{"cmd/internal/cli", "cmd/internal/hearing", "cmd/internal/mailbox", "cmd/internal/member", "cmd/internal/questions", "fsroom", "identity", "journal/event", "lockfile"},
		"tt listen uses it without a hook: harnesses and payloads are for cmd/internal/hooks"},
	"cmd/internal/report/model": {[]string{"fsroom/code", "fsroom/talk", "fsroom/turn", "fsroom/topic", "journal/event"},
		"a report's data depend on the events alone: cmd/internal/report reads them and knows the time"},
	"cmd/internal/report/page": {[]string{"cmd/internal/report/model", "fsroom/code"}, "it writes a model as HTML and knows nothing of rooms"},
	"cmd/internal": {[]string{"cmd/internal", "fsroom", "journal", "lockfile", "identity", "skills"},
		"what programs share does not depend on one of them"},
	"cmd/internal/viewstore": {[]string{"cmd/internal", "fsroom"},
		"tt-console opens all that it shows by it: whether an engine has the rooms is decided here alone"},
	"cmd/internal/console/edit": {[]string{"cmd/internal/cli"}, "it edits a text and knows neither terminal nor room"},
	"cmd/internal/console/draw": {[]string{"cmd/internal/cli"}, "it makes lines of text and does not know what they show"},
	"cmd/internal/console/look": {[]string{"cmd/internal/locks", "cmd/internal/mailbox", "cmd/internal/member", "cmd/internal/questions", "cmd/internal/roomtypes", "fsroom", "journal/event", "identity"},
		"it reads rooms and knows nothing of screens: cmd/internal/console draws what it has seen"},
	"cmd/tt-nats/jetstream": {[]string{"fsroom/code", "fsroom/engine"},
		"an engine keeps entries and knows nothing of what is in them, nor who uses it"},
	"cmd/tt-nats/jetstream/natstest": {nil, "it starts servers for tests of any package"},
	"cmd/tt-nats":                    {[]string{"cmd/internal/hosts/engines", "cmd/internal/ttcmd"}, "it is a main file: it says that tt has engines"},
	"cmd/internal/hosts/engines": {[]string{"cmd/internal/hosts", "cmd/internal/roomtypes", "cmd/tt-nats/jetstream", "fsroom"},
		"programs with engines link it, and tt must not: it knows the engines, and no program"},
	"cmd/internal/ttcmd/scripthosts": {[]string{"cmd/internal/hosts", "cmd/tt-nats/jetstream", "fsroom"},
		"it is in the programs of scripts, with the engines that these have, and in no program that is installed"},
	"cmd/tt-console": {[]string{"cmd/internal/consolecmd"}, "it is a main file: a command goes to a package of its own, with a row in cmd/internal/consolecmd"},
	"cmd/tt":         {[]string{"cmd/internal/ttcmd"}, "it is a main file: a command goes to cmd/internal/ttcmd"},
	"cmd/agent-bus": {[]string{"cmd/agent-bus", "cmd/internal", "fsroom", "journal", "lockfile", "identity"},
		"it is a program of its own: what it shares with tt goes to cmd/internal"},

	"fsroom/fsroomtest":      {[]string{"fsroom", "journal", "lockfile"}, "it reads the files by itself, to find what the others overlook"},
	"fsroom/topic/topictest": {[]string{"fsroom/topic", "journal/event", "journal/wire"}, "it serves tests of the rules and of the tools"},
}

// layerOf returns the row of a package, its own or the nearest above it.
func layerOf(path string) (layer, bool) {
	for {
		if l, ok := layers[path]; ok {
			return l, true
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return layer{}, false
		}
		path = path[:i]
	}
}

func within(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
}

// violations names each import of ours that the layer of the package does not allow.
func violations(path string, imports []string) (found []string) {
	l, known := layerOf(path)
	if !known {
		return []string{fmt.Sprintf("%s has no row in the table of layers: say there what it may import, and why no more", path)}
	}
	for _, imported := range imports {
		if ours, ok := strings.CutPrefix(imported, module); ok && !within(ours, l.may) {
			found = append(found, fmt.Sprintf("%s imports %s, but %s", path, ours, l.why))
		}
	}
	return found
}

func TestImportsPointDown(t *testing.T) {
	for path, p := range list(t, module+"...") {
		for _, v := range violations(path, p.Imports) {
			t.Error(v)
		}
	}
}

func TestViolationsAreExplained(t *testing.T) {
	for path, imported := range map[string]string{"fsroom/turn": "journal", "cmd/internal/member": "cmd/internal/cli", "lockfile": "fsroom", "elsewhere": "fsroom"} {
		if found := violations(path, []string{"fmt", module + imported}); len(found) != 1 || len(strings.Fields(found[0])) < 8 {
			t.Errorf("%s importing %s: %q", path, imported, found)
		}
	}
	for path, l := range layers {
		if l.why == "" {
			t.Errorf("the row of %s does not say why", path)
		}
	}
}

// The rules see neither disk nor clock nor process.
func TestRulesArePure(t *testing.T) {
	for path, p := range list(t, module+"fsroom/talk", module+"fsroom/turn", module+"fsroom/topic", module+"cmd/internal/report/model") {
		for _, imported := range p.Imports {
			if slices.Contains([]string{"os", "os/exec", "io/fs", "path/filepath", "sync", "syscall", "net", "math/rand", "crypto/rand"}, imported) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
		for _, name := range p.GoFiles {
			out, err := exec.Command("grep", "-nE", `time\.(Now|Since|Until|Sleep|After|NewTimer)\(`, p.Dir+"/"+name).Output()
			if err == nil {
				t.Errorf("%s/%s reads a clock:\n%s", path, name, out)
			}
		}
	}
}

// Who knows the rules and the commands knows nothing of what hosts share rooms by, but in the files of one optional
// value: member.hosts, and Sharing of a ttcmd.Build.
func TestOnePlaceKnowsEngines(t *testing.T) {
	engines := regexp.MustCompile(`(?i)engine|mirror`)
	for path, p := range list(t, module+"fsroom/turn", module+"cmd/internal/member", module+"cmd/internal/ttcmd") {
		for _, name := range p.GoFiles {
			if strings.HasPrefix(name, "hosts") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					of, _ := n.X.(*ast.Ident)
					if of != nil && of.Name == "build" && n.Sel.Name == "Sharing" {
						t.Errorf("%s: %s asks an engine: its files hosts*.go do", set.Position(n.Pos()), path)
					}
					return of == nil || of.Name != "code" // the codes of errors are those of the contract
				case *ast.Ident:
					if engines.MatchString(n.Name) {
						t.Errorf("%s: %s knows of %s: its files hosts*.go do", set.Position(n.Pos()), path, n.Name)
					}
				}
				return true
			})
		}
	}
}

// What tt links decides how fast it starts.
func TestWhatIsLinked(t *testing.T) {
	tt := list(t, module+"cmd/tt")["cmd/tt"]
	for _, dep := range tt.Deps {
		for _, heavy := range []string{module + "fsroom/mirror", module + "cmd/tt-nats", module + "cmd/internal/console", module + "cmd/internal/report", "github.com/nats-io", "net/http", "database/sql", "html/template", "text/template", "github.com/modelcontextprotocol", "charm.land", "github.com/charmbracelet"} {
			if dep == heavy || strings.HasPrefix(dep, heavy+"/") {
				t.Errorf("tt links %s", dep)
			}
		}
	}
	for path, p := range list(t, "-e", module+"...") {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "github.com/shirou/gopsutil") && path != "identity" {
				t.Errorf("%s imports gopsutil", path)
			}
			if imported == "github.com/spf13/pflag" && path != "cmd/internal/cli" {
				t.Errorf("%s imports pflag", path)
			}
			if strings.HasPrefix(imported, "mvdan.cc/sh/") && (path != "cmd/internal/hooks/shell" || imported != "mvdan.cc/sh/v3/syntax") {
				t.Errorf("%s imports %s: cmd/internal/hooks/shell parses the shell, by its package syntax alone", path, imported)
			}
		}
	}
}

// "go install ./cmd/..." installs what users run, and no tool of the tests.
func TestOnlyProductsAreInstalled(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{if eq .Name \"main\"}}{{.ImportPath}}{{end}}", module+"cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(strings.ReplaceAll(string(out), module+"cmd/", ""))
	if want := []string{"agent-bus", "tt", "tt-console", "tt-nats"}; !slices.Equal(got, want) {
		t.Errorf("go install ./cmd/... installs %q, want %q: give a tool of the tests //go:build ignore, or put it into testdata", got, want)
	}
}

// A line of code is at most 140 characters long, without the text of its literals and a comment
// behind it: tables of texts have long rows.
func TestLinesAreShort(t *testing.T) {
	const longest = 140
	for _, p := range list(t, module+"...") {
		files, _ := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line, n := range lengths(text) {
				if n > longest {
					t.Errorf("%s:%d has %d characters: break it", name, line, n)
				}
			}
		}
	}
}

// lengths returns how long the lines of a source are, by their numbers, without what its
// literals have between their quotes and without comments.
func lengths(source []byte) map[int]int {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	found := map[int]int{}
	literals := map[int]int{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok == token.SEMICOLON && text != ";" {
			continue
		}
		if tok.IsOperator() {
			text = tok.String()
		}
		at := file.Position(pos)
		end := at.Column - 1 + len(text)
		if tok == token.STRING {
			line := file.Line(pos + token.Pos(len(text)))
			literals[line] += len(text) - 2
			at.Line, end = line, 0
		}
		found[at.Line] = max(found[at.Line], end-literals[at.Line])
	}
}

// Nothing but sources is at the top, such as a program that was built there and committed.
func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "-C", "../../..", "ls-tree", "--name-only", "HEAD").Output()
	if err != nil {
		t.Skip("this is no working tree of git: ", err)
	}
	want := strings.Fields("cmd docs fsroom identity journal lockfile skills testdata CHANGELOG.md CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md go.mod go.sum")
	for _, name := range strings.Fields(string(out)) {
		if !strings.HasPrefix(name, ".") && !slices.Contains(want, name) {
			t.Errorf("%s does not belong at the top", name)
		}
	}
}

// What rapid writes down of a failure is played again by each run, whatever the test has become:
// a case to keep is a test of its own.
func TestNoFailureOfRapidIsKept(t *testing.T) {
	out, err := exec.Command("git", "-C", "../../..", "ls-files", "*/testdata/rapid/*").Output()
	if err != nil {
		t.Skip("this is no working tree of git: ", err)
	}
	if len(out) > 0 {
		t.Errorf("remove\n%s", out)
	}
}

// Only "make test" runs the short tests: what they leave out, CI runs.
func TestOnlyMakeTestIsShort(t *testing.T) {
	text, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var short []string
	target := ""
	for _, line := range strings.Split(string(text), "\n") {
		if name, _, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "\t") {
			target = name
		}
		if slices.Contains(strings.Fields(line), "-short") {
			short = append(short, target)
		}
		if target == "ci" && slices.Contains(strings.Fields(line), "test") {
			t.Error("make ci runs make test")
		}
	}
	if !slices.Equal(short, []string{"test"}) {
		t.Errorf("-short is of %q, want test", short)
	}
}
