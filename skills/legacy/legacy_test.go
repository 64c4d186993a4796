package legacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/rewrite"
)

// A bench is a Cleaner with commands that only pretend.
type bench struct {
	Cleaner
	mu     sync.Mutex // harnesses are asked side by side
	ran    []string
	output string
	err    error
}

func newBench(t *testing.T) *bench {
	b := &bench{}
	now := func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.FixedZone("", 3600)) }
	b.Cleaner = Cleaner{
		OpenCodeDir: t.TempDir(),
		Version:     "1.2.3",
		LookPath:    func(name string) (string, error) { return "/bin/" + name, nil },
		Run: func(_ context.Context, name string, args ...string) ([]byte, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ran = append(b.ran, name+" "+strings.Join(args, " "))
			slices.Sort(b.ran)
			return []byte(b.output), b.err
		},
		Now:    now,
		Writer: &rewrite.Writer{Backups: t.TempDir(), Now: now},
	}
	return b
}

func TestNativeCommands(t *testing.T) {
	b := newBench(t)
	b.output = "WARNING: something else\nRemoved MCP server talking-stick\nfrom somewhere"
	entries := b.Clean(context.Background(), "install", harness.IDs()...)
	want := []string{"claude mcp remove -s user talking-stick", "codex mcp remove talking-stick", "gemini mcp remove -s user talking-stick"}
	if strings.Join(b.ran, "\n") != strings.Join(want, "\n") {
		t.Errorf("ran %q", b.ran)
	}
	if len(entries) != 4 || entries[3].Harness != harness.OpenCode || entries[3].Status != Absent {
		t.Fatalf("%+v", entries)
	}
	e := entries[0]
	if e.Status != Removed || e.Message != "Removed MCP server talking-stick" || e.At != "2026-11-20T11:00:00.005Z" || e.Reason != "install" || e.Version != "1.2.3" {
		t.Errorf("%+v", e)
	}
}

func TestWhatTheCommandsSay(t *testing.T) {
	tests := []struct {
		name, output string
		err          error
		missing      bool
		want         string
	}{
		{"gone", "", nil, false, Removed},
		{"claude has none", "No user-scoped MCP server found with name: talking-stick", errors.New("exit status 1"), false, Absent},
		{"codex has none", "No MCP server named 'talking-stick' found.", nil, false, Absent},
		{"gemini has none", `Server "talking-stick" not found in user settings.`, nil, false, Absent},
		{"broken", "cannot read settings", errors.New("exit status 1"), false, Failed},
		{"not installed", "", nil, true, Skipped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.output, b.err = tt.output, tt.err
			if tt.missing {
				b.LookPath = func(string) (string, error) { return "", os.ErrNotExist }
			}
			e := b.Clean(context.Background(), "manual", harness.Codex)[0]
			if e.Status != tt.want || tt.missing != (len(b.ran) == 0) {
				t.Errorf("%+v, ran %v", e, b.ran)
			}
		})
	}
}

const openCodeFile = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcp\": {\n    \"other\": {\"type\": \"local\", \"command\": [\"x\"]},\n    \"talking-stick\": %s, // old\n  },\n}\n"

func TestOpenCode(t *testing.T) {
	canonicalText := "{\n      \"enabled\": true,\n      \"type\": \"local\",\n      \"command\": [\"tt\", \"mcp\"]\n    }"
	tests := []struct {
		name, entry, status string
	}{
		{"canonical", canonicalText, Removed},
		{"with an environment", `{"type": "local", "command": ["tt", "mcp"], "enabled": true, "environment": {}}`, Skipped},
		{"switched off", `{"type": "local", "command": ["tt", "mcp"], "enabled": false}`, Skipped},
		{"another command", `{"type": "local", "command": ["/opt/tt", "mcp"], "enabled": true}`, Skipped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			path := filepath.Join(b.OpenCodeDir, "opencode.json")
			before := strings.Replace(openCodeFile, "%s", tt.entry, 1)
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			e := b.Clean(context.Background(), "update", harness.OpenCode)[0]
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := before
			if tt.status == Removed {
				want = strings.Replace(before, "\n    \"talking-stick\": "+tt.entry+",", "", 1)
			}
			if e.Status != tt.status || string(got) != want {
				t.Errorf("%+v\n%s", e, got)
			}
		})
	}
}

func TestOpenCodeFileThatIsNotJSON(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(b.OpenCodeDir, "opencode.jsonc")
	if err := os.WriteFile(path, []byte(`{"mcp": {"talking-stick": `), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := b.Clean(context.Background(), "manual", harness.OpenCode)[0]; e.Status != Failed || !strings.Contains(e.Message, path) {
		t.Errorf("%+v", e)
	}
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", LogName)
	b := newBench(t)
	for range 2 {
		if err := Log(path, b.Clean(context.Background(), "manual", harness.Codex, harness.Grok)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Log(path, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), data)
	}
	for _, line := range lines {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil || e.Harness != harness.Codex || e.Status != Removed {
			t.Errorf("%s: %v", line, err)
		}
	}
}
