package skills

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/identity/harness"
)

// A home is a scratch home directory and what the machine around it has.
type home struct {
	Environment
	t        testing.TB
	programs map[string]bool
	vars     map[string]string
}

func newHome(t testing.TB) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, programs: map[string]bool{"tt": true}, vars: map[string]string{}}
	h.Environment = Environment{
		Home:    filepath.Join(dir, "home"),
		DataDir: filepath.Join(dir, "data"),
		Version: "1.0.0",
		Getenv:  func(name string) string { return h.vars[name] },
		LookPath: func(name string) (string, error) {
			if h.programs[name] {
				return "/bin/" + name, nil
			}
			return "", fs.ErrNotExist
		},
		Now: func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) },
	}
	h.mkdir("")
	return h
}

func (h *home) path(below string) string {
	return filepath.Join(h.Home, filepath.FromSlash(below))
}

func (h *home) mkdir(below string) {
	h.t.Helper()
	if err := os.MkdirAll(h.path(below), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) write(below, content string) {
	h.t.Helper()
	h.mkdir(filepath.Dir(below))
	if err := os.WriteFile(h.path(below), []byte(content), 0o640); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) read(below string) string {
	h.t.Helper()
	data, err := os.ReadFile(h.path(below))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

func (h *home) exists(below string) bool {
	_, err := os.Lstat(h.path(below))
	return !errors.Is(err, fs.ErrNotExist)
}

// everything returns all there is below the home directory, with contents.
func (h *home) everything() string {
	h.t.Helper()
	var lines []string
	err := filepath.WalkDir(h.Home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(path, h.Home) + " " + info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			line += " -> " + target
		case !info.IsDir():
			data, _ := os.ReadFile(path)
			line += "\n" + string(data)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// install installs into ids and returns the results; statuses, if any are given,
// are what they must be.
func (h *home) install(opts Options, want ...Status) []Result {
	h.t.Helper()
	results, err := h.Install(context.Background(), opts)
	return h.check(results, err, want)
}

func (h *home) uninstall(opts Options, want ...Status) []Result {
	h.t.Helper()
	results, err := h.Uninstall(context.Background(), opts)
	return h.check(results, err, want)
}

func (h *home) check(results []Result, err error, want []Status) []Result {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
	for i, status := range want {
		if results[i].Status != status {
			h.t.Errorf("%s: %s (%s), want %s", results[i].Harness, results[i].Status, results[i].Message, status)
		}
	}
	return results
}

func only(ids ...harness.ID) Options { return Options{Harnesses: ids} }
