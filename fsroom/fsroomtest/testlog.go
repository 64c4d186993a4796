package fsroomtest

import (
	"flag"
	"os"
	"slices"
	"strings"
)

// Main runs the tests of a package and returns the exit status, for a TestMain. Then it shortens
// the list of files that "go test" has the tests write, to know when a result that it keeps is out
// of date. Of that list only files of the module count, but for each line "go test" resolves
// symbolic links to find that out. Tests that open rooms write hundreds of thousands of lines,
// nearly all for temporary files, which took it longer than the tests.
func Main(m interface{ Run() int }) int {
	status := m.Run()
	if f := flag.Lookup("test.testlogfile"); f != nil && f.Value.String() != "" {
		if log, err := os.ReadFile(f.Value.String()); err == nil {
			_ = os.WriteFile(f.Value.String(), inputs(log, os.TempDir(), "/dev", "/proc"), 0o600)
		}
	}
	return status
}

// inputs returns the lines of a log, each once in a directory, but for those of files below some directories.
func inputs(log []byte, but ...string) (out []byte) {
	seen := map[string]bool{}
	for line := range strings.Lines(string(log)) {
		op, name, _ := strings.Cut(line, " ")
		if op == "chdir" {
			clear(seen)
		} else if seen[line] || slices.ContainsFunc(but, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
			continue
		}
		seen[line] = true
		out = append(out, line...)
	}
	return out
}
