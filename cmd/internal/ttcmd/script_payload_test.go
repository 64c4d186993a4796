package ttcmd

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptPayload writes what a real harness gave one of its hooks into a file, as if it
// had happened in the current directory: payload NAME FILE [FIELD=VALUE]… A value is
// true, false or a text.
func scriptPayload(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile("../hooks/payload/testdata/" + args[0] + ".json")
	ts.Check(err)
	var fields map[string]any
	ts.Check(json.Unmarshal(data, &fields))
	fields["cwd"] = ts.MkAbs(".")
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		switch value {
		case "true", "false":
			fields[name] = value == "true"
		default:
			fields[name] = value
		}
	}
	data, err = json.Marshal(fields)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}
