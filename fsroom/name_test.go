package fsroom_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/fsroom"
)

// TestRoomNamesStay: a path has one room for ever, so these never change.
func TestRoomNamesStay(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"/home/u/src/talking-stick": "talking-stick-31b7dbae332ac053",
		"/":                         "room-8a5edab282632443",
	}
	for path, want := range tests {
		if got := fsroom.RoomName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

var safeName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?-[0-9a-f]{16}$`)

// TestRoomNamesAreSafeAndDistinct for names that file systems treat as one.
func TestRoomNamesAreSafeAndDistinct(t *testing.T) {
	t.Parallel()
	paths := []string{
		"/", "/a", "/A", "/a/", "/a/a", "/ä", "/a\u0308", "/日本", "/日 本", "/a b", "/a-b", "/a_b", "/a--b", "/-a", "/a-", "/--",
		"/.", "/..", "/.a", "/con", "/CON", "/nul.txt", "/\x00", "/\xff", "/\xfe", "/a\nb", "/K", "/\u212a", "/ß", "/ss", "/✓", "/✗",
		"/" + strings.Repeat("x", 255), "/" + strings.Repeat("x", 254), "/" + strings.Repeat("ü", 127),
		"/" + strings.Repeat("y", 39) + " z", "/" + strings.Repeat("y", 40) + "z", "/x/" + strings.Repeat("y/", 2000),
	}
	seen := map[string]string{}
	for _, path := range paths {
		name := fsroom.RoomName(path)
		if !safeName.MatchString(name) {
			t.Errorf("%.60q: %q", path, name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%.60q and %.60q are both %s", path, other, name)
		}
		seen[name] = path
	}
}

func TestAnyRoomNameIsSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.String().Draw(t, "path")
		name := fsroom.RoomName(path)
		if !safeName.MatchString(name) || name != fsroom.RoomName(path) {
			t.Fatalf("%q: %q", path, name)
		}
	})
}

// TestAgentsNeverShareADirectory, also on a file system that ignores case.
func TestAgentsNeverShareADirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ids := []string{"claude:1f2e3d4c", "Claude:1f2e3d4c", "claude-1f2e3d4c", "human:jörg", "human:jo\u0308rg", "..", ".", "a", "A", "~", strings.Repeat("a", 128), strings.Repeat("a", 127)}
	seen := map[string]string{}
	for _, id := range ids {
		dir := filepath.Dir(f.room.Agent(id).Path("x"))
		if filepath.Dir(dir) != filepath.Join(f.room.Dir(), "agents") {
			t.Errorf("%s: outside, in %s", id, dir)
		}
		key := strings.ToLower(filepath.Base(dir))
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s are both %s", id, other, key)
		}
		seen[key] = id
	}
}
