package identity

import (
	"slices"
	"strings"
)

// An interpreter runs the program that its first argument other than a flag
// names: a script, or for npx a package.
type interpreter struct {
	valued   []string // flags whose value is the next argument
	inline   []string // flags that carry the program's text: no script is named
	commands []string // sub-commands that may stand before the program
}

var (
	node = interpreter{
		valued: []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"},
		inline: []string{"-e", "--eval", "-p", "--print", "-pe"},
	}
	bun = interpreter{
		valued:   []string{"-r", "--preload", "--cwd", "-c", "--config"},
		inline:   []string{"-e", "--eval", "-p", "--print"},
		commands: []string{"run", "x"},
	}
	npx = interpreter{
		valued: []string{"-p", "--package", "-w", "--workspace"},
		inline: []string{"-c", "--call"},
	}
)

// programOf returns the path or the package that args tell an interpreter to
// run, "" if args[0] is not an interpreter or names no program.
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
	case "node", "nodejs":
		return node.program(args[1:])
	case "bun":
		return bun.program(args[1:])
	case "npx", "npx-cli.js":
		return npx.program(args[1:])
	case "npm": // npx shows itself as "npm exec PACKAGE"
		if at(args, 1) == "exec" {
			return npx.program(args[2:])
		}
	}
	return ""
}

func (in interpreter) program(args []string) string {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		flag, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "-" || slices.Contains(in.inline, flag):
			return ""
		case arg == "--":
			return at(args, i+1)
		case slices.Contains(in.valued, arg):
			i++
		case isFlag(arg) || slices.Contains(in.commands, arg):
		default:
			if nested := programOf(args[i:]); nested != "" { // "node /usr/bin/npx claude"
				return nested
			}
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
