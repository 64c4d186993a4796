package instructions

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/rewrite"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func layers(t *testing.T) Layers {
	return Layers{DataDir: filepath.Join(t.TempDir(), "data"), WorkspaceRoot: t.TempDir()}
}

func TestExtract(t *testing.T) {
	const text = "For all.\n\n## House rules\nstill for all\n## Claude Code\nc1\n```\n## Codex\n```\n### detail\n## codex ##\nx1\n## Other\ndropped\n## Claude\nc2\n"
	tests := []struct {
		h    string
		want string
	}{
		{All, text},
		{"claude", "For all.\n\n## House rules\nstill for all\n## Claude Code\nc1\n```\n## Codex\n```\n### detail\n## Claude\nc2\n"},
		{"codex", "For all.\n\n## House rules\nstill for all\n## codex ##\nx1\n"},
		{"gemini", "For all.\n\n## House rules\nstill for all\n"},
	}
	for _, tt := range tests {
		if got := extract(text, tt.h); got != tt.want {
			t.Errorf("%s: got %q want %q", tt.h, got, tt.want)
		}
	}
}

func TestShowConcatenatesLayers(t *testing.T) {
	l := layers(t)
	paths := l.Paths()
	write(t, paths.User, "\nmy rule\n## Codex\nfor codex\n\n")
	write(t, paths.Project, "project rule\n")
	doc, err := l.Show(Effective, "claude")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.Text, "# Working together") || !strings.HasSuffix(doc.Text, "\n\nmy rule\n\nproject rule\n") {
		t.Errorf("%q", doc.Text)
	}
	if strings.Contains(doc.Text, "for codex") || strings.Contains(doc.Text, "writable roots") {
		t.Error("another harness's section is shown")
	}
	if len(doc.Sources) != 3 || doc.Sources[0] != (Source{Scope: Bundled}) || doc.Sources[2] != (Source{Project, paths.Project}) {
		t.Errorf("sources %+v", doc.Sources)
	}
	for scope, want := range map[Scope]string{User: "my rule\n## Codex\nfor codex\n", Project: "project rule\n"} {
		if doc, err := l.Show(scope, All); err != nil || doc.Text != want || len(doc.Sources) != 1 {
			t.Errorf("%s: %q, %v", scope, doc.Text, err)
		}
	}
}

func TestShowWithoutFiles(t *testing.T) {
	l := layers(t)
	doc, err := l.Show(User, All)
	if err != nil || doc.Text != "" {
		t.Errorf("%q, %v", doc.Text, err)
	}
	data, err := json.Marshal(doc)
	if err != nil || !strings.Contains(string(data), `"sources":[]`) {
		t.Errorf("%s", data)
	}
	l.WorkspaceRoot = ""
	if doc, err := l.Show(Effective, All); err != nil || len(doc.Sources) != 1 || doc.Text != bundled {
		t.Errorf("%+v, %v", doc.Sources, err)
	}
}

func TestEveryHarnessIsToldHowToWait(t *testing.T) {
	for _, name := range harness.Agents() {
		if own := extract(bundled, name); !strings.Contains(own, "Wait in the foreground") {
			t.Errorf("nothing for %s", name)
		}
	}
	if extract(bundled, "codex") == extract(bundled, "gemini") {
		t.Error("Codex has no section of its own")
	}
}

func TestShowRefusesLargeLayers(t *testing.T) {
	l := layers(t)
	write(t, l.Paths().User, strings.Repeat("x", MaxBytes))
	if _, err := l.Show(Effective, All); err != nil {
		t.Errorf("the limit itself: %v", err)
	}
	write(t, l.Paths().User, strings.Repeat("x", MaxBytes+1))
	_, err := l.Show(Effective, All)
	var e *code.Error
	if !errors.As(err, &e) || e.Code != code.BodyTooLarge || e.Details["supplied"] != int64(MaxBytes+1) {
		t.Errorf("%v", err)
	}
}

func TestEditAndReset(t *testing.T) {
	l := layers(t)
	now := func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }
	w := &rewrite.Writer{Backups: t.TempDir(), Now: now}
	for _, scope := range []Scope{User, Project} {
		path, created, err := l.EditTarget(scope)
		if err != nil || !created {
			t.Fatalf("%s: %v %v", scope, created, err)
		}
		write(t, path, "kept")
		if again, created, err := l.EditTarget(scope); again != path || created || err != nil {
			t.Errorf("%s, a second time: %v %v", scope, created, err)
		}
		_, backup, err := l.Reset(scope, w)
		if err != nil || backup == "" {
			t.Fatalf("%s: %q %v", scope, backup, err)
		}
		if data, err := os.ReadFile(backup); err != nil || string(data) != "kept" {
			t.Errorf("backup %q, %v", data, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there", path)
		}
		if _, backup, err := l.Reset(scope, w); backup != "" || err != nil {
			t.Errorf("%s, a second time: %q %v", scope, backup, err)
		}
	}
	for _, scope := range []Scope{Bundled, Effective} {
		if _, _, err := l.EditTarget(scope); code.Of(err) != code.Usage {
			t.Errorf("%s can be edited: %v", scope, err)
		}
	}
	l.WorkspaceRoot = ""
	if _, _, err := l.Reset(Project, w); code.Of(err) != code.Usage {
		t.Errorf("no project: %v", err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"": All, "all": All, "claude-code": "claude", "agy": "antigravity", "grok-build": "grok", "OpenCode": "opencode"} {
		if got, err := ParseReader(name); err != nil || got != want {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	if _, err := ParseReader("vim"); code.Of(err) != code.Usage {
		t.Errorf("%v", err)
	}
	for id, want := range map[string]string{"claude:1f2e": "claude", "human:ann": All, "codex": "codex"} {
		if got := ReaderOf(id); got != want {
			t.Errorf("%q: %q", id, got)
		}
	}
	for name, want := range map[string]Scope{"": Effective, "base": Bundled, "project": Project} {
		if got, err := ParseScope(name); err != nil || got != want {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	if _, err := ParseScope("global"); code.Of(err) != code.Usage {
		t.Errorf("%v", err)
	}
}

func TestOpener(t *testing.T) {
	tests := []struct {
		name, goos string
		env        map[string]string
		xdg        bool
		want       string
	}{
		{"mac", "darwin", nil, false, "open -t /f"},
		{"a desktop", "linux", map[string]string{"WAYLAND_DISPLAY": "w"}, true, "xdg-open /f"},
		{"a desktop without the tool", "linux", map[string]string{"DISPLAY": ":0"}, false, ""},
		{"a server", "linux", nil, true, ""},
	}
	for _, tt := range tests {
		lookPath := func(string) (string, error) {
			if tt.xdg {
				return "/x", nil
			}
			return "", os.ErrNotExist
		}
		if got := strings.Join(Opener(tt.goos, "/f", func(n string) string { return tt.env[n] }, lookPath), " "); got != tt.want {
			t.Errorf("%s: %q want %q", tt.name, got, tt.want)
		}
	}
}
