package identity

import (
	"slices"
	"strings"
)

// An interpreter is a program that runs the program named by its first argument
// that is not a flag. What is listed is what is needed to find that argument.
type interpreter struct {
	shell    bool     // flags come in clusters (-lc), and -c means there is no script
	valued   []string // flags whose value is the next argument
	inline   []string // flags that carry the program's text: there is no script
	modules  string   // the flag that names a module instead of a script
	commands []string // sub-commands that run a program, to be skipped
	needs    bool     // without one of commands nothing is run that interests us
}

// interpreterCalled returns the interpreter of that name, version numbers
// ignored ("python3.12", "node22"), and whether there is one.
func interpreterCalled(name string) (interpreter, bool) {
	name = strings.ToLower(strings.TrimPrefix(name, "-")) // a login shell's name starts with '-'
	switch strings.TrimRight(trimAnySuffix(name, ".exe", ".cmd"), "0123456789.") {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "fish":
		return interpreter{shell: true, valued: []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}}, true
	case "node", "nodejs":
		return interpreter{
			valued: []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"},
			inline: []string{"-e", "--eval", "-p", "--print", "-pe"},
		}, true
	case "bun":
		return interpreter{
			valued:   []string{"-r", "--preload", "--cwd", "-c", "--config"},
			inline:   []string{"-e", "--eval", "-p", "--print"},
			commands: []string{"run", "x"},
		}, true
	case "deno":
		return interpreter{valued: []string{"-c", "--config", "--import-map", "-L", "--log-level"}, commands: []string{"run"}}, true
	case "python", "pypy":
		return interpreter{valued: []string{"-W", "-X"}, inline: []string{"-c"}, modules: "-m"}, true
	}
	return launcherCalled(name)
}

// launcherCalled knows the programs that fetch a package and run it.
func launcherCalled(name string) (interpreter, bool) {
	packages := []string{"-p", "--package", "-w", "--workspace"}
	call := []string{"-c", "--call"}
	switch trimAnySuffix(name, ".exe", ".cmd") {
	case "npx", "bunx", "pnpx":
		return interpreter{valued: packages, inline: call}, true
	case "npm":
		return interpreter{valued: packages, inline: call, commands: []string{"exec", "x"}, needs: true}, true
	case "pnpm", "yarn":
		return interpreter{valued: packages, inline: call, commands: []string{"exec", "dlx"}, needs: true}, true
	}
	return interpreter{}, false
}

// programOf returns what argv tells an interpreter to run: a path, a module or
// a package. It is "" when args[0] is no interpreter or runs no file.
func programOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	in, ok := interpreterCalled(baseName(args[0]))
	if !ok {
		return ""
	}
	program := in.program(args[1:])
	// A launcher installed as a script: "node /usr/bin/npx claude".
	if nested, ok := launcherCalled(trimAnySuffix(baseName(program), "-cli.js", ".js")); ok {
		return nested.program(args[slices.Index(args, program)+1:])
	}
	return program
}

func (in interpreter) program(args []string) string {
	commanded := !in.needs
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case in.runsText(arg):
			return ""
		case arg == "--" || in.modules != "" && arg == in.modules:
			return at(args, i+1)
		case slices.Contains(in.valued, arg):
			i++
		case isFlag(arg):
		case slices.Contains(in.commands, arg):
			commanded = true
		case commanded:
			return arg
		default:
			return ""
		}
	}
	return ""
}

// runsText reports that the program is the text of an argument or standard input.
func (in interpreter) runsText(arg string) bool {
	if in.shell && isFlag(arg) && !strings.HasPrefix(arg, "--") {
		return strings.ContainsAny(arg[1:], "cs")
	}
	name, _, _ := strings.Cut(arg, "=")
	return arg == "-" || slices.Contains(in.inline, name)
}

// runsOneCommand reports that args are a shell started for one command
// ("bash -c …"), as harnesses start a fresh one for each.
func runsOneCommand(args []string) bool {
	if len(args) == 0 {
		return false
	}
	in, ok := interpreterCalled(baseName(args[0]))
	if !ok || !in.shell {
		return false
	}
	for i := 1; i < len(args) && isFlag(args[i]); i++ {
		if args[i][0] == '-' && args[i][1] != '-' && strings.Contains(args[i], "c") {
			return true
		}
		if slices.Contains(in.valued, args[i]) {
			i++
		}
	}
	return false
}

func isFlag(arg string) bool {
	return len(arg) > 1 && (arg[0] == '-' || arg[0] == '+')
}

func at(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}
