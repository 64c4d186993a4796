package shell

import (
	"os"
	"strings"
	"testing"
)

// classify runs Classify as if in the workspace /w.
func classify(command string) (res Result, writes bool) {
	res = Classify(command, testEnv())
	for _, e := range res.Effects {
		if within("/w", e.Path) && !ignored(e) || e.Below && within(e.Path, "/w") {
			writes = true
		}
	}
	return res, writes
}

func testEnv() Env {
	return Env{Dir: "/w", Home: "/home/u", Top: func(dir string) string {
		if within("/w", dir) {
			return "/w"
		}
		if within("/opt/homebrew", dir) {
			return "/opt/homebrew"
		}
		return ""
	}}
}

func within(root, path string) bool {
	return path == root || root == "/" || strings.HasPrefix(path, root+"/")
}

// ignored stands for git's list.
func ignored(e Effect) bool {
	if e.Git {
		return false
	}
	for _, part := range strings.Split(e.Path, "/") {
		switch part {
		case "node_modules", "dist", "build", "target", ".venv", "__pycache__", "bin", "coverage", "tmp", ".next", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".env", "out.bin", ".turbo":
			return true
		}
		for _, suffix := range []string{".pyc", ".o", ".log", ".tmp", ".swp", ".egg-info", ".out"} {
			if strings.HasSuffix(part, suffix) {
				return true
			}
		}
	}
	return false
}

// TestMemoryIsNoDevice: a workspace in /dev/shm is one like others.
func TestMemoryIsNoDevice(t *testing.T) {
	env := Env{Dir: "/dev/shm/w", Top: func(dir string) string { return "/dev/shm/w" }}
	for command, want := range map[string]int{"rm a": 1, "git stash": 1, "rm /dev/shm/w/a": 1, "ls >/dev/null": 0, "ls >/dev/shm/w/a": 1} {
		if got := Classify(command, env).Effects; len(got) != want {
			t.Errorf("%s: %+v, want %d", command, got, want)
		}
	}
}

// TestCorpus has one command in each line, and before it whether it is free to others than
// the holder, writes, or may write, which is not known.
func TestCorpus(t *testing.T) {
	for _, file := range []string{"testdata/corpus.tsv", "testdata/more.tsv"} {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSuffix(line, "\n")
			label, command, ok := strings.Cut(line, "\t")
			if !ok || strings.HasPrefix(line, "#") {
				continue
			}
			command = unescaped(command)
			res, writes := classify(command)
			switch {
			case label == "free" && writes, label == "may" && writes:
				t.Errorf("%s refused: %q: %+v", label, command, res)
			case label == "write" && !writes:
				t.Errorf("write missed: %q: %+v", command, res)
			}
		}
	}
}

// unescaped replaces \n, but not the escape of a backslash.
func unescaped(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }
