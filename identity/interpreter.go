package identity

import (
	"slices"
	"strings"
)

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
