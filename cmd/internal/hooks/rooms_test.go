package hooks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
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

// Of several ids of a session that are members, the one counts that has the turn, or for which it is reserved.
func TestCallerHasTheTurn(t *testing.T) {
	id := func(s string) func() (identity.Agent, error) {
		return func() (identity.Agent, error) { return identity.Agent{ID: s}, nil }
	}
	r := &rooms{callers: []func() (identity.Agent, error){id("x:1"), id("a:1"), id("b:1")}}
	st := &turn.State{Members: []turn.Member{{AgentID: "a:1"}, {AgentID: "b:1"}, {AgentID: "c:1"}}}
	for _, c := range []struct{ owner, reserved, want string }{{"", "", "a:1"}, {"c:1", "", "a:1"}, {"b:1", "", "b:1"}, {"", "b:1", "b:1"}} {
		if st.Owner, st.ReservedFor = c.owner, c.reserved; r.caller(st).ID != c.want {
			t.Errorf("%+v: %s", c, r.caller(st).ID)
		}
	}
}
