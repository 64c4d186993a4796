package skills

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/talking-stick/tt/identity/harness"
)

// serverName is the name under which the MCP server is registered, and that of its program.
const serverName = "agent-bus"

// serverVars are the variables that choose the data directory.
var serverVars = []string{"TALKING_STICK_DATA_DIR", "AGENT_BUS_DATA_DIR", "XDG_DATA_HOME"}

// notRegistered is the status where the server cannot be registered, which is no failure.
const notRegistered Status = "not registered"

// serversFile returns the file that lists the MCP servers of a harness.
func (e Environment) serversFile(id harness.ID) string {
	h := harness.Get(id)
	last := len(h.MCP.Servers) - 1
	for _, name := range h.MCP.Servers[:last] {
		path := e.inRoot(id, name)
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	if h.MCP.InHome && !filepath.IsAbs(strings.TrimSpace(e.Getenv(h.ConfigDir.Var))) {
		return below(e.Home, h.MCP.Servers[last])
	}
	return e.inRoot(id, h.MCP.Servers[last])
}

// serverProgram returns the command that starts the server: its name if it is on the
// PATH, else its path if it is beside this program, else "".
func (e Environment) serverProgram() string {
	for _, command := range []string{serverName, filepath.Join(filepath.Dir(e.Program), serverName)} {
		if _, err := e.LookPath(command); err == nil {
			return command
		}
	}
	return ""
}

// server returns what registers agent-bus in a harness. An entry of that name that the user has made
// stays as it is. Of a file with secrets no copy is made: the harness writes it all the time, so that
// a copy would be of no use either.
func (e Environment) server(id harness.ID) sharedFile {
	command := e.serverProgram()
	s := sharedFile{name: serverName, path: e.serversFile(id), byName: true, without: "leave it out: --no-bus"}
	if s.parts = []part{serverPart(id, s.path, serverName, command)}; command == "" {
		s.missing = "the program is neither on the PATH nor beside tt"
	}
	if mcp := harness.Get(id).MCP; mcp.InHome {
		s.secrets = mcp.Key
	}
	return s
}

// serverPart returns the entry of an MCP server in the file that lists those of a harness. The one
// without a command only finds and removes what has the name.
func serverPart(id harness.ID, path, name, command string) part {
	mcp := harness.Get(id).MCP
	if strings.HasSuffix(path, ".toml") {
		t := tomlTable{path: []string{mcp.Key, name}}
		if command != "" { // a basic string of TOML is nearly one of JSON
			t.text = "command = " + strings.ReplaceAll(string(encoded(command)), "\x7f", `\u007f`) + "\n"
			if mcp.EnvVars {
				t.text += `env_vars = ["` + strings.Join(serverVars, `", "`) + "\"]\n"
			}
		}
		return t
	}
	e := entry{path: []string{mcp.Key, name}, byName: true}
	if mcp.LaterKey != "" {
		e.later = []string{mcp.Key, mcp.LaterKey, name}
	}
	switch {
	case command == "":
	case mcp.Entry != nil:
		e.value = mcp.Entry(command)
	default:
		e.value = struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}{command, []string{}}
	}
	return e
}

// errInline reports that agent-bus is registered, or would have to be, in a form of TOML
// that this package does not write.
var errInline = errors.New("its servers are not tables of their own; register it by hand")

// A tomlTable is a table of ours in a TOML file, with its subtables.
type tomlTable struct {
	path []string // of its name
	text string   // the lines in it; "": any will do
}

// find implements [part].
func (t tomlTable) find(file []byte) (f finding, err error) {
	from, to, err := t.place(string(file))
	if err != nil || from < 0 {
		return f, err
	}
	digest := digestTOML(string(file[from:to]))
	return finding{digests: []string{digest}, exact: t.text == "" || digest == digestTOML(t.whole())}, nil
}

// digestTOML identifies a table, with any white space.
func digestTOML(text string) string { return digestOf(strings.Join(strings.Fields(text), " ")) }

func (t tomlTable) whole() string { return "[" + strings.Join(t.path, ".") + "]\n" + t.text }

