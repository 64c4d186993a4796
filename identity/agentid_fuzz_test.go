package identity_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity"
)

var safeDir = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?-[0-9a-f]{12}$`)

// FuzzAgentID: a given id is taken as it is, is fit for a terminal and a line of
// JSON, or is refused in words that are; a user's name always gives an id. What
// is made of an id for a file name stays in the agents' directory, whether the
// id is a good one or not.
func FuzzAgentID(f *testing.F) {
	for _, id := range []string{
		"claude:1f2e3d4c", "human:jörg", "room", "Room", ":", "a:", ":b", " a", "a ", "..", "../../etc/passwd", `..\x`, "~", "-", "--json", "con", "*", "$(x)",
		"a\x00b", "\x1b[2J", "a\r\nb", "\xff\xfe", "a\u202eb", "\ufeffa", "\u200d", "a\u0308", "🙂", "\ufdd0", "\ufffd", "\U0010ffff", "\u3000",
		strings.Repeat("a", 128), strings.Repeat("日", 128), strings.Repeat("日", 129), strings.Repeat("9", 5000),
	} {
		f.Add(id)
	}
	table, agents := shell(), filepath.Join("data", "rooms", "demo", "agents")
	store, err := fsroom.Open("data", fsroom.Options{})
	if err != nil {
		f.Fatal(err)
	}
	room := fsroom.At(store, &fsroom.Rules[struct{}]{Folder: "rooms"}, "demo")
	f.Fuzz(func(t *testing.T, id string) {
		file := room.Agent(id).Path("seen")
		if dir := filepath.Dir(file); filepath.Dir(dir) != agents || !safeDir.MatchString(filepath.Base(dir)) {
			t.Fatalf("%q: %s", id, file)
		}
		if id == "" {
			return
		}
		if a, err := identity.Resolve(env(), table, id); err == nil {
			checkTaken(t, id, a)
		} else {
			checkRefused(t, id, err)
		}
		named := env()
		named.User = id
		if a := resolve(t, named, table); !strings.HasPrefix(a.ID, "human:") {
			t.Fatalf("the user %q is %q", id, a.ID)
		}
	})
}

func checkTaken(t *testing.T, id string, a identity.Agent) {
	t.Helper()
	b, err := json.Marshal(id)
	var read string
	if err != nil || json.Unmarshal(b, &read) != nil || read != id {
		t.Fatalf("%q is %s in JSON", id, b)
	}
	if n := utf8.RuneCountInString(id); a.ID != id || identity.ValidateAgentID(id) != nil || n > 128 || a.DisplayName == "" {
		t.Fatalf("%q is taken as %+v", id, a)
	}
	if strings.ContainsFunc(id, unprintable) || strings.ContainsAny(id, `/\`+" ") || !utf8.ValidString(id) {
		t.Fatalf("%q was taken", id)
	}
}

func checkRefused(t *testing.T, id string, err error) {
	t.Helper()
	var e *code.Error
	if !errors.As(err, &e) || e.Code != code.InvalidAgentID || e.Hint == "" || len(err.Error()) > 2000 {
		t.Fatalf("%q: %v", id, err)
	}
	if strings.ContainsFunc(e.Message, unprintable) || strings.ContainsFunc(e.Hint, unprintable) {
		t.Fatalf("%q reaches the terminal: %q", id, err)
	}
	if identity.ValidateAgentID(id) == nil {
		t.Fatalf("%q is refused and valid: %v", id, err)
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
