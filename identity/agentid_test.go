package identity

import (
	"errors"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
)

func TestValidateAgentID(t *testing.T) {
	long := strings.Repeat("é", 128)
	for _, id := range []string{"a", "human:alex", "claude:1f2e3d4c", "ünï-çødé", "日本", "Room", "selfish", "a@b.c#d", "🙂", long} {
		if err := ValidateAgentID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{
		"", "room", "self", "any", "next", long + "x", strings.Repeat("a", 129),
		" ", "a b", "a\tb", "a\u00a0b", "a\u3000b", "a\u2028b", "a/b", `a\b`, "/", "..\\x",
		"a\x00b", "a\x1b[31m", "a\u202eb", "a\u200bb", "a\ufeffb", "a\u200db", "a\xffb", "a\nb", "a\x7f",
	} {
		err := ValidateAgentID(id)
		var e *code.Error
		if !errors.As(err, &e) || e.Code != code.InvalidAgentID {
			t.Errorf("%q: %v, want invalid_agent_id", id, err)
			continue
		}
		if e.Hint == "" || e.Details["agent_id"] == nil {
			t.Errorf("%q: no hint or no detail: %#v", id, e)
		}
		if strings.ContainsAny(e.Message, "\x00\x1b\n\u202e") {
			t.Errorf("the message shows %q raw: %q", id, e.Message)
		}
	}
}

func TestEndlessAgentIDIsShortened(t *testing.T) {
	err := ValidateAgentID(strings.Repeat("日", 1<<20))
	if n := len(err.Error()); n > 1000 {
		t.Errorf("the message has %d bytes", n)
	}
}

func TestSanitise(t *testing.T) {
	for name, want := range map[string]string{
		"alex": "alex", "Alex Müller": "alex-m-ller", "--a..b__": "a-b", "日本": "anon", "": "anon", "u1": "u1", "ROOT": "root",
		strings.Repeat("x", 121) + "-yz": strings.Repeat("x", 121), strings.Repeat("ab", 100): strings.Repeat("ab", 61),
	} {
		if got := userSlug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The id of a person has the host in it where hosts share rooms, and is never too long.
func TestHumanID(t *testing.T) {
	if got := humanID("alex"); got != "human:alex" {
		t.Errorf("on one host: %q", got)
	}
	host := processHost
	t.Cleanup(func() { processHost, hostSuffix = host, "" })
	UseHost("box:data-1")
	one := humanID("alex")
	UseHost("box:data-2")
	if two := humanID("alex"); one == two || !strings.HasPrefix(one, "human:alex@") || ValidateAgentID(one) != nil {
		t.Errorf("on two hosts: %q and %q", one, two)
	}
	if long := humanID(strings.Repeat("x", 122)); ValidateAgentID(long) != nil || !strings.HasSuffix(long, hostSuffix) {
		t.Errorf("of a long name: %q", long)
	}
}
