package skills

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/jsonc"
)

// serverName is the name under which the MCP server is registered, and that of its program.
const serverName = "agent-bus"

// serverVars are the variables that choose the data directory.
var serverVars = []string{"TALKING_STICK_DATA_DIR", "AGENT_BUS_DATA_DIR", "XDG_DATA_HOME"}

// notRegistered is the status where the server cannot be registered, which is no failure.
const notRegistered Status = "not registered"

// A server is the registration of an MCP server in a harness: that of agent-bus, or one of an
// older version, which is only removed. An entry of that name that the user has made stays as it is.
type server struct {
	harness *harness.Harness
	path    string // the file that lists the harness's servers
	name    string // of the entry
}

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

func (s server) install(p *planner) outcome {
	o := outcome{component: serverName, path: s.path, status: AlreadyPresent}
	before, err := p.read(s.path)
	if err != nil {
		return s.failed(err)
	}
	now, err := s.find(before)
	recorded := p.recorded.Servers[s.path]
	command := p.env.serverProgram()
	switch {
	case errors.Is(err, errInline):
		o.status, o.why = notRegistered, err.Error()
		return o
	case err != nil:
		return s.failed(err)
	case now == "" && p.opts.sync:
		return outcome{}
	case now == "" && command == "":
		return outcome{component: serverName, status: notRegistered, why: "the program is neither on the PATH nor beside tt"}
	case now == "":
		o.status = Added
	case command == "" || now == s.entry(command):
		return o
	case now == recorded.entry() || p.opts.Replace:
		o.status = Updated
	default:
		o.why = "this registration is not ours and stays; --replace overwrites it"
		return o
	}
	original, err := s.original(before, recorded)
	if err != nil {
		return s.failed(err)
	}
	after, err := s.add(original, command)
	if err != nil {
		return s.failed(err)
	}
	record := foreignFile{original, original == nil, digestOf(string(after)), []string{s.entry(command)}}
	if s.private() {
		record = s.withoutSecrets(record)
	}
	p.change(fileChange{
		action: Merge, path: s.path, before: before, after: after,
		backup: before != nil && !s.private(), private: s.private(),
		record: func() { p.recorded.Servers[s.path] = record },
	})
	return o
}

func (s server) failed(err error) outcome {
	o := failed(serverName, s.path, err)
	o.why += "; put that right and install again, or leave it out: --no-bus"
	return o
}

// private reports whether the file contains secrets of the harness, of which no copy is
// made. The harness writes it all the time, so that a copy would be of no use either.
func (s server) private() bool { return s.harness.MCP.InHome }

// withoutSecrets returns f with nothing of the original file but whether it has a list of
// servers.
func (s server) withoutSecrets(f foreignFile) foreignFile {
	if f.Made {
		return f
	}
	original := f.Original
	f.Original, f.Written = nil, ""
	if doc, err := jsonc.Parse(original); err == nil {
		if servers, _ := doc.Get(s.harness.MCP.Key); servers != nil {
			f.Original = []byte(`{"` + s.harness.MCP.Key + `":{}}`)
		}
	}
	return f
}

// original returns the file as it was without the entry, nil if it did not exist.
func (s server) original(now []byte, recorded foreignFile) ([]byte, error) {
	if recorded.Written != "" && digestOf(string(now)) == recorded.Written {
		return recorded.content(), nil
	}
	original, err := s.remove(now, recorded.Original)
	if err == nil && recorded.Made && len(bytes.Trim(original, "{} \t\r\n")) == 0 {
		original = nil
	}
	return original, err
}

func (s server) uninstall(p *planner) outcome {
	o := outcome{component: serverName, status: AlreadyAbsent}
	recorded, known := p.recorded.Servers[s.path]
	before, err := p.read(s.path)
	if errors.Is(err, errDangling) {
		return o
	}
	now := ""
	if err == nil {
		now, err = s.find(before)
	}
	if !known && (err != nil || now != s.entry(p.env.serverProgram())) {
		return o // the user's own, which installing has left alone
	}
	forget := func() { delete(p.recorded.Servers, s.path) }
	switch {
	case err != nil && !errors.Is(err, errInline):
		return failed(serverName, s.path, err)
	case err == nil && now == "":
		forget()
		return o
	case now != recorded.entry() && !p.opts.Replace || err != nil:
		o.status, o.path, o.why = Skipped, s.path, "it has been edited and stays; --replace removes it"
		if !known {
			o.why = "it is not on record as ours and stays; --replace removes it"
		}
		return o
	}
	after, err := s.original(before, recorded)
	if err != nil {
		return failed(serverName, s.path, err)
	}
	p.change(fileChange{
		action: Unmerge, path: s.path, before: before, after: after,
		backup: digestOf(string(before)) != recorded.Written && !s.private(), record: forget,
	})
	o.status, o.path = Removed, s.path
	return o
}

// entry returns the digest of the only entry, "" if there is none.
func (f foreignFile) entry() string { return strings.Join(f.Entries, "") }
