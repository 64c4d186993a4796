package identity

import (
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// harnessOf returns the harness that process p is, nil if it is not one. The
// arguments of a program do not count: "vim claude" is vim.
func harnessOf(p Info) *harness.Harness {
	args := words(p.Args)
	if len(args) > 0 && inDesktopApp(args[0]) {
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

// inDesktopApp reports whether path is the graphical program of a macOS
// application bundle. Such a program hosts many sessions and outlives them, so it
// is not the harness of any of them.
func inDesktopApp(path string) bool {
	return strings.Contains(path, ".app/Contents/MacOS/")
}

// harnessOfFile returns the harness whose program has the file name of path, unless that is a
// graphical one, see inDesktopApp.
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
	return harnessOfFile(trimAnySuffix(program, ".js", ".mjs", ".cjs", ".ts", ".sh"))
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

// trimAnySuffix removes the first of suffixes that s has.
func trimAnySuffix(s string, suffixes ...string) string {
	for _, suffix := range suffixes {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			return rest
		}
	}
	return s
}
