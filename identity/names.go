package identity

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// harnessOf returns the harness that process p is, nil if it is not one. The
// arguments of a program do not count: "vim claude" is vim.
func harnessOf(p Info) *harness.Harness {
	args := words(p.Args)
	// The graphical program of a macOS application bundle hosts many sessions and outlives them, so it is the harness of none.
	if len(args) > 0 && strings.Contains(args[0], ".app/Contents/MacOS/") {
		return nil
	}
	name, _, _ := strings.Cut(p.Name, " ")
	if h := harnessOfFile(name); h != nil {
		return h
	}
	if len(args) == 0 {
		return nil
	}
	if h := harnessOfExecutable(args[0]); h != nil {
		return h
	}
	if name == "node" || name == "MainThread" { // under whatever name it was started
		args = append([]string{"node"}, args[1:]...)
	}
	return harnessOfProgram(programOf(args))
}

// words returns argv. A process that has rewritten its title shows one string
// with blanks ("npm exec eslint src/claude", "sshd: claude"): it is cut into
// words, so that the last of them is not taken for the program.
func words(args []string) []string {
	for len(args) > 1 && args[len(args)-1] == "" { // left over from a longer argv
		args = args[:len(args)-1]
	}
	if len(args) == 1 {
		return strings.Fields(args[0])
	}
	return args
}

// harnessOfFile returns the harness whose program has the file name of path, unless that is a
// graphical one, which hosts many sessions, too.
func harnessOfFile(path string) *harness.Harness {
	name := slug(programName(path))
	if h := harness.Find(name); h != nil && name != h.Desktop {
		return h
	}
	return nil
}

// harnessOfExecutable returns the harness that an executable is: by its name, or
// where installers keep one file for each version (…/claude/versions/2.0.1) by
// the directory above.
func harnessOfExecutable(path string) *harness.Harness {
	if h := harnessOfFile(path); h != nil {
		return h
	}
	parts := strings.Split(path, "/")
	if n := len(parts); n >= 3 && parts[n-2] == "versions" {
		return harnessOfFile(parts[n-3])
	}
	return nil
}

// harnessOfProgram returns the harness that an interpreter runs as program: a
// script, by its name, its npm package, or where installers keep one directory for each
// version (…/claude/versions/2.0.1/index.js) by the directory above.
func harnessOfProgram(program string) *harness.Harness {
	if h := harnessOfPackage(program); h != nil {
		return h
	}
	parts := strings.Split(program, "/")
	if n := len(parts); n >= 4 && parts[n-3] == "versions" {
		return harnessOfFile(parts[n-4])
	}
	for _, suffix := range []string{".js", ".mjs", ".cjs", ".ts", ".sh"} {
		if script, ok := strings.CutSuffix(program, suffix); ok {
			return harnessOfFile(script)
		}
	}
	return harnessOfFile(program)
}

// harnessOfPackage returns the harness in whose npm package path lies; of nested
// packages the innermost counts. A package without a scope has a name that any
// directory may have, so it counts only below node_modules.
func harnessOfPackage(path string) *harness.Harness {
	const modules = "node_modules/"
	inside := strings.LastIndex(path, modules)
	if inside >= 0 {
		path = path[inside+len(modules):]
	}
	path = "/" + path + "/"
	for _, h := range harness.All() {
		name := "/" + h.Package + "/"
		switch {
		case h.Package == "":
		case h.Package[0] == '@' && strings.Contains(path, name),
			inside >= 0 && strings.HasPrefix(path, name):
			return h
		}
	}
	return nil
}

// programName returns the file name of path in lower case.
func programName(path string) string {
	return strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
}

var (
	// valued are the flags of interpreters whose value is the next argument.
	valued = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions",
		"--preload", "--cwd", "--config"}
	// inline are those that carry the program's text, so that no script is named.
	inline = []string{"-e", "--eval", "-p", "--print", "-pe"}
)

// programOf returns the path or the package that args tell an interpreter to
// run, "" if args[0] is not an interpreter or names no program: the first argument
// other than a flag.
func programOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	if isShell(args[0]) {
		if script := at(args, 1); !isFlag(script) {
			return script
		}
		return ""
	}
	switch strings.TrimRight(programName(args[0]), "0123456789.") { // "node22"
	case "node", "nodejs", "bun":
	default:
		return ""
	}
	for i := 1; i < len(args); i++ {
		arg := args[i]
		flag, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "-" || slices.Contains(inline, flag):
			return ""
		case arg == "--":
			return at(args, i+1)
		case slices.Contains(valued, arg):
			i++
		case isFlag(arg):
		default:
			return arg
		}
	}
	return ""
}

// isShell reports whether path is that of a shell. The name of a login shell
// starts with "-".
func isShell(path string) bool {
	switch strings.TrimPrefix(programName(path), "-") {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "fish":
		return true
	}
	return false
}

// runsOneCommand reports whether args are a shell started for one command
// ("bash -c …"), as harnesses start one for each command.
func runsOneCommand(args []string) bool {
	if len(args) == 0 || !isShell(args[0]) {
		return false
	}
	for i := 1; i < len(args) && isFlag(args[i]); i++ {
		switch arg := args[i]; arg {
		case "-o", "+o", "-O", "+O", "--rcfile", "--init-file": // the next argument is the value
			i++
		default:
			if arg[0] == '-' && arg[1] != '-' && strings.Contains(arg, "c") {
				return true
			}
		}
	}
	return false
}

func isFlag(arg string) bool {
	return len(arg) > 1 && (arg[0] == '-' || arg[0] == '+')
}

// at returns args[i], "" if there is no such argument.
func at(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// HarnessByEnvironment returns the agent name of the harness that the environment
// identifies, TT_HARNESS_AGENT_ID included, and whether there is one: the id of a person
// names none. It reads variables only.
func HarnessByEnvironment(env Env) (name string, ok bool) {
	if id := env.get("TT_HARNESS_AGENT_ID"); id != "" {
		return beforeColon(id), !isHuman(id)
	}
	if h, _ := harnessByMarkers(env); h != nil {
		return h.Agent, true
	}
	return "", false
}

// harnessByMarkers returns the first harness that has a marker in env, and that
// marker with the value it has; nil if there is none.
func harnessByMarkers(env Env) (*harness.Harness, harness.Marker) {
	for _, h := range harness.All() {
		if kind := env.get(h.LaunchVar); h.LaunchVar != "" && harness.Find(kind) != nil {
			return harness.Find(kind), harness.Marker{Var: h.LaunchVar, Value: kind}
		}
		for _, m := range h.Markers {
			if v := env.get(m.Var); v != "" && (m.Value == "" || v == m.Value) {
				return h, harness.Marker{Var: m.Var, Value: v}
			}
		}
	}
	return nil, harness.Marker{}
}

// beforeColon returns the part of id before the first colon, or all of id if that
// part is empty.
func beforeColon(id string) string {
	if prefix, _, _ := strings.Cut(id, ":"); prefix != "" {
		return prefix
	}
	return id
}

// displayName returns what an id is called by: its harness, or for a person the name.
func displayName(id string) string {
	if name, ok := strings.CutPrefix(id, "human:"); ok {
		return cmp.Or(name, id)
	}
	return beforeColon(id)
}
