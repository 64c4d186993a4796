package skills

import (
	"os"
	"path/filepath"
	"strings"

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
		if path := e.inRoot(id, name); exists(path) {
			return path
		}
	}
	if h.MCP.InHome && !filepath.IsAbs(strings.TrimSpace(e.Getenv(h.ConfigDir.Var))) {
		return below(e.Home, h.MCP.Servers[last])
	}
	return e.inRoot(id, h.MCP.Servers[last])
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
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
		if command != "" {
			t.text = "command = " + tomlString(command) + "\n"
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
