package skills

import (
	"errors"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
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
		return append(append([]byte{}, file...), s.tableText(string(file), command)...), nil
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
				return []byte(shorter + eol), nil
			}
		}
		return []byte(before + behind), nil
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
	if s.harness.ID == harness.OpenCode { // from its version 2 on
		if servers, err := doc.Get("mcp", "servers"); err == nil && servers != nil {
			return []string{"mcp", "servers", serverName}
		}
	}
	return []string{s.harness.MCP.Key, serverName}
}

// value returns the entry for a JSON file.
func (s server) value(command string) any {
	if s.harness.ID == harness.OpenCode {
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
			Enabled bool     `json:"enabled"`
			Timeout int      `json:"timeout"`
		}{"local", []string{command}, true, 60000}
	}
	return struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{command, []string{}}
}

// tableText returns the entry for a TOML file, as it is appended to file.
func (s server) tableText(file, command string) string {
	text := "[" + s.harness.MCP.Key + "." + serverName + "]\ncommand = " + strconv.Quote(command) + "\n"
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
	name := s.harness.MCP.Key + "." + serverName
	from = -1
	table, quotes, inside := "", "", false
	at := 0
	for line := range strings.Lines(file) {
		start, text := at, strings.TrimSpace(line)
		at += len(line)
		if quotes != "" { // in a string of several lines
			if inside {
				to = at
			}
			if strings.Contains(line, quotes) {
				quotes = ""
			}
			continue
		}
		for _, q := range []string{`"""`, "'''"} {
			if strings.Count(line, q) == 1 {
				quotes = q
			}
		}
		if header, ok := strings.CutPrefix(text, "["); ok {
			header, _, _ = strings.Cut(header, "]")
			table = plainKey(header)
			if inside = table == name || strings.HasPrefix(table, name+"."); inside && from >= 0 && strings.TrimSpace(file[to:start]) != "" {
				return -1, 0, errInline // its parts are apart
			}
			if inside && from < 0 {
				from = start
			}
		} else if !inside {
			key, _, _ := strings.Cut(text, "=")
			if key = strings.TrimPrefix(table+"."+plainKey(key), "."); key == s.harness.MCP.Key || key == name || strings.HasPrefix(key, name+".") {
				return -1, 0, errInline
			}
		}
		if inside && text != "" && text[0] != '#' {
			to = at
		}
	}
	return from, to, nil
}

// plainKey returns a TOML key without white space and quotation marks.
func plainKey(key string) string {
	return strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(key)
}
