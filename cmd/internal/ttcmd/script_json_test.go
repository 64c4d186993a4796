package ttcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a script waits for what must come. It is not a
// measurement: a machine has to stand still for the test to fail by it.
const patience = 2 * time.Minute

// lookAgain is the pause between two looks.
const lookAgain = 5 * time.Millisecond

// scriptJSON is "[!] json [FILE] PATH [VALUE]": what stands at the path in the
// JSON of the file, by default the last standard output, is the value; without
// a value, is there at all and not null. A value "~RE" is a regular expression.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	file := "stdout"
	if len(args) > 0 && !isPath(args[0]) {
		file, args = args[0], args[1:]
	}
	if len(args) != 1 && len(args) != 2 {
		ts.Fatalf("usage: [!] json [FILE] PATH [VALUE]")
	}
	got, there, err := at(ts.ReadFile(file), args[0])
	ts.Check(err)
	switch {
	case len(args) == 1 && there == neg:
		ts.Fatalf("%s in %s: there is %s", args[0], file, show(got, there))
	case len(args) == 2 && matches(got, there, args[1]) == neg:
		ts.Fatalf("%s in %s: there is %s", args[0], file, show(got, there))
	}
}

// scriptKeep is "keep NAME [FILE] PATH": the value becomes a variable of the
// script.
func scriptKeep(ts *testscript.TestScript, _ bool, args []string) {
	file := "stdout"
	switch len(args) {
	case 2:
	case 3:
		file = args[1]
	default:
		ts.Fatalf("usage: keep NAME [FILE] PATH")
	}
	path := args[len(args)-1]
	got, there, err := at(ts.ReadFile(file), path)
	ts.Check(err)
	if !there {
		ts.Fatalf("there is no %s in %s", path, file)
	}
	ts.Setenv(args[0], got)
}

// scriptUntil is "until PATH VALUE COMMAND…": the command is run until the JSON
// it prints has the value at the path.
func scriptUntil(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: until PATH VALUE COMMAND…")
	}
	const longest = 100 * time.Millisecond // between two processes
	for start, pause := time.Now(), lookAgain; ; pause = min(2*pause, longest) {
		ts.Check(ts.Exec(args[2], args[3:]...))
		got, there, err := at(ts.ReadFile("stdout"), args[0])
		ts.Check(err)
		if matches(got, there, args[1]) {
			return
		}
		if time.Since(start) > patience {
			ts.Fatalf("%s has not become %s", args[0], args[1])
		}
		time.Sleep(pause)
	}
}

func isPath(s string) bool {
	return strings.HasPrefix(s, ".") || strings.HasPrefix(s, "[") || strings.HasPrefix(s, "|")
}

func matches(got string, there bool, want string) bool {
	if re, ok := strings.CutPrefix(want, "~"); ok {
		return there && regexp.MustCompile(re).MatchString(got)
	}
	return there && got == want
}

func show(got string, there bool) string {
	if !there {
		return "nothing"
	}
	return strconv.Quote(got)
}

// at returns what stands at a path such as .room.state, .members[0].agent_id,
// .members[agent_id=b:1].waiting, .rooms|length, or for the third of several JSON
// Lines [2].event_type; |length counts them. Strings come without quotes, all else as JSON.
func at(text, path string) (value string, there bool, err error) {
	docs, err := documents(text)
	if err != nil {
		return "", false, fmt.Errorf("%w in %q", err, text)
	}
	path, count := strings.CutSuffix(path, "|length")
	var v any = docs
	if strings.HasPrefix(path, ".") {
		if len(docs) != 1 {
			return "", false, fmt.Errorf("%d JSON documents, want one, in %q", len(docs), text)
		}
		v = docs[0]
	}
	for _, step := range pathStep.FindAllString(path, -1) {
		v = follow(v, step)
	}
	if list, ok := v.([]any); ok && count {
		return strconv.Itoa(len(list)), true, nil
	}
	if v == nil {
		return "", false, nil
	}
	if s, ok := v.(string); ok {
		return s, true, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err = e.Encode(v)
	return strings.TrimSpace(b.String()), true, err
}

var pathStep = regexp.MustCompile(`[^.[\]]+|\[[^]]*\]`)

func follow(v any, step string) any {
	index, indexed := strings.CutPrefix(strings.TrimSuffix(step, "]"), "[")
	if !indexed {
		m, _ := v.(map[string]any)
		return m[step]
	}
	list, _ := v.([]any)
	if key, want, ok := strings.Cut(index, "="); ok {
		for _, item := range list {
			if m, _ := item.(map[string]any); m[key] == want {
				return item
			}
		}
		return nil
	}
	if i, err := strconv.Atoi(index); err == nil && i < len(list) {
		return list[i]
	}
	return nil
}

func documents(text string) ([]any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	docs := make([]any, 0)
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, v)
	}
}

// scriptMasked is "masked [FILE]": writes the JSON documents of the file, by
// default of standard output, to the file "masked" with a field a line and with
// names in place of what is different each time, for cmp.
func scriptMasked(ts *testscript.TestScript, neg bool, args []string) {
	file := "stdout"
	switch {
	case neg || len(args) > 1:
		ts.Fatalf("usage: masked [FILE]")
	case len(args) == 1:
		file = args[0]
	}
	var out bytes.Buffer
	for d := json.NewDecoder(strings.NewReader(ts.ReadFile(file))); ; {
		var document json.RawMessage
		if err := d.Decode(&document); err == io.EOF {
			break
		} else if err != nil {
			ts.Fatalf("%s: %v", file, err)
		}
		ts.Check(json.Indent(&out, document, "", "  "))
		out.WriteByte('\n')
	}
	text := strings.ReplaceAll(out.String(), ts.Getenv("WORK"), "WORK")
	for _, mask := range []struct{ pattern, name string }{
		{`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`, `"TIME"`},
		{`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`, "UUID"},
		{`("lease_id": )"[0-9a-f]{8}"`, `$1"LEASE"`},
		{`ws-[0-9a-f]{16}`, "ROOM"},
		{`\d\d:\d\d:\d\d`, "CLOCK"},
		{`for [0-9hms]+`, "for SPAN"},
		{`("host_id": )"[^"]*"`, `$1"HOST"`},
		{`("\w*(pid|waited_ms|duration_ms|_us)": )\d+`, `${1}N`},
	} {
		text = regexp.MustCompile(mask.pattern).ReplaceAllString(text, mask.name)
	}
	ts.Check(os.WriteFile(ts.MkAbs("masked"), []byte(text), 0o644))
}