// add implements [part].
func (t tomlTable) add(file []byte) ([]byte, error) {
	text := t.whole()
	switch {
	case len(file) == 0:
	case bytes.HasSuffix(file, []byte("\n")):
		text = "\n" + text
	default:
		text = "\n\n" + text
	}
	if bytes.Contains(file, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	file = append(slices.Clip(file), text...)
	_, err := expressions(string(file))
	return file, err
}

// remove implements [part].
func (t tomlTable) remove(file, _ []byte) ([]byte, error) {
	from, to, err := t.place(string(file))
	if err != nil || from < 0 {
		return file, err
	}
	before, behind := string(file[:from]), string(file[to:])
	for _, eol := range []string{"\n", "\r\n"} { // the blank line before it
		if shorter, blank := strings.CutSuffix(before, eol+eol); blank && behind == "" {
			before = shorter + eol
			break
		}
	}
	_, err = expressions(before + behind)
	return []byte(before + behind), err
}

// place returns where the table is in a file, with its subtables and without the blank lines and
// comments behind it; from is -1 if it is not there.
func (t tomlTable) place(file string) (from, to int, err error) {
	list, err := expressions(file)
	if err != nil {
		return -1, 0, err
	}
	from, inside, ended := -1, false, false
	for i, x := range list {
		switch {
		case x.table && hasPrefix(x.key, t.path):
			if ended {
				return -1, 0, errInline // its parts are apart
			}
			if inside = true; from < 0 {
				from = x.start
			}
		case x.table:
			inside, ended = false, from >= 0
			fallthrough
		case !inside:
			if hasPrefix(x.key, t.path) || len(x.key) == 1 && x.key[0] == t.path[0] && (!x.table || x.list) {
				return -1, 0, errInline
			}
		}
		if inside {
			to = len(file)
			if i+1 < len(list) {
				to = list[i+1].start
			}
			to = from + len(withoutTail(file[from:to]))
		}
	}
	return from, to, nil
}

// withoutTail returns text without the blank lines and comments at its end.
func withoutTail(text string) string {
	for text != "" {
		start := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
		if line := strings.TrimSpace(text[start:]); line != "" && line[0] != '#' {
			break
		}
		text = text[:start]
	}
	return text
}

// An expression is the header of a table, or a key with a value.
type expression struct {
	table, list bool     // list: a table of an array
	key         []string // with that of its table
	name        string   // the same, with the number of each table of an array
	start       int      // of its first line in the file
}

// expressions returns what is in a TOML file. A file that is not TOML is refused, and nothing is
// written that it refuses: the harness would refuse the whole file.
func expressions(file string) (list []expression, err error) {
	var parser unstable.Parser
	var table expression
	defined := make(map[string]bool) // tables and keys, by their names
	lists := make(map[string]int)    // how many tables an array of tables has
	for parser.Reset([]byte(file)); parser.NextExpression(); {
		node := parser.Expression()
		x := expression{table: node.Kind != unstable.KeyValue, list: node.Kind == unstable.ArrayTable, start: -1}
		if !x.table {
			x.key, x.name = slices.Clone(table.key), table.name
		}
		for it := node.Key(); it.Next(); {
			if x.start < 0 {
				x.start = strings.LastIndexByte(file[:it.Node().Raw.Offset], '\n') + 1
			}
			if n := lists[x.name]; n > 0 {
				x.name += fmt.Sprintf("[%d]", n)
			}
			x.key = append(x.key, string(it.Node().Data))
			x.name += fmt.Sprintf(".%q", it.Node().Data)
		}
		switch {
		case x.list && !defined[x.name]:
			lists[x.name]++
			x.name += fmt.Sprintf("[%d]", lists[x.name])
		case defined[x.name] || lists[x.name] > 0:
			return nil, fmt.Errorf("it is not valid TOML: %s is defined twice", x.name[1:])
		default:
			defined[x.name] = true
		}
		if list = append(list, x); x.table {
			table = x
		}
	}
	if err := parser.Error(); err != nil {
		return nil, fmt.Errorf("it is not valid TOML: %w", err)
	}
	return list, nil
}

func hasPrefix(key, prefix []string) bool {
	return len(key) >= len(prefix) && slices.Equal(key[:len(prefix)], prefix)
}
