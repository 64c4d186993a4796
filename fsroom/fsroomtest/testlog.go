package fsroomtest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
)

// Main runs the tests of a package and returns the exit status, for a TestMain. Then it shortens
// the list of files that "go test" has the tests write, to know when a result that it keeps is out
// of date. Of that list only files of the module count, but for each line "go test" resolves
// symbolic links to find that out. Tests that open rooms write hundreds of thousands of lines,
// nearly all for temporary files, which took it longer than the tests.
func Main(m interface{ Run() int }) int {
	dir, _ := os.Getwd()
	status := m.Run()
	if f := flag.Lookup("test.testlogfile"); f != nil && f.Value.String() != "" {
		if log, err := os.ReadFile(f.Value.String()); err == nil {
			_ = os.WriteFile(f.Value.String(), inputs(log, dir, moduleRoot(dir)), 0o600)
		}
	}
	return status
}

// moduleRoot returns the directory with go.mod that dir is in, or the root directory.
func moduleRoot(dir string) string {
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if up := filepath.Dir(dir); err == nil || up == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// inputs returns the lines of a log that "go test" considers, each once: variables, changes of
// the directory, and files below root. The tests began in dir.
func inputs(log []byte, dir, root string) []byte {
	root = strings.TrimSuffix(root, string(filepath.Separator))
	var out []byte
	seen := make(map[string]bool)
	for line := range bytes.Lines(log) {
		op, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		switch op {
		case "chdir":
			dir = name
		case "open", "stat":
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			if name = filepath.Clean(name); name != root && !strings.HasPrefix(name, root+string(filepath.Separator)) {
				continue
			}
		}
		if key := op + " " + name; op == "chdir" || !seen[key] {
			seen[key] = true
			out = append(out, line...)
		}
	}
	return out
}
