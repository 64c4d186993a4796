package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUsageErrors names what is wrong and the way out, and runs nothing.
func TestUsageErrors(t *testing.T) {
	tests := []struct{ line, message, hint string }{
		{"hlep", `unknown command "hlep"`, `did you mean "help"? see "toy help"`},
		{"thorw anna", `unknown command "thorw"`, `did you mean "throw"? see "toy help"`},
		{"frobnicate", `unknown command "frobnicate"`, `see "toy help"`},
		{"send all hi", `unknown command "send"`, `did you mean "shout send"? see "toy help"`},
		{"shuot send all hi", `unknown command "shuot"`, `did you mean "shout"? see "toy help"`},
		{"shout snd all hi", `unknown command "shout snd"`, `did you mean "shout send"? see "toy help"`},
		{"exit-codes", `unknown command "exit-codes"`, `that is a page of the help: "toy help exit-codes"`},
		{"store wipe", `unknown command "store wipe"`, `did you mean "store ball wipe"? see "toy help"`},
		{"store net lift", `bad value for SIDE: "lift" is not left or right`, `did you mean "left"? see "toy store net --help"`},
		{"store net a b", `unexpected argument "b"`, `usage: toy store net [left|right]`},
		{"store", `toy store needs one more word: ball or net`, `see "toy help store"`},
		{"shout", `toy shout needs one more word: send or hear`, `see "toy help shout"`},
		{"shout --version", `toy shout needs one more word: send or hear`, `see "toy help shout"`},
		{"fial --version", `unknown command "fial"`, `see "toy help"`},
		{"help thro", `no help on "thro"`, `did you mean "throw"? see "toy help"`},
		{"--jsn", `unknown flag --jsn`, `did you mean "--json"? see "toy help"`},
		{"--verison", `unknown flag --verison`, `did you mean "--version"? see "toy help"`},
		{"throw anna --raeson=x", `unknown flag --raeson`, `did you mean "--reason"? see "toy throw --help"`},
		{"throw anna --loud", `unknown flag --loud`, `see "toy throw --help"`},
		{"throw anna --version", `unknown flag --version`, `see "toy throw --help"`},
		{"throw anna -json", `unknown flag -json`, `did you mean "--json"? see "toy throw --help"`},
		{"throw anna -x", `unknown flag -x`, `see "toy throw --help"`},
		{"throw anna -vx", `unknown flag -x`, `see "toy throw --help"`},
		{"throw anna -test.v", `unknown flag -test.v`, `see "toy throw --help"`},
		{"throw anna -vtest.v", `unknown flag -test.v`, `see "toy throw --help"`},
		{"throw anna -=", `unknown flag -`, `see "toy throw --help"`},
		{"throw anna ---test.v", `"---test.v" is not how a flag is written`, `see "toy throw --help"`},
		{"throw anna --test.v", `unknown flag --test.v`, `see "toy throw --help"`},
		{"throw anna ---high", `"---high" is not how a flag is written`, `see "toy throw --help"`},
		{"throw anna --=x", `"--=x" is not how a flag is written`, `see "toy throw --help"`},
		{"shout send all -1", `unknown flag -1`, `if it is text, put -- before it; see "toy shout send --help"`},
		{"throw", `missing argument PLAYER`, `usage: toy throw PLAYER [PATH] [FLAGS]`},
		{"shout send all", `missing argument BODY`, `usage: toy shout send PLAYER|all BODY... [FLAGS]`},
		{"throw anna f extra", `unexpected argument "extra"`, `usage: toy throw PLAYER [PATH] [FLAGS]`},
		{"version 2", `unexpected argument "2"`, `usage: toy version`},
		{"throw anna --high=true", `--high takes no value`, `write --high`},
		{"throw anna --json=false", `--json takes no value`, `write --json`},
		{"throw anna -v=1", `--verbose takes no value`, `write --verbose`},
		{"shout send all hi -b", `--because needs a value`, `write --because TEXT`},
		{"shout send all hi -b --text", `--because needs a value`, `if "--text" is the value, write --because=--text`},
		{"shout send all hi -b x --because y", `--because is given twice`, `keep one of them`},
		{"--lou shout send all hi", `unknown flag --lou`, `did you mean "--loud"? see "toy help"`},
		{"throw anna --reason", `--reason needs a value`, `write --reason TEXT`},
		{"throw anna --reason --", `--reason needs a value`, `write --reason TEXT`},
		{"throw anna --reason --text", `--reason needs a value`, `if "--text" is the value, write --reason=--text`},
		{"throw anna --reason -v", `--reason needs a value`, `if "-v" is the value, write --reason=-v`},
		{"throw anna --reason -x", `--reason needs a value`, `if "-x" is the value, write --reason=-x`},
		{"throw anna --agent", `--agent needs a value`, `write --agent ID`},
		{"throw anna --reason a --reason b", `--reason is given twice`, `keep one of them`},
		{"--agent a throw anna --agent b", `--agent is given twice`, `keep one of them`},
		{"throw anna --speed fast", `bad value for --speed: "fast" is not a whole number`, `see "toy throw --help"`},
		{"throw anna --speed 1e3", `bad value for --speed: "1e3" is not a whole number`, `see "toy throw --help"`},
		{"throw anna --speed 0x10", `bad value for --speed: "0x10" is not a whole number`, `see "toy throw --help"`},
		{"throw anna --speed 9223372036854775808", `bad value for --speed: "9223372036854775808" is out of range`, `see "toy throw --help"`},
		{"throw anna --timeout -5s", `bad value for --timeout: "-5s" is negative`, `see "toy throw --help"`},
		{"throw anna --timeout 7d", `bad value for --timeout: "7d" has days, which differ in length: write 168h`, `see "toy throw --help"`},
		{"throw anna --timeout=", `bad value for --timeout: "" is not a duration such as 110s, 2m, or 110 for seconds`, `see "toy throw --help"`},
		{"throw anna --hand lfet", `bad value for --hand: "lfet" is not one of right, left`, `did you mean "left"? see "toy throw --help"`},
		{"fail usage", `not like this`, `see "toy fail --help"`},
	}
	for _, test := range tests {
		p := play(t, split(test.line)...)
		want := "toy: " + test.message + " (usage)\nhint: " + test.hint + "\n"
		if p.status != 2 || p.stdout != "" || p.stderr != want {
			t.Errorf("%s: status %d, stdout %q\n got %q\nwant %q", test.line, p.status, p.stdout, p.stderr, want)
		}
		if len(p.calls) > 0 && p.calls[0].Cmd.Name != "fail" {
			t.Errorf("%s: ran all the same", test.line)
		}
	}
}

