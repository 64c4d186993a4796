package update

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
)

func place(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAdvise(t *testing.T) {
	home := realTemp(t)
	elsewhere := filepath.Join(realTemp(t), "it's here")
	tests := []struct {
		name     string
		path     string
		build    Build
		env      map[string]string
		goos     string
		method   Method
		shell    string
		runnable bool
	}{
		{"go install", place(t, home, "go", "bin", "tt"), Build{Version: "(devel)"}, nil, "linux", GoInstall, "go install github.com/talking-stick/tt/cmd/tt@latest", true},
		{"GOBIN", place(t, home, "gobin", "tt"), Build{}, map[string]string{"GOBIN": filepath.Join(home, "gobin")}, "linux", GoInstall, "go install github.com/talking-stick/tt/cmd/tt@latest", true},
		{"GOPATH", place(t, home, "gopath", "bin", "tt"), Build{}, map[string]string{"GOPATH": filepath.Join(home, "gopath") + string(filepath.ListSeparator) + "/x"}, "linux", GoInstall, "go install github.com/talking-stick/tt/cmd/tt@latest", true},
		{"a release in a GOBIN of another day", place(t, elsewhere, "tt"), Build{Version: "v1.2.3"}, nil, "linux", GoInstall, "env 'GOBIN=" + strings.ReplaceAll(elsewhere, "'", `'\''`) + "' go install github.com/talking-stick/tt/cmd/tt@latest", true},
		{"make install", place(t, home, ".local", "bin", "tt"), Build{Installer: "make", Version: "v0.0.0-2026+dirty"}, nil, "linux", Make, "git pull && make install PREFIX=" + filepath.Join(home, ".local"), false},
		{"archive", place(t, home, "opt", "bin", "tt"), Build{Installer: "archive"}, nil, "linux", Archive, "tt_linux_arm64.tar.gz | tar -xzf - -C " + filepath.Join(home, "opt", "bin") + " --strip-components=2 --wildcards '*/bin/*'", false},
		{"archive on a mac", place(t, home, "opt", "bin", "tt"), Build{Installer: "archive"}, nil, "darwin", Archive, "--strip-components=2 '*/bin/*'", false},
		{"unknown", place(t, home, "somewhere", "tt"), Build{}, nil, "linux", Unknown, "curl -fsSL https://github.com/", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i := Installation{tt.path, home, tt.goos, "arm64", func(n string) string { return tt.env[n] }, tt.build}
			a, err := i.Advise()
			if err != nil {
				t.Fatal(err)
			}
			if a.Method != tt.method || !strings.Contains(a.Shell, tt.shell) || a.Runnable != tt.runnable || a.Executable != tt.path {
				t.Errorf("%+v", a)
			}
			if len(a.Command) == 0 {
				t.Error("nothing to run")
			}
		})
	}
}

func TestAdviseRefusesInACheckout(t *testing.T) {
	root := realTemp(t)
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("// ours\nmodule github.com/talking-stick/tt\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	built := place(t, root, "bin", "tt")
	link := filepath.Join(realTemp(t), "tt")
	if err := os.Symlink(built, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{built, link} {
		i := Installation{Executable: path, GOOS: "linux", Getenv: func(string) string { return "" }, Build: Build{Installer: "make"}}
		_, err := i.Advise()
		var e *code.Error
		if !errors.As(err, &e) || e.Code != code.Usage || !strings.Contains(e.Hint, "git -C "+root+" pull") {
			t.Errorf("%s: %v", path, err)
		}
	}
	// Somebody else's repository is none.
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.org/other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	i := Installation{Executable: built, GOOS: "linux", Getenv: func(string) string { return "" }}
	if a, err := i.Advise(); err != nil || a.Method != Unknown {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestAdviseWithoutABinary(t *testing.T) {
	i := Installation{Executable: filepath.Join(t.TempDir(), "gone"), Getenv: func(string) string { return "" }}
	if _, err := i.Advise(); code.Of(err) != code.Internal {
		t.Errorf("%v", err)
	}
}
