package identity

import "strings"

// harnessCalled returns the harness that a program of this name is, "" for
// every other program. The name is a file name or a command word, without path.
func harnessCalled(name string) string {
	switch label(trimAnySuffix(strings.ToLower(name), ".exe", ".cmd", ".bat")) {
	case "claude", "claude-code":
		return "claude"
	case "codex":
		return "codex"
	case "gemini":
		return "gemini"
	case "opencode":
		return "opencode"
	case "grok":
		return "grok"
	case "agy", "antigravity":
		return "antigravity"
	}
	return ""
}

// harnessOf returns the harness that process p is, "" if it is none. What the
// process merely works on does not count: "vim claude" is vim.
func harnessOf(p Info) string {
	args := words(p.Args)
	if len(args) > 0 && inDesktopApp(args[0]) {
		return ""
	}
	if h := harnessCalled(baseName(firstWord(p.Name))); h != "" {
		return h
	}
	if len(args) == 0 {
		return ""
	}
	if h := harnessOfPath(args[0]); h != "" {
		return h
	}
	return harnessOfProgram(programOf(args))
}

// words returns argv. A process that has rewritten its title shows one string
// with blanks ("npm exec eslint src/claude", "sshd: claude"); then it is cut
// into words, so that the last of them is not taken for the program.
func words(args []string) []string {
	for len(args) > 1 && args[len(args)-1] == "" { // the rest of the memory a title was written over
		args = args[:len(args)-1]
	}
	if len(args) == 1 {
		return strings.Fields(args[0])
	}
	return args
}

func firstWord(s string) string {
	s, _, _ = strings.Cut(s, " ")
	return s
}

// inDesktopApp recognises the graphical program of a macOS application bundle:
// it hosts many sessions and outlives them, so it is no session's harness.
func inDesktopApp(path string) bool {
	return strings.Contains(path, ".app/Contents/MacOS/")
}

// harnessOfPath judges an executable: by its name, or where installers keep one
// file for each version (…/claude/versions/2.0.1), by the folder above.
func harnessOfPath(path string) string {
	if h := harnessCalled(baseName(path)); h != "" {
		return h
	}
	parts := strings.Split(slashed(path), "/")
	if n := len(parts); n >= 3 && parts[n-2] == "versions" {
		return harnessCalled(parts[n-3])
	}
	return ""
}

// harnessOfProgram judges what an interpreter or a launcher was told to run: a
// script by its name or its package, or a package as "npx" takes it.
func harnessOfProgram(program string) string {
	program = strings.TrimPrefix(slashed(program), "npm:")
	if at := strings.LastIndexByte(program, '@'); at > strings.LastIndexByte(program, '/')+1 {
		program = program[:at] // a package's version
	}
	if h := harnessOfPackage(program); h != "" {
		return h
	}
	return harnessCalled(trimAnySuffix(baseName(program), ".js", ".mjs", ".cjs", ".ts", ".py", ".sh"))
}

// harnessOfPackage judges a path by the npm package it lies in, the innermost
// one. A package without a scope has a name that any folder may have, so it
// counts only below node_modules or on its own.
func harnessOfPackage(path string) string {
	const modules = "node_modules/"
	inside := strings.LastIndex(path, modules)
	if inside >= 0 {
		path = path[inside+len(modules):]
	}
	bounded := "/" + path + "/"
	switch {
	case strings.Contains(bounded, "/@anthropic-ai/claude-code/"):
		return "claude"
	case strings.Contains(bounded, "/@openai/codex/"):
		return "codex"
	case strings.Contains(bounded, "/@google/gemini-cli/"):
		return "gemini"
	case bounded == "/opencode-ai/" || inside >= 0 && strings.HasPrefix(bounded, "/opencode-ai/"):
		return "opencode"
	}
	return ""
}

// slashed makes one kind of separator of both: the names may come from Windows.
func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }

func baseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// trimAnySuffix removes the first of the endings that s has.
func trimAnySuffix(s string, endings ...string) string {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(s, e); ok {
			return rest
		}
	}
	return s
}