// TestUsageErrorsInJSON: one object on one line, with what is wrong as a detail.
func TestUsageErrorsInJSON(t *testing.T) {
	tests := []struct {
		line, key string
		value     any
	}{
		{"--json hlep", "suggestion", "help"},
		{"hlep --json", "command", "hlep"},
		{"throw anna --jsn --json", "flag", "--jsn"},
		{"throw anna --json --text --jsn", "suggestion", "--json"},
		{"throw anna --json --text", "message", "--json and --text exclude each other"},
		{"throw --json", "argument", "player"},
		{"throw anna --json --speed x", "value", "x"},
		{"throw anna --reason --json", "flag", "--reason"},
		{"shout --json", "command", "shout"},
		{"throw a b c --json", "argument", "c"},
		{"throw anna ---high --=x --json", "message", `"---high" is not how a flag is written`},
	}
	for _, test := range tests {
		p := play(t, split(test.line)...)
		var object map[string]any
		if err := json.Unmarshal([]byte(p.stderr), &object); err != nil {
			t.Errorf("%s: stderr %q: %v", test.line, p.stderr, err)
			continue
		}
		if p.status != 2 || p.stdout != "" || object["error"] != "usage" || object["message"] == "" || object[test.key] != test.value {
			t.Errorf("%s: status %d, stdout %q, stderr %q", test.line, p.status, p.stdout, p.stderr)
		}
		if strings.Count(p.stderr, "\n") != 1 {
			t.Errorf("%s: not one line: %q", test.line, p.stderr)
		}
	}
}
