package hooks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// A guard asks for each path of a command, and again for its text.
func TestDirectoryIsLookedAtOnce(t *testing.T) {
	dir := t.TempDir()
	store, err := fsroom.Open(filepath.Join(dir, "data"), fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	looks := 0
	r := &rooms{client: &member.Client{Store: store}, sticks: map[string]*guard.Stick{}, known: map[string]*guard.Stick{}, locate: func(path string) (*workspace.Workspace, error) {
		looks++
		return workspace.Locate(path, dir, dir)
	}}
	for _, path := range []string{dir, file, filepath.Join(dir, "missing", "file"), dir} {
		if stick, err := r.Stick(t.Context(), path, payload.Call{}); stick != nil || err != nil {
			t.Errorf("%s: %v, %v", path, stick, err)
		}
	}
	if looks != 1 {
		t.Errorf("looked %d times", looks)
	}
}
