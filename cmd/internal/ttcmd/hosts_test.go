package ttcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/session"
)

// TestWorkspaceIsLocatedOnce: a command that opens a store and then a room looks for its
// workspace, and for the engine that the workspace names, only once.
func TestWorkspaceIsLocatedOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &cli.Invocation{Cmd: stateCommand, Env: &cli.Env{Dir: dir, Home: dir, Lookup: func(string) string { return "" }}}
	first := session.Of(c, "")
	if first.Workspace == nil || first.Engine != nil {
		t.Fatalf("%+v", first)
	}
	if engine, err := engineOf(c); engine != nil || err != nil || c.Kept != first {
		t.Errorf("opening the store located it again: %v, %v", engine, err)
	}
	for _, path := range []string{"", dir} {
		if w, err := locatePath(c, path); w != first.Workspace || err != nil {
			t.Errorf("opening the room at %q located it again: %v, %v", path, w, err)
		}
	}
	if w, err := locatePath(c, filepath.Join(dir, ".git")); w == first.Workspace || err != nil {
		t.Errorf("another path has the same workspace: %v, %v", w, err)
	}
}
