package skills

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/talking-stick/tt/skills/jsonc"
)

// errInline reports that agent-bus is registered, or would have to be, in a form of TOML
// that this package does not write.
var errInline = errors.New("its servers are not tables of their own; register it by hand")

func (s server) toml() bool { return strings.HasSuffix(s.path, ".toml") }

// find returns the digest of the entry in the file, "" if there is none.
func (s server) find(file []byte) (string, error) {
	if s.toml() {
		from, to, err := s.table(string(file))
		if err != nil || from < 0 {
			return "", err
		}
		return digestOf(strings.Join(strings.Fields(string(file[from:to])), " ")), nil
	}
	doc, err := jsonc.Parse(file)
	if err != nil {
		return "", err
	}
	raw, err := doc.Get(s.member(doc)...)
	if err != nil || raw == nil {
		return "", err
	}
	return digestJSON(raw), nil
}

// entry returns the digest of the entry that runs command.
func (s server) entry(command string) string {
	file, _ := s.add(nil, command) // adding to an empty file does not fail
	digest, _ := s.find(file)
	return digest
}

// add returns the file with an entry that runs command.
func (s server) add(file []byte, command string) ([]byte, error) {
	if s.toml() {
		file = append(slices.Clip(file), s.tableText(string(file), command)...)
		_, err := expressions(string(file))
		return file, err
	}
	doc, err := jsonc.Parse(file)
	if err != nil {
		return nil, err
	}
	err = doc.Set(s.value(command), s.member(doc)...)
	return doc.Bytes(), err
}

// remove returns the file without the entry. An object that is empty then goes, too,
// unless like has it.
func (s server) remove(file, like []byte) ([]byte, error) {
	if s.toml() {
		from, to, err := s.table(string(file))
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
	doc, err := jsonc.Parse(file)
	if err != nil {
		return nil, err
	}
	path := s.member(doc)
	found, err := doc.Remove(path...)
	if err != nil || !found {
		return file, err
	}
	was, err := jsonc.Parse(like)
	if err != nil {
		return nil, err
	}
	err = doc.Prune(was, path[:len(path)-1]...)
	return doc.Bytes(), err
}

// member returns the path of the entry in a JSON file.
func (s server) member(doc *jsonc.Document) []string {
	mcp := s.harness.MCP
	if mcp.LaterKey != "" {
		if servers, err := doc.Get(mcp.Key, mcp.LaterKey); err == nil && servers != nil {
			return []string{mcp.Key, mcp.LaterKey, s.name}
		}
	}
	return []string{mcp.Key, s.name}
}

// value returns the entry for a JSON file.
func (s server) value(command string) any {
	if entry := s.harness.MCP.Entry; entry != nil {
		return entry(command)
	}
	return struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{command, []string{}}
}

// tableText returns the entry for a TOML file, as it is appended to file.
func (s server) tableText(file, command string) string {
	text := "[" + s.harness.MCP.Key + "." + s.name + "]\ncommand = " + tomlString(command) + "\n"
	if s.harness.MCP.EnvVars {
		text += `env_vars = ["` + strings.Join(serverVars, `", "`) + "\"]\n"
	}
	switch {
	case file == "":
	case strings.HasSuffix(file, "\n"):
		text = "\n" + text
	default:
		text = "\n\n" + text
	}
	if strings.Contains(file, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// table returns where the entry is in a TOML file, with its subtables and without the
// blank lines and comments behind it; from is -1 if there is none.
func (s server) table(file string) (from, to int, err error) {
	list, err := expressions(file)
	if err != nil {
		return -1, 0, err
	}
	name := []string{s.harness.MCP.Key, s.name}
	from, inside, ended := -1, false, false
	for i, x := range list {
		switch {
		case x.table && hasPrefix(x.key, name):
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
			if hasPrefix(x.key, name) || len(x.key) == 1 && x.key[0] == name[0] && (!x.table || x.list) {
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

// tomlString returns text as a basic string of TOML, which is nearly one of JSON.
func tomlString(text string) string {
	return strings.ReplaceAll(string(encoded(text)), "\x7f", `\u007f`)
}
